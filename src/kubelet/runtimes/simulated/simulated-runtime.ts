/**
 * The simulated runtime: containers that start, run, end and are killed as their pods' annotations ask, in memory. Nothing
 * is executed; delays are 0 unless asked for. All its time is the Runtime's, so a fake clock moves it.
 */

import { createHash } from 'node:crypto'
import { sleep, type Timer } from '../../../base/clock.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { turn } from '../../../base/scheduler.ts'
import { setBounded } from '../../../base/set-bounded.ts'
import type { PodAddresses } from '../../pod-addresses.ts'
import { fullImageName, imageHost } from '../image-names.ts'
import {
  type ContainerConfig,
  type ContainerEvent,
  type ContainerRuntime,
  type ListFilter,
  POD_UID_LABEL,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type ProbeAction,
  type RuntimeContainerStatus,
  RuntimeError,
} from '../runtime.ts'
import { type PlainCommand, plainCommand } from './container-command.ts'
import type { AdoptedPod, ContainerManner } from './manner.ts'
import { createAnswers, execAnswers, type SimulationResources } from './simulated-answers.ts'
import { foreseen } from './simulated-command.ts'
import {
  annotatedMs,
  simulatedDelay,
  simulatedFlag,
  simulatedNumber,
  simulatedOutcome,
  simulationOf,
  withImage,
} from './simulation-annotations.ts'

export const SIMULATED_VERSION = { runtimeName: 'simulated', runtimeVersion: '1.0.0' } as const

/** Timers reach no further. */
const LONGEST_MS = 2 ** 31 - 1
const KILLED = 137
const NOT_STARTED = 128
/** Stands for the container whose image it is, which may be any; no container can have this name. */
const ANY = '*'

export interface Sandbox {
  readonly id: string
  readonly config: PodSandboxConfig
  state: 'ready' | 'notReady'
  readonly createdAt: number
  ips: readonly string[]
  /** A new list with each change: there are as many as pods, and most have one, for which a Set has room for four. */
  containers: readonly SimulatedContainer[]
  /** Called when it is stopped. Most have none. */
  ended?: Set<() => void>
}

export interface SimulatedContainer {
  readonly sandbox: Sandbox
  readonly config: ContainerConfig
  /** What its command says; annotations say it better. */
  readonly plain: PlainCommand | undefined
  status: RuntimeContainerStatus
  exit?: Timer
  /** Of a container that was asked to stop: when it is killed. */
  killAt?: number
  kill?: Timer
  /** Called when it ends, or is forgotten. */
  readonly ended: Set<() => void>
}

/** What a runtime may begin with. */
export interface SimulatedOptions {
  readonly manner?: ContainerManner
  /** What its containers may use of this machine. Default: nothing. */
  readonly resources?: SimulationResources
  /** What it says it is. Default: what it is. */
  readonly version?: { readonly runtimeName: string; readonly runtimeVersion: string }
}

export interface SimulatedContainerRuntime extends ContainerRuntime {
  /** Takes over a pod whose containers were made before, if it has none of it yet. They go on from when they were started. */
  adopt(pod: AdoptedPod): void
}

