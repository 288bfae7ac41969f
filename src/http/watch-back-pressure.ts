/**
 * Watches on sockets. What is ready together leaves in one write (the watch cache decides when many watchers are told); a
 * watcher whose socket is full is not read from until it drains, and its source closes it when that takes too long.
 *
 * Watchers that are told the same at the same time share the very bytes, chunk framing of HTTP/1.1 included: a thousand of
 * them cost a thousand writes of one buffer, and nothing else.
 */
import { asKubeObject } from '../api/object.ts'
import { type ApiResponse, ConnectionCut, type WatchEvent } from '../api/request.ts'
import { internalError, StatusError } from '../api/status.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { drained, isGone } from './drained.ts'
import { cut, type Outgoing } from './respond.ts'
import { sliced } from './slices.ts'
import { acceptWebSocket, type Upgrade } from './websocket.ts'

type WatchResponse = Extract<ApiResponse, { kind: 'watch' }>

export interface WatchWriter {
  /** Resolves when the watch has ended, on either side. */
  pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void>
  /** The same on an HTTP/1.1 connection whose client asks for a WebSocket. */
  overWebSocket(response: WatchResponse, upgrade: Upgrade, signal: AbortSignal): Promise<void>
  readonly traffic: WatchTraffic
  /** Ends all watches, and those that still come. */
  stop(): void
}

/** What the watches of this server have been told. */
export interface WatchTraffic {
  /** How often something was written for one. */
  readonly writes: number
  /** undefined: what they were told has been given to the operating system. Otherwise resolves when it has, or after `mostMs`. */
  written(clock: Clock, mostMs: number): Promise<void> | undefined
}

/** The first state of a large collection leaves in pieces, so that other requests run in between. */
const WRITE_BYTES = 128 * 1024

/** How long what was told before a cut may take to leave. */
const CUT_PATIENCE_MS = 1000

export function createWatchWriter(clock: Clock): WatchWriter {
  const open = new Set<WatchResponse['events']>()
  const together = createTogether()
  /** Whether there is something that the operating system has not taken. */
  const behind = new Map<object, () => boolean>()
  let writes = 0
  let stopped = false

  /** Events that end with the signal and with stop(). What is given back ends them too, and forgets them. */
  function follow(events: WatchResponse['events'], signal: AbortSignal): () => void {
    const close = () => events.close()
    if (stopped || signal.aborted) close()
    signal.addEventListener('abort', close, { once: true })
    open.add(events)
    return () => {
      open.delete(events)
      signal.removeEventListener('abort', close)
      close()
    }
  }

  async function pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
    const { events, encode } = response
    const unfollow = follow(events, signal)
    let isBusy = false
    behind.set(events, () => !isGone(outgoing) && (isBusy || unsent(outgoing) > 0))
    const framed = outgoing.chunkedEncoding === true
    if (framed) outgoing.chunkedEncoding = false
    try {
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        const rest = events.drain()
        if (isGone(outgoing)) break
        writes++
        isBusy = true
        for (const bytes of together.writes(encodeEach(event, rest, encode), framed)) {
          if (!outgoing.write(bytes)) await drained(outgoing)
          if (isGone(outgoing)) break
        }
        if (isGone(outgoing)) break
        isBusy = false
      }
    } catch (error) {
      if (error instanceof ConnectionCut) {
        await untilNot(() => !isGone(outgoing) && unsent(outgoing) > 0, clock, CUT_PATIENCE_MS)
        cut(outgoing)
        return
      }
      if (!isGone(outgoing)) outgoing.write(chunk([encode(errorEvent(error))], framed))
    } finally {
      behind.delete(events)
      unfollow()
    }
    if (isGone(outgoing)) return
    if (framed) outgoing.end(LAST_CHUNK)
    else outgoing.end()
  }

  async function overWebSocket(response: WatchResponse, upgrade: Upgrade, signal: AbortSignal): Promise<void> {
    const { events, encode } = response
    const unfollow = follow(events, signal)
    try {
      const peer = await acceptWebSocket(upgrade, response.contentType === 'application/json' ? 'text' : 'binary')
      if (peer === undefined) return
      peer.closed.addEventListener('abort', () => events.close(), { once: true })
      try {
        for (let event = await events.next(); event !== undefined; event = await events.next()) {
          writes++
          behind.set(events, () => true)
          for (const bytes of encodeEach(event, events.drain(), encode)) await peer.send(bytes)
          behind.delete(events)
        }
      } catch (error) {
        if (error instanceof ConnectionCut) {
          // Without the message that ends a WebSocket.
          upgrade.socket.end()
          return
        }
        await peer.send(encode(errorEvent(error)))
      }
      peer.close()
    } finally {
      behind.delete(events)
      unfollow()
    }
  }

  return {
    pump,
    overWebSocket,
    traffic: {
      get writes() {
        return writes
      },
      written(clock, mostMs) {
        const isBehind = () => [...behind.values()].some((isSo) => isSo())
        return isBehind() ? untilNot(isBehind, clock, mostMs) : undefined
      },
    },
    stop: () => {
      stopped = true
      for (const events of open) events.close()
    },
  }
}

/** Sockets tell when they have taken more, but not of what lies between: TLS, and the frames of HTTP/2. */
const LOOK_MS = 1

async function untilNot(isSo: () => boolean, clock: Clock, mostMs: number): Promise<void> {
  for (const end = clock.monotonic() + mostMs; isSo() && clock.monotonic() < end; ) await sleep(clock, LOOK_MS)
}

/** Bytes that wait in this process: of the answer, and of the socket or session that carries it. */
const unsent = ({ writableLength = 0, stream, socket }: Outgoing): number =>
  writableLength + (stream?.writableLength ?? 0) + (socket?.writableLength ?? 0)

function encodeEach(
  first: WatchEvent,
  rest: readonly WatchEvent[],
  encode: WatchResponse['encode'],
): readonly Uint8Array[] {
  const lines = [encode(first)]
  for (const event of rest) lines.push(encode(event))
  return lines
}

const LAST_CHUNK = '0\r\n\r\n'
const CHUNK_END = Buffer.from('\r\n')

function chunk(pieces: readonly Uint8Array[], framed: boolean): Uint8Array {
  let size = 0
  for (const piece of pieces) size += piece.length
  if (framed) return Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), ...pieces, CHUNK_END])
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, size)
}

/** The writes that carry some lines; those of the watcher before are given again when its lines were the same. */
function createTogether() {
  const last = [false, true].map(() => ({ lines: [] as readonly Uint8Array[], writes: [] as readonly Uint8Array[] }))

  return {
    writes(lines: readonly Uint8Array[], framed: boolean): Iterable<Uint8Array> {
      const known = last[framed ? 1 : 0] as (typeof last)[number]
      if (sameItems(lines, known.lines)) return known.writes
      let size = 0
      for (const line of lines) size += line.length
      if (size > WRITE_BYTES) return largeWrites(lines, framed)
      known.lines = lines
      known.writes = [chunk(lines, framed)]
      return known.writes
    },
  }
}

function* largeWrites(lines: readonly Uint8Array[], framed: boolean): Generator<Uint8Array> {
  for (const bytes of sliced(lines, WRITE_BYTES)) yield chunk([bytes], framed)
}

function sameItems(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** What a stream was closed with, told to its watcher before the end. */
function errorEvent(error: unknown): WatchEvent {
  const status = error instanceof StatusError ? error : internalError(error)
  return { type: 'ERROR', object: asKubeObject(status.toStatus()) }
}
