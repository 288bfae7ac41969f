/**
 * A connection that speaks SPDY/3.1: streams on one socket, opened by either side. Kubelets and client-go send whatever a
 * socket takes and count no windows, so neither does this: back pressure is the socket's. While one stream's reader is slow
 * nothing more is read for any, and so no more than a chunk is held for each.
 */
import { Duplex } from 'node:stream'
import { drained } from '../drained.ts'
import {
  createFrameParser,
  dataHead,
  type Frame,
  goAwayFrame,
  MAX_DATA_BYTES,
  pingFrame,
  RESET,
  resetFrame,
  SpdyError,
  synReply,
  synStream,
} from './frames.ts'
import { createHeaderReader, createHeaderWriter, type SpdyHeaders } from './header-block.ts'

export interface SpdyStream extends Duplex {
  readonly id: number
  /** What its opener said of it. */
  readonly headers: SpdyHeaders
}

/**
 * What comes on a stream, to its end. A loop over the stream itself breaks the stream off then: what is still being written on it is lost, and
 * by Node before 24 a peer that has closed meanwhile is sent a reset, by which its kernel throws away the rest of other streams.
 */
export const chunksOf = (stream: SpdyStream): AsyncIterable<Buffer> =>
  stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>

export interface SpdySession {
  /** Opens a stream. Resolves when the other side has accepted it; rejects when it refuses, or the connection ends. */
  open(headers: SpdyHeaders): Promise<SpdyStream>
  /** Ends the connection, after what has been written. */
  close(): void
  /** Resolves when the connection has ended, with why where it did not end well. */
  readonly ended: Promise<Error | undefined>
}

export interface SpdySessionOptions {
  readonly role: 'client' | 'server'
  /** What came on the socket before. */
  readonly head?: Buffer
  /** Takes a stream that the other side opens; without it they are refused. */
  readonly onStream?: (stream: SpdyStream) => void
  /** Streams that may be open at once. Default 1,000. */
  readonly maxStreams?: number
}

const MAX_STREAMS = 1000

export function createSpdySession(socket: Duplex, options: SpdySessionOptions): SpdySession {
  const { role, onStream, maxStreams = MAX_STREAMS } = options
  const streams = new Map<number, Held>()
  const writeHeaders = createHeaderWriter()
  const headerReader = createHeaderReader()
  const parser = createFrameParser()
  let nextId = role === 'client' ? 1 : 2
  let lastOfOther = 0
  let over: Error | undefined
  let isOver = false

  const send = (...parts: readonly Buffer[]): boolean => {
    if (socket.destroyed || socket.writableEnded) return true
    let takesMore = true
    socket.cork()
    for (const part of parts) takesMore = socket.write(part)
    socket.uncork()
    return takesMore
  }

  function streamOf(id: number, headers: SpdyHeaders): Held {
    const held = createStream(id, headers, { send, socket, gone: () => streams.delete(id) })
    streams.set(id, held)
    return held
  }

  async function take(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case 'syn-stream':
        return opened(frame.stream, frame.fin, await headerReader.read(frame.block))
      case 'syn-reply':
      case 'headers': {
        await headerReader.read(frame.block)
        const held = streams.get(frame.stream)
        if (frame.kind === 'syn-reply') held?.accepted()
        if (frame.fin) held?.finished()
        return
      }
      case 'data': {
        // Of a stream that is gone something may still be on its way.
        const held = streams.get(frame.stream)
        if (held === undefined) return
        if (frame.bytes.length > 0) await held.received(frame.bytes)
        if (frame.fin) held.finished()
        return
      }
      case 'reset':
        streams.get(frame.stream)?.reset(new SpdyError(`the stream was reset with code ${frame.code}`))
        return
      case 'ping':
        // One's own come back; those of the other side are of the other parity.
        if (frame.id % 2 === (role === 'client' ? 0 : 1)) return answer(pingFrame(frame.id))
        return
      case 'go-away':
      case 'other':
        return
    }
  }

  /** Nothing more is read until the other side takes the answers it asks for. */
  async function answer(frame: Buffer): Promise<void> {
    if (!send(frame)) await drained(socket)
  }

  function opened(id: number, fin: boolean, headers: SpdyHeaders): void | Promise<void> {
    if (id % 2 !== (role === 'client' ? 0 : 1) || id <= lastOfOther) {
      return answer(resetFrame(id, RESET.protocolError))
    }
    lastOfOther = id
    if (onStream === undefined || streams.size >= maxStreams) {
      return answer(resetFrame(id, RESET.refusedStream))
    }
    const held = streamOf(id, headers)
    held.accepted()
    send(synReply(id, writeHeaders({})))
    if (fin) held.finished()
    onStream(held.stream)
  }

  async function run(): Promise<Error | undefined> {
    try {
      if (options.head !== undefined && options.head.length > 0)
        for (const frame of parser.push(options.head)) await take(frame)
      for await (const chunk of socket as AsyncIterable<Buffer>)
        for (const frame of parser.push(chunk)) await take(frame)
      return undefined
    } catch (error) {
      if (error instanceof SpdyError) send(goAwayFrame(lastOfOther))
      return error as Error
    } finally {
      isOver = true
      headerReader.close()
      socket.destroy()
    }
  }

  socket.on('error', () => {})
  const ended = run().then((error) => {
    over = error ?? new SpdyError('the connection has ended')
    for (const held of [...streams.values()]) held.cutOff(over)
    return error
  })

  return {
    ended,
    open: (headers) => {
      if (isOver) return Promise.reject(over ?? new SpdyError('the connection has ended'))
      if (streams.size >= maxStreams) return Promise.reject(new SpdyError(`${maxStreams} streams are open already`))
      const id = nextId
      nextId += 2
      const held = streamOf(id, headers)
      send(synStream(id, writeHeaders(headers)))
      return held.whenAccepted.then(() => held.stream)
    },
    close: () => {
      socket.end()
    },
  }
}

