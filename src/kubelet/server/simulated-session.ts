/** exec and attach of a simulated container: the kubelet speaks for it, and tells how it ended. */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { CommandStreams, SessionRequest, SimulatedAnswers } from '../runtimes/runtime.ts'
import { type Outcome, type RemoteSession, remoteCommand } from './simulated-exec-and-attach-streams.ts'

type CommandRequest = Extract<SessionRequest, { readonly kind: 'exec' | 'attach' }>

/** @throws Refused */
export function simulatedCommand(
  runtime: Runtime,
  simulated: SimulatedAnswers,
  asked: CommandRequest,
  request: ApiRequest,
): ApiResponse {
  const take = remoteCommand(runtime.machineClock, request, asked)
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => {
      const serve = async () => {
        const remote = await take(socket as Duplex, head)
        if (remote !== undefined) await remote.finish(await outcomeOf(simulated, asked, remote))
      }
      serve().catch((error) => {
        runtime.log.info(2, 'Session failed', { err: messageOf(error) })
        ;(socket as Duplex).destroy()
      })
    },
  }
}

async function outcomeOf(simulated: SimulatedAnswers, asked: CommandRequest, remote: RemoteSession): Promise<Outcome> {
  const { streams, closed } = remote
  try {
    const code =
      asked.kind === 'exec'
        ? await simulated.exec(asked.containerId, asked.command, streams, closed)
        : await attached(simulated, asked.containerId, streams, closed)
    return code === 0 ? { metadata: {}, status: 'Success' } : ended(code)
  } catch (error) {
    const what = asked.kind === 'exec' ? 'executing command in' : 'attaching to'
    const message = `error ${what} container: ${messageOf(error)}`
    return {
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${message}`,
      reason: 'InternalError',
      details: { causes: [{ message }] },
      code: 500,
    }
  }
}

const ended = (code: number): Outcome => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with non-zero exit code: exit status ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
})

const CTRL_C = 3
const CTRL_D = 4

/** What the container prints from now on, until it ends, or its client leaves: at a terminal by Ctrl-C or Ctrl-D. */
async function attached(
  simulated: SimulatedAnswers,
  containerId: string,
  { stdin, tty, print }: CommandStreams,
  closed: AbortSignal,
): Promise<number> {
  const leaving = new AbortController()
  const listen = async () => {
    for await (const bytes of stdin ?? [])
      if (tty && (bytes.includes(CTRL_C) || bytes.includes(CTRL_D))) leaving.abort()
  }
  listen().catch(() => {})
  const until = AbortSignal.any([closed, leaving.signal])
  let log = await simulated.printed(containerId, { tail: 0, follow: true })
  while (log !== undefined && !until.aborted) {
    for (const { stream, text } of log.lines) await print(stream, `${text}\n`)
    if (!log.running) break
    await simulated.printsMore(containerId, until)
    log = await simulated.printed(containerId, { from: log.next, follow: true })
  }
  return 0
}
