/** An ApiResponse as bytes on a node:http or node:http2 response: back-pressure, list slices, compression, errors. */
import type { OutgoingHttpHeaders } from 'node:http'
import { constants as http2 } from 'node:http2'
import type { ApiResponse, Headers } from '../api/request.ts'
import { internalError, StatusError } from '../api/status.ts'
import { encodeJson } from '../api/values/json.ts'
import type { Runtime } from '../base/runtime.ts'
import { drained, isGone } from './drained.ts'
import { createGathering } from './gather.ts'
import { acceptsGzip, GZIP_FROM_BYTES, sendGzip } from './gzip.ts'
import { encodeHeader } from './header-text.ts'
import type { ReceivedRequest } from './receive.ts'
import { listPieces, type Slices, sliced } from './slices.ts'
import { createWatchWriter, type WatchTraffic, type WatchWriter } from './watch-back-pressure.ts'

/** What node:http's ServerResponse and node:http2's Http2ServerResponse have in common. */
export interface Outgoing {
  setHeader(name: string, value: readonly string[]): unknown
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  write(chunk: Uint8Array): boolean
  end(): unknown
  end(chunk: Uint8Array | string): unknown
  end(chunk: string, encoding: 'latin1'): unknown
  /** HTTP/2's has it too, though its type does not say so. */
  flushHeaders?(): void
  destroy(error?: Error): unknown
  on(event: string, listener: () => void): unknown
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly writableFinished: boolean
  readonly destroyed?: boolean
  readonly closed?: boolean
  shouldKeepAlive?: boolean
  /** HTTP/1.1: whether node:http divides the body into chunks, as it does when it has no length. */
  chunkedEncoding?: boolean
  readonly stream?: { readonly destroyed?: boolean; readonly writableLength?: number; close?(code: number): unknown }
  readonly writableLength?: number
  readonly socket?: { readonly writableLength?: number } | null
}

export interface Responder {
  /** undefined when everything was handed to the socket at once. */
  send(request: ReceivedRequest, response: ApiResponse, outgoing: Outgoing): Promise<void> | undefined
  /** A watch whose client asks for a WebSocket; resolves with its end. */
  watchOverWebSocket: WatchWriter['overWebSocket']
  /** Answers with the Status of `error` (500 for what is no StatusError); cuts the connection if an answer had begun. */
  fail(request: ReceivedRequest | undefined, error: unknown, outgoing: Outgoing): void
  closeAfter(outgoing: Outgoing): void
  /** Writes the answers that are ready. */
  flush(): void
  readonly watches: WatchTraffic
  /** Ends all watches. */
  stop(): void
}

const SLICE_BYTES = 128 * 1024
/** Of what is made while it is sent, so that making one is short. */
const PIECES_BYTES = 32 * 1024
const NEWLINE = Buffer.from('\n')
/** Over HTTP/1.1 node:http joins a text to its head and writes both as one, but bytes beside it: so these go as text. */
const ONE_WRITE_BYTES = 16 * 1024
/** More in a row save little, and let the first of them wait. */
const ANSWERS_TOGETHER = 16

/** A character for each byte. */
const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/** What no header may hold becomes a space. */
function onTheWire(value: Headers[string]): string | string[] {
  if (typeof value !== 'string') return value.map(allowed)
  return allowed(value)
}

const allowed = (text: string): string =>
  /^[\t -~]*$/.test(text) ? text : encodeHeader(text.replace(/[^\P{Cc}\t]/gu, ' '))

interface Answer {
  readonly outgoing: Outgoing
  readonly bytes: Uint8Array
}

