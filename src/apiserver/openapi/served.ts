/** A document as a file is served (RFC 9110, 13 and 14): whole, a part of it, or not again where the client has it already. */
import type { ApiRequest, ApiResponse, Headers } from '../../api/request.ts'

export interface ServedDocument {
  readonly headers: Headers
  readonly contentType: string
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** Asked only when something of it is sent. */
  readonly bytes: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
}

export async function served(request: ApiRequest, document: ServedDocument): Promise<ApiResponse> {
  const { contentType, modified } = document
  const headers: Headers = {
    ...document.headers,
    'accept-ranges': 'bytes',
    'last-modified': new Date(modified).toUTCString(),
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isKnown(request.headers, document, isRead))
    return { kind: 'bytes', status: isRead ? 304 : 412, headers, contentType, bytes: [] }
  const pieces = await document.bytes()
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const ifRange = request.headers['if-range']
  const isAsked = ifRange === undefined || ifRange === headers['etag'] || ifRange === headers['last-modified']
  const range = isAsked ? rangeOf(request.headers['range'], size) : undefined
  if (range === undefined) return { kind: 'bytes', status: 200, headers, contentType, bytes: pieces }
  if ('why' in range) return unsatisfiable(range, document.headers, size)
  const { start, end } = range
  return {
    kind: 'bytes',
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` },
    contentType,
    bytes: [Buffer.concat(pieces).subarray(start, end)],
  }
}

function isKnown(asked: ApiRequest['headers'], { headers, modified }: ServedDocument, isRead: boolean): boolean {
  // A proxy that has compressed the document calls its tag a weak one.
  const tags = asked['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (tags !== undefined) return tags.includes('*') || tags.includes(String(headers['etag']))
  const since = isRead ? Date.parse(asked['if-modified-since'] ?? '') : Number.NaN
  return Math.floor(modified / 1000) * 1000 <= since
}

/** From and to where. */
interface Part {
  readonly start: number
  readonly end: number
}

interface NoPart {
  readonly why: string
  /** Whether the range is one, of more than there is. */
  readonly isBeyond: boolean
}

const INVALID: NoPart = { why: 'invalid range', isBeyond: false }
const BEYOND: NoPart = { why: 'invalid range: failed to overlap', isBeyond: true }

/** undefined: all of it, as for several ranges at once. */
function rangeOf(header: string | undefined, size: number): Part | NoPart | undefined {
  if (header === undefined || header.includes(',')) return undefined
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/.exec(header)
  const [first = '', last = ''] = match?.slice(1) ?? []
  if (first === '' && last === '') return INVALID
  if (first === '') return { start: Math.max(0, size - Number(last)), end: size }
  const start = Number(first)
  const end = last === '' ? size : Math.min(size, Number(last) + 1)
  if (last !== '' && Number(last) < start) return INVALID
  return start >= size ? BEYOND : { start, end }
}

function unsatisfiable({ why, isBeyond }: NoPart, { etag: _, ...headers }: Headers, size: number): ApiResponse {
  const range = isBeyond ? { 'content-range': `bytes */${size}` } : {}
  return {
    kind: 'bytes',
    status: 416,
    headers: { ...headers, ...range, 'x-content-type-options': 'nosniff' },
    contentType: 'text/plain; charset=utf-8',
    bytes: [Buffer.from(`${why}\n`)],
  }
}
