/**
 * Watches on sockets. What is ready together leaves in one write; a watcher whose socket is full is not read from until it
 * drains (who fills its stream disconnects it when that takes too long). With many watchers a short pause gathers what
 * happens in it and passes spread them over turns, so that fan-out never holds up a writer; with few, nothing waits.
 */
import type { ApiResponse, WatchEvent } from '../api/request.ts'
import { internalError, StatusError } from '../api/status.ts'
import type { Runtime } from '../base/runtime.ts'
import { drained, type Outgoing } from './respond.ts'

type WatchResponse = Extract<ApiResponse, { kind: 'watch' }>

export interface WatchWriter {
  /** Resolves when the watch has ended, whoever ended it. */
  pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void>
  stop(): void
}

const MANY = 50
const PAUSE_MS = 3
const PER_TURN = 64

export function createWatchWriter(runtime: Runtime): WatchWriter {
  const open = new Set<WatchResponse['events']>()
  let waiting: (() => void)[] = []
  let pass = false
  let stopped = false

  /** With few watchers at once; with many, in the next pass. */
  function myTurn(): Promise<void> | undefined {
    if (open.size <= MANY) return undefined
    return new Promise((resolve) => {
      waiting.push(resolve)
      if (pass) return
      pass = true
      runtime.clock.setTimer(PAUSE_MS, 'watch pass', () => {
        const due = waiting
        waiting = []
        pass = false
        release(due, 0)
      })
    })
  }

  function release(due: readonly (() => void)[], from: number): void {
    const to = Math.min(from + PER_TURN, due.length)
    for (let at = from; at < to; at++) due[at]?.()
    if (to < due.length) runtime.scheduler.later('watch pass', () => release(due, to))
  }

  async function pump(response: WatchResponse, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
    const { events, encode } = response
    if (stopped || signal.aborted) events.close()
    const close = () => events.close()
    signal.addEventListener('abort', close, { once: true })
    open.add(events)
    try {
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        const turn = myTurn()
        if (turn !== undefined) await turn
        const rest = events.drain()
        if (outgoing.destroyed === true) break
        const written = outgoing.write(rest.length === 0 ? encode(event) : encodeAll(event, rest, encode))
        if (!written) await drained(outgoing)
      }
    } catch (error) {
      if (outgoing.destroyed !== true) outgoing.write(encode(errorEvent(error)))
    } finally {
      open.delete(events)
      signal.removeEventListener('abort', close)
      events.close()
    }
    if (outgoing.destroyed !== true) outgoing.end()
  }

  return {
    pump,
    stop: () => {
      stopped = true
      for (const events of open) events.close()
    },
  }
}

function encodeAll(first: WatchEvent, rest: readonly WatchEvent[], encode: WatchResponse['encode']): Uint8Array {
  const pieces = [encode(first)]
  for (const event of rest) pieces.push(encode(event))
  return Buffer.concat(pieces)
}

/** What a stream was closed with, told to its watcher before the end. */
function errorEvent(error: unknown): WatchEvent {
  const status = error instanceof StatusError ? error : internalError(error)
  return { type: 'ERROR', object: status.toStatus() as unknown as WatchEvent['object'] }
}
