/** How many pods a controller has deleted for a taint, and how late, under kube-controller-manager's names; nothing where no metrics are kept. */
import type { Runtime } from '../../base/runtime.ts'

export interface DeletionMetrics {
  /** From now on the pod is to go. */
  due(key: string): void
  deleted(key: string): void
  /** It went by itself. */
  gone(key: string): void
}

const silent: DeletionMetrics = { due: () => {}, deleted: () => {}, gone: () => {} }
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]

export function deletionMetrics(
  { metrics, clock }: Pick<Runtime, 'metrics' | 'clock'>,
  controller: string,
): DeletionMetrics {
  if (metrics === undefined) return silent
  const deletions = metrics.counter(`${controller}_pod_deletions_total`, 'Pods that were deleted for a taint.').child()
  const seconds = metrics
    .histogram(
      `${controller}_pod_deletion_duration_seconds`,
      'Seconds from when a pod was to go for a taint until it was deleted.',
      [],
      SECONDS,
    )
    .child()
  const since = new Map<string, number>()
  return {
    due(key) {
      if (!since.has(key)) since.set(key, clock.monotonic())
    },
    deleted(key) {
      deletions.add()
      const now = clock.monotonic()
      seconds.observe((now - (since.get(key) ?? now)) / 1000)
      since.delete(key)
    },
    gone: (key) => void since.delete(key),
  }
}