export function createSimulatedRuntime(
  runtime: Runtime,
  addresses: PodAddresses,
  { manner, resources = {}, version = SIMULATED_VERSION }: SimulatedOptions = {},
): SimulatedContainerRuntime {
  const { clock, scheduler } = runtime
  const sandboxes = new Map<string, Sandbox>()
  const containers = new Map<string, SimulatedContainer>()
  const byPod = new Map<string, readonly Sandbox[]>()
  /** Each until its signal is aborted, which is one for thousands of nodes: to listen to it takes as long as it has listeners. */
  const listeners = new Map<(event: ContainerEvent) => void, AbortSignal>()

  const newId = () => Buffer.from(runtime.random.bytes(32)).toString('hex')
  const tell = (type: ContainerEvent['type'], podUid: string, containerId: string) => {
    for (const [listener, signal] of listeners)
      if (signal.aborted) listeners.delete(listener)
      else listener({ type, podUid, containerId })
  }
  const change = (container: SimulatedContainer, status: Partial<RuntimeContainerStatus>) => {
    container.status = { ...container.status, ...status }
  }
  const uidOf = (container: SimulatedContainer) => container.sandbox.config.metadata.uid
  const wait = async (ms: number, signal?: AbortSignal) => {
    if (ms > 0) await sleep(clock, ms, signal)
  }

  function end(container: SimulatedContainer, exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error'): void {
    const { status, config } = container
    if (status.state === 'exited') return
    container.exit?.cancel()
    container.kill?.cancel()
    const asked = simulationOf(config.annotations, 'termination-message', config.metadata.name)
    const message = asked ?? container.plain?.terminationMessage ?? ''
    change(container, {
      state: 'exited',
      exitCode,
      reason,
      finishedAt: clock.now(),
      message: exitCode === KILLED ? '' : message,
    })
    tell('stopped', uidOf(container), status.id)
    endedNow(container.ended)
  }

  function selected(filter: ListFilter): Iterable<Sandbox> {
    const uid = filter.labels?.[POD_UID_LABEL]
    return uid === undefined ? sandboxes.values() : (byPod.get(uid) ?? [])
  }

  function find(id: string): SimulatedContainer {
    const container = containers.get(id)
    if (container === undefined) throw new RuntimeError(`container ${id} does not exist`)
    return container
  }

  function forget(container: SimulatedContainer): void {
    container.exit?.cancel()
    container.kill?.cancel()
    containers.delete(container.status.id)
    container.sandbox.containers = container.sandbox.containers.filter((one) => one !== container)
    endedNow(container.ended)
    tell('deleted', uidOf(container), container.status.id)
  }

  function stopSandbox(sandbox: Sandbox): void {
    for (const container of sandbox.containers) if (container.status.state === 'running') end(container, KILLED)
    if (sandbox.state === 'notReady') return
    sandbox.state = 'notReady'
    for (const ip of sandbox.ips) addresses.release(ip)
    sandbox.ips = []
    if (sandbox.ended !== undefined) endedNow(sandbox.ended)
    tell('stopped', sandbox.config.metadata.uid, sandbox.id)
  }

  /** What the container does with SIGTERM. */
  function terminate(container: SimulatedContainer): void {
    const { annotations, metadata } = container.config
    if (manner !== undefined) {
      if (manner.onSigterm === 'ends') end(container, 0)
      return
    }
    const onSigterm = container.plain?.onSigterm
    if (simulatedFlag(annotations, 'ignore-sigterm', metadata.name, onSigterm === 'ignored')) return
    const said = onSigterm === 'ignored' ? undefined : onSigterm
    const code = simulatedNumber(annotations, 'sigterm-exit-code', metadata.name) ?? said ?? 0
    const delay = simulatedDelay(annotations, 'stop-delay', metadata.name)
    if (delay === 0) {
      end(container, code)
      return
    }
    container.exit?.cancel()
    container.exit = clock.setTimer(delay, 'container ends', () => end(container, code))
  }

  function add(
    sandbox: Sandbox,
    asked: ContainerConfig,
    status: Omit<RuntimeContainerStatus, 'podSandboxId'>,
  ): SimulatedContainer {
    const { name } = asked.metadata
    const config = { ...asked, annotations: withImage(asked.annotations, asked.image, name) }
    const neverReady = simulatedFlag(config.annotations, 'never-ready', name)
    const container: SimulatedContainer = {
      sandbox,
      config,
      plain: plainCommand(config.command, config.args),
      ended: new Set(),
      status: { ...status, podSandboxId: sandbox.id, ...(neverReady ? { ready: false } : {}) },
    }
    containers.set(status.id, container)
    sandbox.containers = sandbox.containers.concat([container])
    return container
  }

  /** If it ends by itself, it does so as long after its start as it would have. */
  function runToItsEnd(container: SimulatedContainer): void {
    const ending = manner === undefined ? endingOf(container) : endingInManner(container)
    if (ending === undefined) return
    const left = Math.max(0, container.status.startedAt + ending.ms - clock.now())
    container.exit = clock.setTimer(left, 'container ends', () => end(container, ending.code))
  }

  return {
    skipsHooks: manner?.preStop === 'is skipped',
    adopt({ sandbox: config, sandboxId, createdAt, ips, containers: made }) {
      const { uid } = config.metadata
      if (byPod.has(uid)) return
      const sandbox: Sandbox = { id: sandboxId, config, state: 'ready', createdAt, ips, containers: [] }
      sandboxes.set(sandbox.id, sandbox)
      byPod.set(uid, [sandbox])
      for (const ip of ips) addresses.reserve(ip)
      for (const { config: own, status } of made) {
        const container = add(sandbox, own, status)
        if (status.state === 'running') runToItsEnd(container)
      }
      tell('started', uid, sandboxId)
    },

    version: async () => version,
    simulated: createAnswers(runtime, {
      container: (id) => containers.get(id),
      sandbox: (id) => sandboxes.get(id),
      resources,
    }),

    async runPodSandbox(config, signal) {
      await turn(scheduler, 'runtime')
      await wait(simulatedDelay(config.annotations, 'sandbox-delay'), signal)
      const { uid } = config.metadata
      const sandbox: Sandbox = {
        id: newId(),
        config,
        state: 'ready',
        createdAt: clock.now(),
        ips: config.hostNetwork ? [] : [...addresses.take()],
        containers: [],
      }
      sandboxes.set(sandbox.id, sandbox)
      byPod.set(uid, (byPod.get(uid) ?? []).concat([sandbox]))
      tell('started', uid, sandbox.id)
      return sandbox.id
    },

    async stopPodSandbox(id) {
      await turn(scheduler, 'runtime')
      const sandbox = sandboxes.get(id)
      if (sandbox !== undefined) stopSandbox(sandbox)
    },

    async removePodSandbox(id) {
      const sandbox = sandboxes.get(id)
      if (sandbox === undefined) return
      stopSandbox(sandbox)
      for (const container of sandbox.containers) forget(container)
      sandboxes.delete(id)
      const { uid } = sandbox.config.metadata
      const others = byPod.get(uid)?.filter((one) => one !== sandbox) ?? []
      if (others.length === 0) byPod.delete(uid)
      else byPod.set(uid, others)
      tell('deleted', uid, id)
    },

    async listPodSandboxes(filter) {
      const found: PodSandboxStatus[] = []
      for (const { id, config, state, createdAt, ips } of selected(filter))
        found.push({ id, metadata: config.metadata, state, createdAt, ips })
      return found
    },

    async createContainer(podSandboxId, config) {
      await turn(scheduler, 'runtime')
      const sandbox = sandboxes.get(podSandboxId)
      if (sandbox === undefined || sandbox.state !== 'ready')
        throw new RuntimeError(`sandbox ${podSandboxId} is not running`)
      const id = newId()
      add(sandbox, config, {
        id,
        metadata: config.metadata,
        state: 'created',
        createdAt: clock.now(),
        startedAt: 0,
        finishedAt: 0,
        exitCode: 0,
        image: fullImageName(config.image),
        imageId: imageId(config.image),
        reason: '',
        message: '',
        labels: config.labels,
      })
      tell('created', sandbox.config.metadata.uid, id)
      return id
    },

    async startContainer(id, signal) {
      await turn(scheduler, 'runtime')
      const container = find(id)
      const { annotations, metadata } = container.config
      await wait(simulatedDelay(annotations, 'start-delay', metadata.name), signal)
      if (container.status.state !== 'created') throw new RuntimeError(`container ${id} has ended`)
      const problem = simulationOf(annotations, 'start-error', metadata.name)
      if (problem !== undefined) {
        change(container, {
          state: 'exited',
          exitCode: NOT_STARTED,
          reason: 'StartError',
          message: problem,
          finishedAt: clock.now(),
        })
        tell('stopped', uidOf(container), id)
        throw new RuntimeError(problem)
      }
      change(container, { state: 'running', startedAt: clock.now() })
      tell('started', uidOf(container), id)
      runToItsEnd(container)
    },

    async stopContainer(id, timeoutSeconds) {
      await turn(scheduler, 'runtime')
      const container = containers.get(id)
      if (container === undefined || container.status.state === 'exited') return
      if (container.status.state === 'created') return end(container, KILLED)
      const killAt = clock.monotonic() + timeoutSeconds * 1000
      const first = container.killAt === undefined
      if (first) terminate(container)
      if (container.status.state !== 'running') return
      if (container.killAt === undefined || killAt < container.killAt) {
        container.killAt = killAt
        container.kill?.cancel()
        container.kill = clock.setTimer(timeoutSeconds * 1000, 'container is killed', () => end(container, KILLED))
      }
      await new Promise<void>((resolve) => container.ended.add(() => resolve()))
    },

    async removeContainer(id) {
      const container = containers.get(id)
      if (container === undefined) return
      end(container, KILLED)
      forget(container)
    },

    async listContainers(filter) {
      const found: RuntimeContainerStatus[] = []
      for (const sandbox of selected(filter)) for (const { status } of sandbox.containers) found.push(status)
      return found
    },

    async probe(containerId, { kind, handler, timeoutSeconds }, signal) {
      await turn(scheduler, 'probe')
      const { config, status } = find(containerId)
      const name = config.metadata.name
      const key = kind === 'preStop' ? 'pre-stop' : kind === 'postStart' ? 'post-start' : kind
      if (manner !== undefined) {
        if (kind === 'preStop' && manner.preStop === 'takes all its time') await wait(timeoutSeconds * 1000, signal)
        return { success: true, output: '' }
      }
      const asked = (what: string) => simulationOf(config.annotations, what, name)
      const isTold = asked(key) !== undefined || asked(`${key}-duration`) !== undefined
      const command = isTold ? undefined : commandOf(handler)
      const known = command === undefined ? undefined : foreseen(await execAnswers(config), command)
      const takes =
        known === undefined
          ? simulatedDelay(config.annotations, `${key}-duration`, name)
          : (known.endsAfterMs ?? Number.POSITIVE_INFINITY)
      await wait(Math.min(takes, timeoutSeconds * 1000, LONGEST_MS), signal)
      const inTime = takes <= timeoutSeconds * 1000
      const age = clock.now() - status.startedAt
      const success = inTime && (known === undefined ? simulatedOutcome(asked(key), age) : known.exitCode === 0)
      const said = inTime ? (known?.output ?? []).map(({ text }) => text).join('') : ''
      return {
        success,
        output: asked(`${key}-output`) === undefined || success ? said : (asked(`${key}-output`) ?? ''),
      }
    },

    containerEvents(listener, signal) {
      listeners.set(listener, signal)
    },

    async imageStatus(image, annotations) {
      const wish = simulationOf(withImage(annotations, image, ANY), 'image', ANY)
      if (wish === 'missing' || wish === 'absent' || unresolvable(image)) return undefined
      return { id: imageId(image), size: IMAGE_BYTES }
    },

    async pullImage(image, annotations, signal) {
      await turn(scheduler, 'runtime')
      const own = withImage(annotations, image, ANY)
      await wait(simulatedDelay(own, 'pull-delay', ANY), signal)
      const name = fullImageName(image)
      const host = imageHost(name)
      const failed = `failed to pull and unpack image ${JSON.stringify(name)}: failed to resolve reference ${JSON.stringify(name)}:`
      if (unresolvable(image)) {
        const [path, tag] = splitTag(name.slice(host.length + 1))
        throw new RuntimeError(
          `${failed} failed to do request: Head "https://${host}/v2/${path}/manifests/${tag}": dial tcp: lookup ${host} on 127.0.0.53:53: no such host`,
        )
      }
      if (simulationOf(own, 'image', ANY) === 'missing') throw new RuntimeError(`${failed} ${name}: not found`)
      return { id: imageId(image) }
    },
  }
}

