/**
 * One request passed on to another API server and its answer passed back as it comes, so that nothing of it is kept here,
 * however much the other server says. A server that cannot be reached is answered for with 503.
 */

import type { ApiRequest, ApiResponse, Headers, UserInfo } from '../../api/request.ts'
import { jsonText } from '../../api/values/json.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { HttpsAnswer, HttpsClient } from '../../http/client.ts'
import { limitedBytes } from '../../http/fetch.ts'
import { encodeHeader } from '../../http/header-text.ts'
import { hopByHop } from '../../http/hop-by-hop.ts'
import { networkError } from '../../http/network-error.ts'
import { isLongRunning } from '../request/long-running.ts'
import { ServiceUnresolved } from './service.ts'

export interface Remote {
  readonly client: HttpsClient
  /** `https://host:port` */
  readonly server: string
  /** The name its certificate must have. */
  readonly serverName: string
  /** PEM */
  readonly ca: string | undefined
}

/** How long an answer may take from its beginning to its end, unless its request is one that goes on. */
const ANSWER_MS = 60_000
/** A component of this process gets an answer whole, and none larger than this. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024

const answered = (status: number, body: string, headers: Headers = {}): ApiResponse => ({
  kind: 'bytes',
  status,
  headers,
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(body)],
})
export const unavailable = (text: string) => answered(503, `${text}\n`, { 'x-content-type-options': 'nosniff' })

/** @throws the request's own reason when its client has gone */
export async function passOn(runtime: Runtime, request: ApiRequest, remoteOf: () => Remote): Promise<ApiResponse> {
  const late = new AbortController()
  const timer = isLongRunning(request.info)
    ? undefined
    : runtime.machineClock.setTimer(ANSWER_MS, 'aggregated request', () => late.abort())
  const done = () => timer?.cancel()
  let remote: Remote | undefined
  let answer: HttpsAnswer
  try {
    remote = remoteOf()
    answer = await remote.client.send(sent(request, remote, AbortSignal.any([request.signal, late.signal])))
  } catch (error) {
    done()
    if (error instanceof ServiceUnresolved) return unavailable('service unavailable')
    if (request.signal.aborted) throw error
    const attempt = { endpoint: remote, nowMs: runtime.clock.now(), timeout: late.signal }
    return unavailable(`error trying to reach service: ${await networkError(error, attempt)}`)
  }
  const { status } = answer
  if (status >= 300 && status < 400 && answer.headers['location'] !== undefined) {
    done()
    late.abort()
    // A client that followed the redirect would send its credentials to a host of the extension server's choice.
    return answered(502, 'the backend attempted to redirect this request, which is not permitted')
  }
  if (status < 200) {
    done()
    late.abort()
    return unavailable('error trying to reach service: malformed HTTP status code')
  }
  const chunks = ending(answer.chunks(), done)
  const headers = passedBack(answer)
  const contentType = String(answer.headers['content-type'] ?? '')
  if (request.connection !== undefined) return { kind: 'stream', status, headers, contentType, chunks }
  try {
    return { kind: 'bytes', status, headers, contentType, bytes: [await limitedBytes(chunks, MAX_WHOLE_BYTES)] }
  } catch (error) {
    return unavailable(`error trying to reach service: ${messageOf(error)}`)
  }
}

async function* ending(chunks: AsyncIterable<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } finally {
    done()
  }
}

/** Credentials and names of users, which are written anew: a token may stand among a WebSocket's subprotocols too. */
const ABOUT_WHO = 'authorization|sec-websocket-.*|x-remote-.*|impersonate-.*'
const NOT_PASSED = new RegExp(`^(${ABOUT_WHO}|host|content-length|x-forwarded-(host|proto|uri)|:.*)$`)
const NOT_PASSED_BACK = /^(audit-id|content-type|:.*)$/

function sent(request: ApiRequest, { server }: Remote, signal: AbortSignal) {
  const { body, connection, headers, method, path } = request
  const query = request.query.toString()
  const isOfConnection = hopByHop(headers['connection'])
  const before = isOfConnection('x-forwarded-for') ? undefined : headers['x-forwarded-for']
  const passed = Object.entries(headers).filter((entry): entry is [string, string] => {
    const [name, value] = entry
    return value !== undefined && !NOT_PASSED.test(name) && !isOfConnection(name)
  })
  return {
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...Object.fromEntries(passed),
      ...userHeaders(request.user),
      ...(connection === undefined
        ? {}
        : { 'x-forwarded-for': (before ? `${before}, ` : '') + connection.remoteAddress }),
      'x-forwarded-host': new URL(server).host,
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': path,
    },
    ...(body === undefined ? {} : { body: body.kind === 'bytes' ? body.bytes : jsonText(body.object) }),
    signal,
  }
}

/** How a front proxy says for which user it asks (API concept: authenticating proxy), as it is sent: the other server reads UTF-8. */
export function userHeaders(user: UserInfo | undefined): Record<string, string | readonly string[]> {
  if (user === undefined) return {}
  // A header for each value: a group may have a comma in its name, and must not become two.
  const headers: Record<string, string | readonly string[]> = { 'x-remote-user': encodeHeader(user.name) }
  if (user.uid !== undefined && user.uid !== '') headers['x-remote-uid'] = encodeHeader(user.uid)
  if (user.groups.length > 0) headers['x-remote-group'] = user.groups.map(encodeHeader)
  for (const [key, values] of Object.entries(user.extra ?? {}))
    headers[`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`] = values.map(encodeHeader)
  return headers
}

/** What the other server says about its answer stands beside what this one says. */
function passedBack({ headers }: HttpsAnswer): Headers {
  const passed: Record<string, string | readonly string[]> = {}
  const isOfConnection = hopByHop(headers['connection'])
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_PASSED_BACK.test(name) || isOfConnection(name)) continue
    passed[name] = name === 'cache-control' ? ['no-cache, private', ...[value].flat()] : value
  }
  return passed
}
