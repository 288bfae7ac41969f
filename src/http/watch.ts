/**
 * Watches on sockets. What is ready together leaves in one write (the watch cache decides when many watchers are told); a
 * watcher whose socket is full is not read from until it drains, and who feeds it closes it when that takes too long.
 */
import type { ApiResponse, WatchEvent } from '../api/request.ts'
import { internalError, StatusError } from '../api/status.ts'
import { drained, type Outgoing } from './respond.ts'
import { sliced } from './slices.ts'

type WatchResponse = Extract<ApiResponse, { kind: 'watch' }>

export interface WatchWriter {
  /** Resolves when the watch has ended, whoever ended it. */
  pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void>
  /** Ends all watches, and those that still come. */
  stop(): void
}

/** The first state of a large collection leaves in pieces, so that other requests run in between. */
const WRITE_BYTES = 128 * 1024

export function createWatchWriter(): WatchWriter {
  const open = new Set<WatchResponse['events']>()
  let stopped = false

  async function pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
    const { events, encode } = response
    const close = () => events.close()
    if (stopped || signal.aborted) close()
    signal.addEventListener('abort', close, { once: true })
    open.add(events)
    try {
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        const rest = events.drain()
        if (isGone(outgoing)) break
        if (rest.length === 0) {
          if (!outgoing.write(encode(event))) await drained(outgoing)
          continue
        }
        for (const bytes of sliced(encodeEach(event, rest, encode), WRITE_BYTES)) {
          if (!outgoing.write(bytes)) await drained(outgoing)
          if (isGone(outgoing)) break
        }
      }
    } catch (error) {
      if (!isGone(outgoing)) outgoing.write(encode(errorEvent(error)))
    } finally {
      open.delete(events)
      signal.removeEventListener('abort', close)
      close()
    }
    if (!isGone(outgoing)) outgoing.end()
  }

  return {
    pump,
    stop: () => {
      stopped = true
      for (const events of open) events.close()
    },
  }
}

const isGone = (outgoing: Outgoing): boolean => outgoing.destroyed === true

function* encodeEach(
  first: WatchEvent,
  rest: readonly WatchEvent[],
  encode: WatchResponse['encode'],
): Generator<Uint8Array> {
  yield encode(first)
  for (const event of rest) yield encode(event)
}

/** What a stream was closed with, told to its watcher before the end. */
function errorEvent(error: unknown): WatchEvent {
  const status = error instanceof StatusError ? error : internalError(error)
  return { type: 'ERROR', object: status.toStatus() as unknown as WatchEvent['object'] }
}