/** The command of a probe or hook that runs one. */
const commandOf = ({ exec }: ProbeAction['handler']): readonly string[] | undefined => exec?.command

function endedNow(ended: Set<() => void>): void {
  const waiting = [...ended]
  ended.clear()
  for (const resolve of waiting) resolve()
}

/** An init container that is to end does so at once; how long others would run nothing tells. */
function endingInManner({ config }: SimulatedContainer): { readonly ms: number; readonly code: number } | undefined {
  return config.isInit === true && config.runsToCompletion ? { ms: 0, code: 0 } : undefined
}

/**
 * How long after its start the container ends by itself, and with which code: as annotations ask, else as its command says,
 * else at once when its pod waits for that; undefined: it runs on.
 */
function endingOf({ config, plain }: SimulatedContainer): { readonly ms: number; readonly code: number } | undefined {
  const { annotations, metadata, runsToCompletion } = config
  const { name, attempt } = metadata
  if (attempt >= (simulatedNumber(annotations, 'exit-times', name) ?? Number.POSITIVE_INFINITY)) return undefined
  const code = simulatedNumber(annotations, 'exit-code', name)
  const asked = simulationOf(annotations, 'exit-after', name)
  if (asked === 'never') return undefined
  if (asked !== undefined) return { ms: annotatedMs(asked) ?? 0, code: code ?? 0 }
  if (plain === undefined) return runsToCompletion ? { ms: 0, code: code ?? 0 } : undefined
  return plain.endsAfterMs === undefined ? undefined : { ms: plain.endsAfterMs, code: code ?? plain.exitCode }
}

const IMAGE_BYTES = 2_223_688

/** Hosts under .invalid never resolve (RFC 2606). */
const unresolvable = (image: string) => imageHost(fullImageName(image)).endsWith('.invalid')

function splitTag(path: string): [string, string] {
  const colon = path.lastIndexOf(':')
  return colon < 0 ? [path, 'latest'] : [path.slice(0, colon), path.slice(colon + 1)]
}

const imageIds = new Map<string, string>()

function imageId(image: string): string {
  let id = imageIds.get(image)
  if (id === undefined) {
    id = `sha256:${createHash('sha256').update(fullImageName(image)).digest('hex')}`
    setBounded(imageIds, 1000, image, id)
  }
  return id
}
