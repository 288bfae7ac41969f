/**
 * Frames of SPDY/3.1, the protocol in which kubelets and older clients carry the streams of exec, attach and port-forward
 * (its draft 3.1, section 2). Bytes in, frames out; it knows neither sockets nor what a stream is for.
 */

export const FLAG_FIN = 0x01

/** Control frames that matter here; others (settings, window updates) are passed over, as Go's peers pass them over. */
export type Frame =
  | { readonly kind: 'syn-stream'; readonly stream: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly kind: 'syn-reply'; readonly stream: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly kind: 'headers'; readonly stream: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly kind: 'reset'; readonly stream: number; readonly code: number }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'go-away' }
  | { readonly kind: 'other' }
  /** A part of a data frame, as it came; `fin` with the last part of the last frame. */
  | { readonly kind: 'data'; readonly stream: number; readonly fin: boolean; readonly bytes: Buffer }

/** Reasons of a RST_STREAM. */
export const RESET = { protocolError: 1, refusedStream: 3, cancel: 5 } as const

const TYPE = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7, headers: 8 } as const
const VERSION = 3
export const HEAD_BYTES = 8
export const PING_BYTES = 12
/** A control frame is held whole before it is read: those of exec and port-forward have some hundred bytes. */
const MAX_CONTROL_BYTES = 64 * 1024

/** What the other side sends is no SPDY, or more of it than is taken. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError'
}

export interface FrameParser {
  /** The frames that `bytes` complete. Data is given as it comes, so that no more than a chunk is held. @throws SpdyError */
  push(bytes: Buffer): Generator<Frame>
}

export function createFrameParser(): FrameParser {
  let held: Buffer = Buffer.alloc(0)
  /** The data frame whose bytes are still coming. */
  let data: { readonly stream: number; readonly fin: boolean; left: number } | undefined

  return {
    *push(bytes) {
      let rest = held.length === 0 ? bytes : Buffer.concat([held, bytes])
      held = Buffer.alloc(0)
      while (rest.length > 0) {
        if (data !== undefined) {
          const part = rest.subarray(0, data.left)
          rest = rest.subarray(part.length)
          data.left -= part.length
          const { stream, fin, left } = data
          if (left === 0) data = undefined
          yield { kind: 'data', stream, fin: fin && left === 0, bytes: part }
          continue
        }
        if (rest.length < HEAD_BYTES) break
        const length = lengthOf(rest)
        const fin = (rest.readUInt8(4) & FLAG_FIN) !== 0
        const first = rest.readUInt32BE(0)
        if (first >>> 31 === 0) {
          rest = rest.subarray(HEAD_BYTES)
          if (length > 0) data = { stream: first, fin, left: length }
          else yield { kind: 'data', stream: first, fin, bytes: Buffer.alloc(0) }
          continue
        }
        if (((first >>> 16) & 0x7fff) !== VERSION)
          throw new SpdyError(`a frame of SPDY version ${(first >>> 16) & 0x7fff}, not ${VERSION}`)
        if (length > MAX_CONTROL_BYTES)
          throw new SpdyError(`a control frame of ${length} bytes, where ${MAX_CONTROL_BYTES} are taken`)
        if (rest.length < HEAD_BYTES + length) break
        yield controlFrame(first & 0xffff, fin, rest.subarray(HEAD_BYTES, HEAD_BYTES + length))
        rest = rest.subarray(HEAD_BYTES + length)
      }
      // A copy: what came stays in a large buffer of the socket's otherwise.
      if (rest.length > 0) held = Buffer.from(rest)
    },
  }
}

/** Of a frame, by its head: the bytes that follow. */
export const lengthOf = (head: Buffer): number => head.readUIntBE(5, 3)

export const isPing = (head: Buffer): boolean =>
  head.readUInt32BE(0) === (0x80000000 | (VERSION << 16) | TYPE.ping) >>> 0 &&
  lengthOf(head) === PING_BYTES - HEAD_BYTES

/** How many bytes each kind has before its header block, or in all. */
const LEAST: Readonly<Record<number, number>> = {
  [TYPE.synStream]: 10,
  [TYPE.synReply]: 4,
  [TYPE.headers]: 4,
  [TYPE.reset]: 8,
  [TYPE.ping]: 4,
}

function controlFrame(type: number, fin: boolean, body: Buffer): Frame {
  if (body.length < (LEAST[type] ?? 0)) throw new SpdyError(`a control frame of type ${type} with ${body.length} bytes`)
  const stream = body.length >= 4 ? body.readUInt32BE(0) & 0x7fffffff : 0
  switch (type) {
    case TYPE.synStream:
      return { kind: 'syn-stream', stream, fin, block: body.subarray(10) }
    case TYPE.synReply:
      return { kind: 'syn-reply', stream, fin, block: body.subarray(4) }
    case TYPE.headers:
      return { kind: 'headers', stream, fin, block: body.subarray(4) }
    case TYPE.reset:
      return { kind: 'reset', stream, code: body.readUInt32BE(4) }
    case TYPE.ping:
      return { kind: 'ping', id: body.readUInt32BE(0) }
    case TYPE.goAway:
      return { kind: 'go-away' }
    default:
      return { kind: 'other' }
  }
}

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE((0x80000000 | (VERSION << 16) | type) >>> 0, 0)
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4)
  return Buffer.concat([head, body])
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4)
  return bytes
}

export const synStream = (stream: number, block: Buffer): Buffer =>
  // No associated stream, highest priority, no slot.
  control(TYPE.synStream, 0, Buffer.concat([words(stream, 0), Buffer.alloc(2), block]))
export const synReply = (stream: number, block: Buffer): Buffer =>
  control(TYPE.synReply, 0, Buffer.concat([words(stream), block]))
export const resetFrame = (stream: number, code: number): Buffer => control(TYPE.reset, 0, words(stream, code))
export const pingFrame = (id: number): Buffer => control(TYPE.ping, 0, words(id))
export const goAwayFrame = (lastStream: number): Buffer => control(TYPE.goAway, 0, words(lastStream, 0))

/** The head of a data frame; its bytes follow. */
export const dataHead = (stream: number, length: number, fin: boolean): Buffer =>
  words(stream, (((fin ? FLAG_FIN : 0) << 24) | length) >>> 0)

/** What one data frame carries at the most. */
export const MAX_DATA_BYTES = 0xffffff
