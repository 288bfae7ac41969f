/**
 * Work queues as client-go's: an item waits once however often it is added, is never worked on twice at a time, and when
 * it is added while it is being worked on, it comes again afterwards.
 */
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { queueMetrics } from './queue-metrics.ts'

export interface WorkQueue<T> {
  add(item: T): void
  /** Adds once `ms` have passed; of several waits for one item the earliest counts. */
  addAfter(item: T, ms: number): void
  /** Adds after a wait that doubles with each retry of the item, and is shared out over all items by a token bucket. */
  addRateLimited(item: T): void
  /** The item's next rate-limited wait starts small again. */
  forget(item: T): void
  retries(item: T): number
  /** The next item, in the order in which items became ready; undefined once the queue is shut down and empty. */
  get(): Promise<T | undefined>
  /** The worker that got an item says when it is finished with it. */
  done(item: T): void
  readonly length: number
  /** No item waits, is delayed, or is being worked on. */
  readonly idle: boolean
  shutDown(): void
}

export interface WorkQueueOptions {
  /** Wait of the first retry; default 5 ms, as the default controller rate limiter. */
  readonly baseDelayMs?: number
  /** Default 1,000 s. */
  readonly maxDelayMs?: number
}

/** Retries a second over all items of a queue, and how many at once. */
const RETRIES_PER_SECOND = 10
const RETRY_BURST = 100
/** Shorter waits only let pass what else is under way, whatever time it is. */
const MOMENT_MS = 50

export function createWorkQueue<T>(runtime: Runtime, name: string, options: WorkQueueOptions = {}): WorkQueue<T> {
  const { clock, scheduler } = runtime
  const baseDelay = options.baseDelayMs ?? 5
  const maxDelay = options.maxDelayMs ?? 1_000_000
  const label = `queue ${name}`
  const metrics = queueMetrics<T>(runtime, name)
  const delayLabel = `delay ${name}`

  let ready: T[] = []
  let head = 0
  const dirty = new Set<T>()
  const processing = new Set<T>()
  const failures = new Map<T, number>()
  const delayed = new Map<T, { at: number; timer: Timer }>()
  const waiting: ((item: T | undefined) => void)[] = []
  let tokens = RETRY_BURST
  let tokensAt = clock.monotonic()
  let stopped = false

  // One hand-over per pair of a ready item and a waiting worker; a late one finds nothing to do.
  const give = () => {
    if (head === ready.length || waiting.length === 0) return
    const item = ready[head++] as T
    if (head > 512 && head * 2 > ready.length) {
      ready = ready.slice(head)
      head = 0
    }
    processing.add(item)
    dirty.delete(item)
    metrics.taken(item, ready.length - head)
    waiting.shift()?.(item)
  }

  const push = (item: T) => {
    ready.push(item)
    metrics.depth(ready.length - head)
    if (waiting.length > 0) scheduler.handOver(label, give)
  }

  const queue: WorkQueue<T> = {
    add(item) {
      if (stopped || dirty.has(item)) return
      dirty.add(item)
      metrics.added(item)
      if (!processing.has(item)) push(item)
    },
    addAfter(item, ms) {
      if (stopped) return
      if (ms <= 0) return queue.add(item)
      const at = clock.monotonic() + ms
      const earlier = delayed.get(item)
      if (earlier !== undefined) {
        if (earlier.at <= at) return
        earlier.timer.cancel()
      }
      delayed.set(item, { at, timer: wait(item, ms, clock.setTimer) })
    },
    addRateLimited(item) {
      metrics.retried()
      const tries = failures.get(item) ?? 0
      failures.set(item, tries + 1)
      const own = Math.min(baseDelay * 2 ** Math.min(tries, 40), maxDelay)
      const ms = Math.max(own, takeToken())
      if (ms > MOMENT_MS || delayed.has(item)) queue.addAfter(item, ms)
      else if (!stopped) delayed.set(item, { at: clock.monotonic() + ms, timer: wait(item, ms, scheduler.soon) })
    },
    forget(item) {
      failures.delete(item)
    },
    retries: (item) => failures.get(item) ?? 0,
    get() {
      if (stopped && head === ready.length) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        waiting.push(resolve)
        if (head < ready.length) scheduler.handOver(label, give)
      })
    },
    done(item) {
      processing.delete(item)
      metrics.done(item)
      if (dirty.has(item)) push(item)
    },
    get length() {
      return ready.length - head
    },
    get idle() {
      return head === ready.length && processing.size === 0 && delayed.size === 0
    },
    shutDown() {
      stopped = true
      for (const { timer } of delayed.values()) timer.cancel()
      delayed.clear()
      // Workers that wait while items are ready have a hand-over under way; the others have nothing to wait for.
      while (waiting.length > ready.length - head) waiting.pop()?.(undefined)
    },
  }

  function wait(item: T, ms: number, setTimer: (ms: number, label: string, task: () => void) => Timer): Timer {
    return setTimer(ms, delayLabel, () => {
      delayed.delete(item)
      queue.add(item)
    })
  }

  /** Milliseconds until the bucket has a token for this retry. */
  function takeToken(): number {
    const now = clock.monotonic()
    tokens = Math.min(RETRY_BURST, tokens + ((now - tokensAt) / 1000) * RETRIES_PER_SECOND)
    tokensAt = now
    tokens -= 1
    return tokens >= 0 ? 0 : (-tokens / RETRIES_PER_SECOND) * 1000
  }
  return queue
}

/**
 * `workers` workers take items and reconcile them until `signal` is aborted. A reconcile that rejects is logged and its
 * item comes again, rate limited; one that resolves forgets the item's retries, unless it resolves to 'retry': then the item
 * comes again as after a failure, unlogged.
 */
export function runWorkers<T>(
  runtime: Runtime,
  queue: WorkQueue<T>,
  workers: number,
  reconcile: (item: T, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): void {
  if (signal.aborted) return
  signal.addEventListener('abort', () => queue.shutDown(), { once: true })
  const work = async () => {
    for (;;) {
      const item = await queue.get()
      if (item === undefined || signal.aborted) return
      try {
        const outcome = await reconcile(item, signal)
        if (outcome === 'retry') queue.addRateLimited(item)
        else queue.forget(item)
      } catch (error) {
        if (signal.aborted) return
        runtime.log.info(2, 'Sync failed, will retry', { item: nameOf(item), err: String(error) })
        queue.addRateLimited(item)
      } finally {
        queue.done(item)
      }
    }
  }
  for (let index = 0; index < workers; index++) void work()
}

function nameOf(item: unknown): unknown {
  return typeof item === 'string' ? item : undefined
}
