/** What a kubelet of real containers counts of its work, under the names of a kubelet's metrics. */
import type { Metrics } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { containerPath, type Pod, specOf, uidOf } from './pod.ts'
import { StartContainerError } from './sync-error.ts'

export interface WorkMetrics {
  /** The runtime has been asked for all that it has. */
  relisted<T>(task: () => Promise<T>): Promise<T>
  /** A pod's containers are looked after: for the first time, or again. */
  synced<T>(pod: Pod, task: () => Promise<T>): Promise<T>
  /** What is left of a pod is cleared away. */
  terminated<T>(task: () => Promise<T>): Promise<T>
  forget(uid: string): void
  /** A container is started, or is not: by what `signal` ends nothing is counted. */
  started(pod: Pod, container: string, task: () => Promise<void>, signal: AbortSignal): Promise<void>
}

/** The code of a failure without a reason of its own: what an error says would be a series for each. */
const OTHER = 'Unknown'
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const COUNTS = [1, 2, 4, 8, 16]

export function createWorkMetrics({ clock, metrics }: Runtime & { readonly metrics: Metrics }): WorkMetrics {
  const relistSeconds = metrics
    .histogram('kubelet_pleg_relist_duration_seconds', 'Duration in seconds for relisting pods in PLEG.', [], SECONDS)
    .child()
  const relistEvery = metrics
    .histogram('kubelet_pleg_relist_interval_seconds', 'Interval in seconds between relisting in PLEG.', [], SECONDS)
    .child()
  const lastSeen = metrics
    .gauge('kubelet_pleg_last_seen_seconds', 'Timestamp in seconds when PLEG was last seen active.')
    .child()
  const perPod = metrics
    .histogram('kubelet_containers_per_pod_count', 'The number of containers per pod.', [], COUNTS)
    .child()
  const workSeconds = metrics.histogram(
    'kubelet_pod_worker_duration_seconds',
    'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    ['operation_type'],
    SECONDS,
  )
  const containers = metrics.counter('kubelet_started_containers_total', 'Cumulative number of containers started', [
    'container_type',
  ])
  const failures = metrics.counter(
    'kubelet_started_containers_errors_total',
    'Cumulative number of errors when starting containers',
    ['code', 'container_type'],
  )
  /** Pods, by uid. */
  const begun = new Set<string>()
  let relistBegan: number | undefined

  async function timed<T>(observe: (seconds: number) => void, task: () => Promise<T>): Promise<T> {
    const began = clock.monotonic()
    try {
      return await task()
    } finally {
      observe((clock.monotonic() - began) / 1000)
    }
  }

  return {
    async relisted(task) {
      const began = clock.monotonic()
      if (relistBegan !== undefined) relistEvery.observe((began - relistBegan) / 1000)
      relistBegan = began
      const result = await timed(relistSeconds.observe, task)
      lastSeen.set(Math.floor(clock.now() / 1000))
      return result
    },
    synced(pod, task) {
      const isFirst = !begun.has(uidOf(pod))
      if (isFirst) {
        begun.add(uidOf(pod))
        perPod.observe(specOf(pod).containers.length)
      }
      return timed(workSeconds.child(isFirst ? 'create' : 'sync').observe, task)
    },
    terminated: (task) => timed(workSeconds.child('terminated').observe, task),
    forget: (uid) => void begun.delete(uid),
    async started(pod, container, task, signal) {
      const type = TYPES[containerPath(pod, container).replace(/\{.*$/s, '')] ?? 'container'
      try {
        await task()
        containers.child(type).add()
      } catch (error) {
        if (signal.aborted) throw error
        const code = error instanceof StartContainerError ? error.reason : OTHER
        // What waits for its next start has not been tried.
        if (code !== 'CrashLoopBackOff') {
          containers.child(type).add()
          failures.child(code, type).add()
        }
        throw error
      }
    },
  }
}

const TYPES: Readonly<Record<string, string>> = {
  'spec.initContainers': 'init_container',
  'spec.ephemeralContainers': 'ephemeral_container',
}