export function createResponder(runtime: Runtime, hasAuditIds = true): Responder {
  const watches = createWatchWriter(runtime.clock)
  const answers = createGathering<Answer>(runtime.scheduler, {
    label: 'http answers',
    act: ({ outgoing, bytes }) => {
      try {
        outgoing.end(latin1(bytes), 'latin1')
      } catch {
        outgoing.destroy()
      }
    },
    most: ANSWERS_TOGETHER,
  })

  function headersOf(
    request: ReceivedRequest | undefined,
    contentType: string,
    extra: Headers | undefined,
  ): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = hasAuditIds
      ? { 'audit-id': request?.auditId ?? runtime.random.passingUuid(), 'cache-control': 'no-cache, private' }
      : { 'cache-control': 'no-cache, private' }
    if (contentType !== '') headers['content-type'] = contentType
    if (extra !== undefined) for (const name in extra) headers[name.toLowerCase()] = onTheWire(extra[name] ?? [])
    return headers
  }

  function sendBytes(
    request: ReceivedRequest | undefined,
    outgoing: Outgoing,
    status: number,
    headers: OutgoingHttpHeaders,
    pieces: readonly Uint8Array[],
  ): Promise<void> | undefined {
    let size = 0
    for (const piece of pieces) size += piece.length
    // A part's place is told in bytes as they are.
    if (size > GZIP_FROM_BYTES && status !== 206 && acceptsGzip(request)) {
      return sendGzip(request as ReceivedRequest, outgoing, status, headers, sliced(pieces, SLICE_BYTES))
    }
    headers['content-length'] = size
    outgoing.writeHead(status, headers)
    if (size <= SLICE_BYTES * 2 || request?.method === 'HEAD') {
      const [only] = pieces
      const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, size)
      if (size <= ONE_WRITE_BYTES && outgoing.stream === undefined) answers.add({ outgoing, bytes })
      else outgoing.end(bytes)
      return undefined
    }
    return sendSlices(outgoing, sliced(pieces, SLICE_BYTES))
  }

  const otherTurn = () => new Promise<void>((resolve) => runtime.scheduler.later('http pieces', resolve))

  return {
    send: (request, response, outgoing) => {
      switch (response.kind) {
        case 'bytes':
          return sendBytes(
            request,
            outgoing,
            response.status,
            headersOf(request, response.contentType, response.headers),
            response.bytes,
          )
        case 'object':
          return sendBytes(
            request,
            outgoing,
            response.status,
            headersOf(request, 'application/json', response.headers),
            [encodeJson(response.object), NEWLINE],
          )
        case 'pieces': {
          const { status, contentType, headers: extra } = response
          const headers = headersOf(request, contentType, extra)
          const slices = sliced(response.pieces(), PIECES_BYTES)
          if (acceptsGzip(request)) return sendGzip(request, outgoing, status, headers, slices)
          outgoing.writeHead(status, headers)
          return sendSlices(outgoing, slices, otherTurn)
        }
        case 'list': {
          const headers = headersOf(request, 'application/json', response.headers)
          const slices = sliced(listPieces(response), SLICE_BYTES)
          const first = slices.next()
          const second = slices.next()
          if (second.done === true) {
            return sendBytes(
              request,
              outgoing,
              response.status,
              headers,
              first.value === undefined ? [] : [first.value],
            )
          }
          const all = chain([first.value as Uint8Array, second.value], slices)
          if (acceptsGzip(request)) return sendGzip(request, outgoing, response.status, headers, all)
          outgoing.writeHead(response.status, headers)
          return sendSlices(outgoing, all)
        }
        case 'watch': {
          outgoing.writeHead(response.status, headersOf(request, response.contentType, response.headers))
          outgoing.flushHeaders?.()
          return watches.pump(response, outgoing, request.signal)
        }
        case 'stream':
          outgoing.writeHead(response.status, headersOf(request, response.contentType, response.headers))
          outgoing.flushHeaders?.()
          return sendStream(outgoing, response.chunks)
        case 'cut':
          cut(outgoing)
          return undefined
        case 'upgrade':
          throw new Error('an upgrade is not sent, it is taken over')
      }
    },
    fail: (request, thrown, outgoing) => {
      if (isGone(outgoing) || outgoing.writableEnded) return
      const error = thrown instanceof StatusError ? thrown : internalError(thrown)
      if (!(thrown instanceof StatusError) && request?.signal.aborted !== true) {
        runtime.log.error('request failed', thrown, { method: request?.method, path: request?.path })
      }
      if (outgoing.headersSent) {
        outgoing.destroy()
        return
      }
      const headers = headersOf(request, 'application/json', undefined)
      const retryAfter = error.details?.retryAfterSeconds
      if (retryAfter !== undefined && retryAfter > 0) headers['retry-after'] = String(retryAfter)
      if (error.code === 413) closeAfter(outgoing)
      void sendBytes(request, outgoing, error.code, headers, [Buffer.from(JSON.stringify(error.toStatus())), NEWLINE])
    },
    watchOverWebSocket: watches.overWebSocket,
    closeAfter,
    flush: answers.flush,
    watches: watches.traffic,
    stop: watches.stop,
  }
}

/** Breaks off an answer: over HTTP/1.1 by closing the socket, over HTTP/2 by a reset of the stream (INTERNAL_ERROR). */
export function cut(outgoing: Outgoing): void {
  if (outgoing.stream?.close === undefined) outgoing.destroy()
  else outgoing.stream.close(http2.NGHTTP2_INTERNAL_ERROR)
}

/** HTTP/2 connections are told by GOAWAY instead. */
function closeAfter(outgoing: Outgoing): void {
  if (outgoing.stream === undefined) outgoing.shouldKeepAlive = false
}

function* chain(head: readonly Uint8Array[], rest: Slices): Slices {
  yield* head
  let hasLeft: boolean | undefined
  for (let next = rest.next(); next.done !== true; next = rest.next(hasLeft)) hasLeft = yield next.value
}

/**
 * Writes one slice after the other, each when the one before has left, so that other requests run in between; `turn` lets them
 * where slices take time to be made.
 */
async function sendSlices(outgoing: Outgoing, slices: Slices, turn?: () => Promise<void>): Promise<void> {
  for (let next = slices.next(); next.done !== true; ) {
    if (isGone(outgoing)) return
    const isTaken = outgoing.write(next.value)
    if (!isTaken) await drained(outgoing)
    else if (turn !== undefined) await turn()
    // What was taken at once may wait in a buffer still.
    next = slices.next(!isTaken)
  }
  outgoing.end()
}

/** A broken source ends the answer where it broke, so that its reader does not take it for whole. */
async function sendStream(outgoing: Outgoing, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (isGone(outgoing)) return
      if (!outgoing.write(chunk)) await drained(outgoing)
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}