interface Held {
  readonly stream: SpdyStream
  readonly whenAccepted: Promise<void>
  accepted(): void
  /** Resolves when the stream's reader takes more. */
  received(bytes: Buffer): Promise<void>
  /** The other side sends no more. */
  finished(): void
  /** Refused before it was accepted; after that, the other side neither sends nor reads any more, which is how Go's peers end. */
  reset(refusal: Error): void
  /** The connection has ended: whatever is complete may still be read. */
  cutOff(error: Error): void
}

interface Wire {
  readonly send: (...parts: readonly Buffer[]) => boolean
  readonly socket: Duplex
  readonly gone: () => void
}

function createStream(id: number, headers: SpdyHeaders, { send, socket, gone }: Wire): Held {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // The caller that opened it hears of it; a stream without a reader may fail all the same.
  promise.catch(() => {})
  let wanted: (() => void) | undefined
  const readOn = () => {
    wanted?.()
    wanted = undefined
  }
  let heardEnd = false
  let isAccepted = false
  /** Whether what is written is thrown away by the other side. */
  let isUnread = false

  const whenDrained = (takesMore: boolean, done: () => void) => {
    if (takesMore || socket.destroyed) return done()
    const over = () => {
      socket.off('drain', over)
      socket.off('close', over)
      done()
    }
    socket.on('drain', over)
    socket.on('close', over)
  }

  const stream = new Duplex({
    read: readOn,
    write(chunk: Buffer, _encoding, done) {
      if (isUnread) return done()
      const parts: Buffer[] = []
      for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
        const part = chunk.subarray(at, at + MAX_DATA_BYTES)
        parts.push(dataHead(id, part.length, false), part)
      }
      whenDrained(send(...parts), done)
    },
    final(done) {
      if (!isUnread) send(dataHead(id, 0, true))
      done()
    },
    destroy(error, done) {
      // Both sides have said all: there is nothing to break off.
      if (!isUnread && !(heardEnd && stream.writableFinished)) send(resetFrame(id, RESET.cancel))
      gone()
      readOn()
      reject(error ?? new SpdyError('the stream was closed'))
      done(error)
    },
  })
  stream.on('error', () => {})
  const broken = (error: Error) => {
    heardEnd = true
    stream.destroy(error)
  }
  return {
    stream: Object.assign(stream, { id, headers }),
    whenAccepted: promise,
    accepted: () => {
      isAccepted = true
      resolve()
    },
    received: (bytes) => {
      if (stream.destroyed || stream.push(bytes)) return Promise.resolve()
      return new Promise((take) => {
        wanted = take
      })
    },
    finished: () => {
      heardEnd = true
      if (!stream.destroyed) stream.push(null)
    },
    reset: (refusal) => {
      if (!isAccepted) return broken(refusal)
      isUnread = true
      heardEnd = true
      if (!stream.destroyed) stream.push(null)
    },
    cutOff: (error) => {
      if (!heardEnd) broken(error)
    },
  }
}
