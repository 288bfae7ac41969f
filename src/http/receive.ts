/** A node:http or node:http2 request as an ApiRequest, the way of every GET: nothing is copied or parsed before its time. */
import type { IncomingMessage } from 'node:http'
import { constants, type Http2ServerRequest } from 'node:http2'
import type { ApiRequest, ConnectionInfo } from '../api/request.ts'
import { badRequest, StatusError } from '../api/status.ts'
import type { Bodies } from './bodies.ts'

/** Requests without a query share it; no handler writes into a request's query. */
const NO_QUERY = new URLSearchParams()

type Incoming = IncomingMessage | Http2ServerRequest

/** A request that came over a wire. */
export interface ReceivedRequest extends ApiRequest {
  /** Names it in its answer's Audit-ID header: the client's own, or made where it came in. */
  readonly auditId: string
}

/** @param target what originForm() gave */
export function requestOf(
  incoming: Incoming,
  target: string,
  signal: AbortSignal,
  connection: ConnectionInfo,
  newId: () => string,
  bytes: Uint8Array | undefined,
): ReceivedRequest {
  const mark = target.indexOf('?')
  const headers = headersOf(incoming)
  const method = incoming.method ?? 'GET'
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 || mark === target.length - 1 ? NO_QUERY : parseQuery(target.slice(mark + 1))
  const named = headers['impersonate-user'] !== undefined || headers['x-remote-user'] !== undefined
  const values = named ? { headerValues: valuesByName(incoming.rawHeaders) } : undefined
  const auditId = auditIdOf(headers['audit-id']) ?? newId()
  if (bytes === undefined) return { method, path, query, target, headers, auditId, signal, connection, ...values }
  return {
    method,
    path,
    query,
    target,
    headers,
    auditId,
    signal,
    connection,
    ...values,
    body: { kind: 'bytes', bytes, contentType: headers['content-type'] ?? '' },
  }
}

/** Of these, given twice, the first counts, as in Go; Node joins them. */
const FIRST_ONLY = ['accept', 'accept-encoding', 'audit-id', 'if-none-match', 'origin'] as const

function headersOf({ headers, rawHeaders }: Incoming): ApiRequest['headers'] {
  for (const name of FIRST_ONLY) if (headers[name]?.includes(', ')) headers[name] = firstOf(rawHeaders, name)
  return headers as ApiRequest['headers']
}

/** @param name in lower case */
function firstOf(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2)
    if (raw[i]!.length === name.length && raw[i]!.toLowerCase() === name) return raw[i + 1]
  return undefined
}

const LONGEST_AUDIT_ID = 64

/** A client's own name for its request; one that is too long is none. */
export function auditIdOf(asked: string | undefined): string | undefined {
  return asked !== undefined && asked !== '' && asked.length <= LONGEST_AUDIT_ID ? asked : undefined
}

/** @param raw names and values in turn, as they came */
function valuesByName(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase()
    const value = raw[i + 1] as string
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

const MOST_PAIRS = 10_000

/** Pairs with a broken escape or a semicolon do not count, and of too many none does, as in Go's net/url. */
function parseQuery(text: string): URLSearchParams {
  if (isCrowded(text)) return NO_QUERY
  if (!/;|%(?![0-9A-Fa-f]{2})/.test(text)) return new URLSearchParams(text)
  const pairs = text.split('&').filter((pair) => !/;|%(?![0-9A-Fa-f]{2})/.test(pair))
  return new URLSearchParams(pairs.join('&'))
}

function isCrowded(text: string): boolean {
  let pairs = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) if (++pairs > MOST_PAIRS) return true
  return false
}

/** Path and query, without host. @throws StatusError 400 for a target that is no path */
export function originForm(url = '/'): string {
  if (url.charCodeAt(0) === 47 || url === '*') return url
  const absolute = /^https?:\/\/[^/?]*/i.exec(url)
  if (absolute === null) throw badRequest(`invalid request target`)
  const rest = url.slice(absolute[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

export const isOnlyRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

export function hasBody(incoming: Incoming, method: string): boolean {
  if ('stream' in incoming) return !isOnlyRead(method) && !incoming.stream.endAfterHeaders
  const length = incoming.headers['content-length']
  return (length !== undefined && length !== '0') || incoming.headers['transfer-encoding'] !== undefined
}

function tooLarge(limit: number): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`)
}

/** Either is called, once: `failed` with a StatusError, 413 for a body over `limit` bytes. */
export function readBody(
  bodies: Bodies,
  incoming: Incoming,
  limit: number,
  arrived: (bytes: Uint8Array) => void,
  failed: (error: StatusError) => void,
): void {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) {
    failed(tooLarge(limit))
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  let isOver = false
  const fail = (why: StatusError) => {
    if (isOver) return
    isOver = true
    chunks.length = 0
    body.end()
    failed(why)
  }
  const body = bodies.begin((why) => {
    // Of HTTP/2 only this stream: one that is left unread would hold up all others of its connection.
    if ('stream' in incoming) incoming.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    else incoming.destroy()
    fail(why)
  })
  incoming.on('data', (chunk: Buffer) => {
    if (isOver) return
    size += chunk.length
    if (size > limit) return fail(tooLarge(limit))
    chunks.push(chunk)
    body.more(chunk.length)
  })
  incoming.on('end', () => {
    if (isOver) return
    isOver = true
    body.end()
    const [only] = chunks
    arrived(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks))
  })
  incoming.on('error', (cause) =>
    fail(cause instanceof StatusError ? cause : badRequest('the request body could not be read', cause)),
  )
  // Comes after every request; only before the end of its body does it mean anything.
  incoming.on('close', () => {
    if (!isOver) fail(badRequest('the client closed the connection'))
  })
}
