/** Probes and hooks of real containers: a command run in one, or a port reached for over the network (API concept: probes). */
import { sleep } from '../../../base/clock.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { createHttpsClient } from '../../../http/client.ts'
import { type Dialed, dial } from '../../../http/dial.ts'
import { AnswerTooLarge, limitedText } from '../../../http/fetch.ts'
import { gavePlainHttp, networkError } from '../../../http/network-error.ts'
import type { ProbeAction, ProbeResult } from '../runtime.ts'
import { type Connection, codeOf, isOutOfTime } from './connection.ts'
import { grpcHealth } from './grpc-health.ts'

export interface ProbeParts {
  readonly runtime: Runtime
  readonly connection: Connection
}

interface HttpGet {
  readonly host?: string
  readonly port: number | string
  readonly path?: string
  readonly scheme?: string
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[]
}

interface Handlers {
  readonly exec?: { readonly command?: readonly string[] }
  readonly httpGet?: HttpGet
  readonly tcpSocket?: { readonly host?: string; readonly port: number | string }
  readonly grpc?: { readonly port: number; readonly service?: string }
  readonly sleep?: { readonly seconds: number }
}

/** A probe that could not be done. */
class NotDone extends Error {
  readonly state: 'unknown' | 'failure'

  constructor(message: string, state: 'unknown' | 'failure' = 'unknown') {
    super(message)
    this.state = state
  }
}

/** As much of an answer or output as is looked at. */
const MOST_BYTES = 10 * 1024
const VERSION = '1.37'
const MOST_REDIRECTS = 10
const succeeded: ProbeResult = { success: true, output: '' }

/** Whatever goes wrong is the result; rejects only with the signal's reason. */
export async function probe(
  parts: ProbeParts,
  containerId: string,
  action: ProbeAction,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const handler = action.handler as Handlers
  const { clock } = parts.runtime
  const timeoutMs = Math.min(action.timeoutSeconds * 1000, 2 ** 31 - 1)
  const limit = new AbortController()
  const timer = clock.setTimer(timeoutMs, 'probe timeout', () => limit.abort(new Error('context deadline exceeded')))
  const both = AbortSignal.any([signal, limit.signal])
  try {
    if (handler.exec !== undefined)
      return await exec(parts, containerId, action.command ?? handler.exec.command ?? [], action, timeoutMs, signal)
    if (handler.httpGet !== undefined) return await http(parts, handler.httpGet, action, both)
    if (handler.tcpSocket !== undefined) return await tcp(parts, handler.tcpSocket, action, both)
    if (handler.grpc !== undefined) {
      const { port, service = '' } = handler.grpc
      const place = { host: action.podIP ?? '', port: portOf(port, action), service }
      return await grpcHealth(clock, place, timeoutMs, signal)
    }
    if (handler.sleep !== undefined) await sleep(clock, handler.sleep.seconds * 1000, both)
    return succeeded
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const said = isHook(action) && handler.exec !== undefined ? { said: '' } : {}
    const errored = error instanceof NotDone ? { errored: error.state } : {}
    return { success: false, output: messageOf(error), ...errored, ...said }
  } finally {
    timer.cancel()
  }
}

async function exec(
  { connection }: ProbeParts,
  containerId: string,
  command: readonly string[],
  action: ProbeAction,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const timeout = Math.max(1, Math.min(Math.ceil(timeoutMs / 1000), 2 ** 31 - 1))
  try {
    const { stdout, stderr, exit_code } = await connection.call<{ stdout: Buffer; stderr: Buffer; exit_code: number }>(
      'ExecSync',
      { container_id: containerId, cmd: command, timeout },
      { timeoutMs: timeoutMs + 120_000, signal },
    )
    const output = Buffer.concat([stdout, stderr]).subarray(0, MOST_BYTES).toString()
    if (!isHook(action) || exit_code === 0) return { success: exit_code === 0, output }
    const why = `command '${command.join(' ')}' exited with ${exit_code}: ${stderr.subarray(0, MOST_BYTES).toString()}`
    return { success: false, output: why, said: output }
  } catch (error) {
    if (signal.aborted) throw error
    if (!isOutOfTime(error)) throw new NotDone(`rpc error: code = ${codeOf(error)} desc = ${messageOf(error)}`)
    const said = `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeout}s`
    return { success: false, output: said }
  }
}

/** @throws Error for a name that no port of the container has, and for what is no port */
export function portOf(port: number | string, { ports = [] }: Pick<ProbeAction, 'ports'>): number {
  const named = typeof port === 'string' ? ports.find(({ name }) => name === port)?.containerPort : undefined
  const number = named ?? Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65535)
    throw new NotDone(Number.isNaN(number) ? `port "${port}" not found` : `invalid port number: ${number}`)
  return number
}

const isHook = ({ kind }: ProbeAction): boolean => kind === 'preStop' || kind === 'postStart'

/** By lower-case name. A header without a value is not sent, and takes away the one that would be. */
function headersOf({ httpHeaders = [] }: HttpGet, action: ProbeAction): Record<string, string | string[]> {
  const headers: Record<string, string[]> = {}
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase()
    headers[key] = [...(headers[key] ?? []), value]
  }
  const { host: [host] = [], ...others } = headers
  const sent: Record<string, string | string[]> = {
    'user-agent': `${isHook(action) ? 'kube-lifecycle' : 'kube-probe'}/${VERSION}`,
    accept: '*/*',
    ...others,
    connection: 'close',
  }
  for (const key of ['user-agent', 'accept']) if (others[key]?.every((value) => value === '')) delete sent[key]
  return host === undefined ? sent : { ...sent, host }
}

