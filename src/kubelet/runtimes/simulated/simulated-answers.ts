/** What a simulated container says when it is asked: its log, what commands come to, where its ports lead. Put together of what its annotations and its command tell. */

import type { Duplex } from 'node:stream'
import { messageOf } from '../../../base/errors.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { type ContainerConfig, RuntimeError, type SimulatedAnswers } from '../runtime.ts'
import { readExecAnswers } from './exec-answers.ts'
import { type AddressRange, connectForward, readForwards } from './forwards.ts'
import { createServing, readServed } from './serving.ts'
import { runCommand } from './simulated-command.ts'
import { printsNextAt, type Told, toldLog } from './simulated-log.ts'
import type { Sandbox, SimulatedContainer } from './simulated-runtime.ts'
import { simulatedDelay, simulationOf } from './simulation-annotations.ts'
import { readBelow } from './simulation-directory.ts'
import { simulationProblems } from './simulation-problems.ts'
import { annotationText, textLog, textPrintsNextAt } from './text-log.ts'

/** What simulated containers may use of this machine, as its administrator says. */
export interface SimulationResources {
  /** The folder in which files lie that annotations name. */
  readonly directory?: string
  /** The addresses to which pods' ports may lead. */
  readonly forward?: readonly AddressRange[]
}

export interface AnswersOptions {
  readonly container: (id: string) => SimulatedContainer | undefined
  readonly sandbox: (id: string) => Sandbox | undefined
  readonly resources: SimulationResources
}

const KILLED = new Error('the container has ended')
const KILLED_CODE = 137

/** @throws RuntimeError for an annotation that cannot be read */
function forwardsOf(annotations: ContainerConfig['annotations']): ReturnType<typeof readForwards> {
  try {
    return readForwards(simulationOf(annotations, 'forward') ?? '')
  } catch (cause) {
    throw new RuntimeError(`annotation sim.skiff.dev/forward: ${messageOf(cause)}`)
  }
}

/** @throws RuntimeError for an annotation that cannot be read */
export async function execAnswers({ annotations, metadata }: Pick<ContainerConfig, 'annotations' | 'metadata'>) {
  const text = simulationOf(annotations, 'exec', metadata.name)
  if (text === undefined) return []
  try {
    return await readExecAnswers(text)
  } catch (cause) {
    throw new RuntimeError(`annotation sim.skiff.dev/exec: ${messageOf(cause)}`)
  }
}

/** The container that runs and serves the port, by its annotation or its image. @throws RuntimeError for an annotation that cannot be read */
function serverAt({ containers }: Sandbox, port: number): SimulatedContainer | undefined {
  for (const container of containers) {
    const { config, status } = container
    const text = simulationOf(config.annotations, 'serve', config.metadata.name)
    if (text === undefined || status.state !== 'running') continue
    try {
      if (readServed(text).has(port)) return container
    } catch (cause) {
      throw new RuntimeError(`annotation sim.skiff.dev/serve: ${messageOf(cause)}`)
    }
  }
  return undefined
}

/** A file is looked at again after this (of the machine's time: what writes it lives in that). */
const LOOK_AGAIN_MS = 500
/** A log that is followed is looked at no more often, however often its container prints. */
const LOOK_AT_MOST_MS = 100
const NOTHING: Told = { output: [] }

export function createAnswers(
  runtime: Runtime,
  { container: find, sandbox: sandboxOf, resources }: AnswersOptions,
): SimulatedAnswers {
  const { clock, machineClock } = runtime

  /** The text of its annotation, else of its file, else what its command prints. */
  const logOf = ({ config: { annotations, metadata } }: SimulatedContainer) => {
    const text = simulationOf(annotations, 'log', metadata.name)
    const file = text === undefined ? simulationOf(annotations, 'log-file', metadata.name) : undefined
    return { text, file, everyMs: simulatedDelay(annotations, 'log-every', metadata.name) }
  }

  const serving = createServing()

  /** What a connection leads to ends with the container or the pod whose it is. */
  const cutAtEnd = (ended: Set<() => void>, connection: Duplex) => {
    const cut = () => void connection.destroy()
    ended.add(cut)
    connection.once('close', () => ended.delete(cut))
    return connection
  }

  return {
    problems: (config) => simulationProblems(config, resources),

    async connect(id, port, signal) {
      const sandbox = sandboxOf(id)
      if (sandbox?.state !== 'ready') throw new RuntimeError('connection refused: the pod has ended')
      const target = forwardsOf(sandbox.config.annotations).get(port)
      const server = target === undefined ? serverAt(sandbox, port) : undefined
      if (server !== undefined) return cutAtEnd(server.ended, serving(sandbox.config.hostname))
      if (target === undefined)
        throw new RuntimeError(
          `connection refused: nothing listens on it, and annotation sim.skiff.dev/forward names no address for it, nor sim.skiff.dev/serve the port`,
        )
      const connection = await connectForward(target, resources.forward ?? [], machineClock, signal)
      // It may have ended meanwhile.
      if (sandbox.state !== 'ready') connection.destroy()
      sandbox.ended ??= new Set()
      return cutAtEnd(sandbox.ended, connection)
    },

    async exec(id, command, streams, signal) {
      const container = find(id)
      if (container?.status.state !== 'running') throw new RuntimeError('the container is not running')
      const { config, sandbox, ended } = container
      // What runs in a container ends with it.
      const killed = new AbortController()
      const kill = () => killed.abort(KILLED)
      ended.add(kill)
      try {
        const answers = await execAnswers(config)
        const { envs, workingDir } = config
        const place = { clock, answers, envs, workingDir, hostname: sandbox.config.hostname }
        return await runCommand(place, command, streams, AbortSignal.any([signal, killed.signal]))
      } catch (error) {
        if (error === KILLED) return KILLED_CODE
        throw error
      } finally {
        ended.delete(kill)
      }
    },

    async printed(id, query) {
      const container = find(id)
      if (container === undefined) return undefined
      const { text, file, everyMs } = logOf(container)
      if (text === undefined && file === undefined)
        return toldLog(container.plain ?? NOTHING, container.status, clock.now(), query)
      const read =
        file === undefined ? annotationText(text ?? '', query) : await readBelow(resources.directory, file, query.from)
      return textLog(read, everyMs, container.status, clock.now(), query)
    },

    async printsMore(id, signal) {
      const container = find(id)
      if (container === undefined) return
      const { status, ended } = container
      if (status.state === 'exited' || signal.aborted) return
      const ageMs = clock.now() - status.startedAt
      const { text, file, everyMs } = logOf(container)
      const next =
        text === undefined
          ? printsNextAt(file === undefined ? (container.plain ?? NOTHING) : NOTHING, ageMs)
          : textPrintsNextAt(text, everyMs, ageMs)
      const waitMs = next === undefined ? undefined : Math.max(LOOK_AT_MOST_MS, next - ageMs)
      await new Promise<void>((resolve) => {
        const done = () => {
          printing?.cancel()
          looking?.cancel()
          ended.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        const printing = waitMs === undefined ? undefined : clock.setTimer(waitMs, 'container prints', done)
        const looking = file === undefined ? undefined : machineClock.setTimer(LOOK_AGAIN_MS, 'log follow', done)
        ended.add(done)
        signal.addEventListener('abort', done, { once: true })
      })
    },
  }
}
