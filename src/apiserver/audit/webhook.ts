/** An audit backend that sends events to a server (API concept: audit webhook): each for itself, or many together. */
import { sleep, type Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Rate, tokenBucket } from '../../base/token-bucket.ts'
import { withRetries } from '../webhooks/retries.ts'
import { type AuditBackend, type AuditEvent, type AuditMode, type LongestEvent, shortened } from './backend.ts'

export interface AuditWebhookOptions {
  /** Sends an EventList. Rejects where it was not taken. */
  readonly send: (body: string, signal: AbortSignal) => Promise<unknown>
  readonly mode: AuditMode
  /** Between the first try and the second, in milliseconds. */
  readonly initialBackoffMs: number
  readonly batch: BatchOptions
  readonly longest?: LongestEvent
}

export interface BatchOptions {
  /** Events that wait; those beyond are lost. */
  readonly bufferSize: number
  /** Events sent together. */
  readonly maxSize: number
  /** As long as events wait for others, in milliseconds. */
  readonly maxWaitMs: number
  /** How often something is sent. Default: as often as there is something. */
  readonly throttle?: Rate
}

/** What is unsent at the end has one more try, as long as this. */
const LAST_TRY_MS = 1000

const KIND = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'
const LIST = '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['

/** An item of a list says no kind of its own. */
const item = (text: string): string => (text.startsWith(KIND) ? `{${text.slice(KIND.length)}` : text)

export function auditWebhook(runtime: Runtime, options: AuditWebhookOptions): AuditBackend {
  const { send, mode, initialBackoffMs, longest } = options
  /** No try waits any more. */
  const closing = new AbortController()
  /** No try goes on any more. */
  const stopped = new AbortController()
  const underWay = new Set<Promise<boolean>>()
  const deliver = (events: readonly AuditEvent[]): Promise<boolean> => {
    const sent = delivered(events)
    underWay.add(sent)
    void sent.finally(() => underWay.delete(sent))
    return sent
  }
  /** Whether they are there in the end. */
  async function delivered(events: readonly AuditEvent[]): Promise<boolean> {
    const told: AuditEvent[] = []
    const items: string[] = []
    for (const event of events)
      try {
        items.push(item(event.text()))
        told.push(event)
      } catch (error) {
        event.lost(error, 'webhook')
      }
    if (items.length === 0) return false
    const body = `${LIST}${items.join(',')}]}\n`
    try {
      await withRetries(runtime, { firstWaitMs: initialBackoffMs, goesOn: () => true, hurry: closing.signal }, () =>
        send(body, stopped.signal),
      )
      return told.length === events.length
    } catch (error) {
      for (const event of told) event.lost(error, 'webhook')
      return false
    }
  }
  /** @returns when all that was taken is there or told to be lost */
  const close = async () => {
    closing.abort()
    const timer = runtime.machineClock.setTimer(LAST_TRY_MS, 'audit webhook', () => stopped.abort())
    await Promise.all(underWay)
    timer.cancel()
  }
  const tooLate = (event: AuditEvent): boolean => {
    if (closing.signal.aborted) event.lost(new Error('audit backend shut down'), 'webhook')
    return closing.signal.aborted
  }
  if (mode !== 'batch')
    return {
      take: (event) =>
        tooLate(event)
          ? Promise.resolve(mode === 'blocking')
          : deliver([shortened(event, longest)]).then((isThere) => isThere || mode === 'blocking'),
      close,
    }
  const batches = createBatches(runtime, options.batch, deliver)
  return {
    take: (event) => {
      if (!tooLate(event)) batches.add(shortened(event, longest))
      return undefined
    },
    close: () => {
      batches.flush()
      return close()
    },
  }
}

function createBatches(
  { machineClock: clock }: Pick<Runtime, 'machineClock'>,
  { bufferSize, maxSize, maxWaitMs, throttle }: BatchOptions,
  deliver: (events: readonly AuditEvent[]) => Promise<unknown>,
): { add(event: AuditEvent): void; flush(): void } {
  const waiting: AuditEvent[] = []
  const mayGo = throttle === undefined ? () => true : tokenBucket(clock, throttle)
  const turnMs = throttle === undefined ? 0 : 1000 / throttle.qps
  let timer: Timer | undefined
  let isSending = false
  /** All of them, as those that came first have waited long enough. */
  let isDue = false

  const sendOne = () => {
    if (waiting.length > 0) void deliver(waiting.splice(0, maxSize))
  }
  const sendDue = async () => {
    if (isSending) return
    isSending = true
    while (waiting.length >= maxSize || (isDue && waiting.length > 0)) {
      while (!mayGo()) await sleep(clock, turnMs)
      sendOne()
    }
    isSending = false
    isDue = false
    if (waiting.length > 0) startTimer()
  }
  const startTimer = () => {
    timer ??= clock.setTimer(Math.max(maxWaitMs, 0), 'audit webhook', () => {
      timer = undefined
      isDue = true
      void sendDue()
    })
  }
  return {
    add(event) {
      if (waiting.length >= bufferSize) {
        event.lost(new Error('audit buffer queue blocked'), 'buffered')
        return
      }
      waiting.push(event)
      if (waiting.length >= maxSize) void sendDue()
      else startTimer()
    },
    /** Sends all that waits, as often as that takes. */
    flush() {
      timer?.cancel()
      while (waiting.length > 0) sendOne()
    },
  }
}