/** What is asked for, and what is told of it: with the fragment, and with the query as it was written. */
function targetOf(path: string): { readonly target: string; readonly told: string } {
  const [, before = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(path) ?? []
  const escaped = escapedPath(before.startsWith('/') ? before : `/${before}`)
  // Beyond what a request may hold nothing is changed.
  const asked = query.replace(/[^!-~]/gu, (character) => encodeURIComponent(character))
  return { target: `${escaped}${asked}`, told: `${escaped}${query}${fragment}` }
}

const escapedPath = (path: string): string =>
  path.replace(/%(?![0-9a-fA-F]{2})|[^!-~]|["<>\\^`{|}]/gu, (character) => encodeURIComponent(character))

async function http(
  { runtime }: ProbeParts,
  get: HttpGet,
  action: ProbeAction,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const host = get.host ? get.host : (action.podIP ?? '')
  if (host === '' && isHook(action)) throw new Error('failed to find networking container')
  const port = portOf(get.port, action)
  const scheme = get.scheme === 'HTTPS' ? 'https' : 'http'
  const bracketed = host.includes(':') ? `[${host}]` : host
  const sent = headersOf(get, action)
  let server = `${scheme}://${bracketed}:${port}`
  const { target, told } = targetOf(get.path ?? '')
  let at = target
  for (let redirects = 0; ; redirects++) {
    const client = createHttpsClient({ server, insecureSkipTlsVerify: true, anyHandshake: true })
    try {
      const answer = await client.send({ method: 'GET', path: at, headers: sent, signal })
      const { location } = answer.headers
      const isRedirected = answer.status >= 300 && answer.status < 400
      const ended = async () => {
        const body = await bodyOf(answer.chunks(), signal)
        return { ...succeeded, warning: `Probe terminated redirects, Response body: ${body}` }
      }
      if (isRedirected && typeof location === 'string') {
        if (redirects >= MOST_REDIRECTS)
          return {
            success: false,
            output: `Get ${JSON.stringify(location)}: stopped after ${MOST_REDIRECTS} redirects`,
          }
        const next = new URL(location, `${server}${at}`)
        // Where another host is named the answer is what counts.
        if (next.hostname !== new URL(server).hostname) return isHook(action) ? succeeded : await ended()
        server = next.origin
        at = `${next.pathname}${next.search}`
        continue
      }
      if (isHook(action)) {
        if (answer.status < 400) return succeeded
        const body = await limitedText(answer.chunks(), MOST_BYTES).catch(() => '')
        return { success: false, output: `HTTP hook failed with statuscode: ${answer.status}: ${body}` }
      }
      if (isRedirected) return await ended()
      await bodyOf(answer.chunks(), signal)
      if (answer.status >= 200 && answer.status < 300) return succeeded
      return { success: false, output: `HTTP probe failed with statuscode: ${answer.status}` }
    } catch (error) {
      if (error instanceof NotDone) throw error
      if (signal.aborted) {
        const url = `${server}${at === target ? told : at}`
        throw new Error(
          `Get ${JSON.stringify(url)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
        )
      }
      const url = `${server}${at === target ? told : at}`
      if (isHook(action) && (await gavePlainHttp(error, { server }, signal)))
        return await hookByPlainHttp(server, at, sent, signal)
      throw new Error(`Get "${url}": ${await askedInVain(runtime, error, server, signal)}`, { cause: error })
    } finally {
      client.close()
    }
  }
}

/** One that is too long is left out. @throws NotDone for one that does not come whole, whatever its head said */
async function bodyOf(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<string> {
  try {
    return await limitedText(chunks, MOST_BYTES)
  } catch (error) {
    if (error instanceof AnswerTooLarge) return ''
    throw new NotDone(
      signal.aborted
        ? 'context deadline exceeded (Client.Timeout or context cancellation while reading body)'
        : 'unexpected EOF',
      'failure',
    )
  }
}

function askedInVain({ clock }: Runtime, error: unknown, server: string | undefined, timeout: AbortSignal) {
  const endpoint = server === undefined ? undefined : { server, serverName: '', ca: undefined }
  return networkError(error, { endpoint, nowMs: clock.now(), timeout })
}

/** A hook by HTTPS whose server speaks HTTP is asked so, without its credentials; whatever is answered, it has been done. */
async function hookByPlainHttp(
  server: string,
  path: string,
  { authorization: _credentials, ...headers }: Record<string, string | string[]>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const client = createHttpsClient({ server: server.replace(/^https:/, 'http:') })
  try {
    const answer = await client.send({ method: 'GET', path, headers, signal })
    await limitedText(answer.chunks(), MOST_BYTES).catch(() => '')
    return succeeded
  } finally {
    client.close()
  }
}

async function tcp(
  { runtime }: ProbeParts,
  socket: NonNullable<Handlers['tcpSocket']>,
  action: ProbeAction,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const host = socket.host ? socket.host : (action.podIP ?? '')
  const port = portOf(socket.port, action)
  let connected: Dialed
  try {
    connected = await dial({ host, port, signal })
  } catch (error) {
    const at = `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}:`
    return {
      success: false,
      output: signal.aborted ? `${at} i/o timeout` : await askedInVain(runtime, error, undefined, signal),
    }
  }
  connected.close()
  return succeeded
}
