/** What every work queue tells of itself, under the names of Kubernetes' workqueue metrics; nothing where no metrics are kept. */
import { exponentialBuckets } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'

const SECONDS = exponentialBuckets(1e-8, 10, 10)

export interface QueueMetrics<T> {
  added(item: T): void
  taken(item: T, depth: number): void
  done(item: T): void
  retried(): void
  depth(length: number): void
}

const silent: QueueMetrics<unknown> = {
  added: () => {},
  taken: () => {},
  done: () => {},
  retried: () => {},
  depth: () => {},
}

export function queueMetrics<T>({ metrics, machineClock: clock }: Runtime, name: string): QueueMetrics<T> {
  if (metrics === undefined) return silent
  const adds = metrics.counter('workqueue_adds_total', 'Items added to the queue.', ['name']).child(name)
  const depth = metrics.gauge('workqueue_depth', 'Items that wait.', ['name']).child(name)
  const retries = metrics.counter('workqueue_retries_total', 'Items that came again.', ['name']).child(name)
  const waited = metrics
    .histogram('workqueue_queue_duration_seconds', 'Seconds an item waits.', ['name'], SECONDS)
    .child(name)
  const worked = metrics
    .histogram('workqueue_work_duration_seconds', 'Seconds an item is worked on.', ['name'], SECONDS)
    .child(name)
  const since = new Map<T, number>()
  const started = new Map<T, number>()
  const seconds = (at: number) => (clock.monotonic() - at) / 1000
  metrics.sampled('workqueue_unfinished_work_seconds', 'Seconds of all that is being worked on.', ['name'], () => {
    let sum = 0
    for (const at of started.values()) sum += seconds(at)
    return [[sum, name]]
  })
  metrics.sampled(
    'workqueue_longest_running_processor_seconds',
    'Seconds of what has been worked on the longest.',
    ['name'],
    () => {
      let longest = 0
      for (const at of started.values()) longest = Math.max(longest, seconds(at))
      return [[longest, name]]
    },
  )
  return {
    added(item) {
      adds.add()
      if (!since.has(item)) since.set(item, clock.monotonic())
    },
    taken(item, length) {
      const now = clock.monotonic()
      waited.observe((now - (since.get(item) ?? now)) / 1000)
      since.delete(item)
      started.set(item, now)
      depth.set(length)
    },
    done(item) {
      const now = clock.monotonic()
      worked.observe((now - (started.get(item) ?? now)) / 1000)
      started.delete(item)
    },
    retried: () => retries.add(),
    depth: (length) => depth.set(length),
  }
}
