/**
 * Pods whose tracking finalizer is off by now, though a watch that lags still shows it: noted in the status again, after their
 * uids have moved on into the counts, they would count twice.
 */
import type { KubeObject } from '../../api/object.ts'
import { isTracked, trackingFinalizer } from './job.ts'

export interface Releases {
  /** The API server has taken the finalizer off. */
  released(pod: KubeObject): void
  /** The watch shows the pod so; `isGone`: it shows that the pod has gone. */
  seen(pod: KubeObject, isGone: boolean): void
  /** The pod as it is by now. */
  current(pod: KubeObject): KubeObject
}

export function createReleases(): Releases {
  /** By uid; each until the watch has caught up with it. */
  const released = new Set<string>()
  return {
    released: ({ metadata }) => void released.add(metadata.uid ?? ''),
    seen(pod, isGone) {
      if (released.size > 0 && (isGone || !isTracked(pod))) released.delete(pod.metadata.uid ?? '')
    },
    current(pod) {
      if (!released.has(pod.metadata.uid ?? '')) return pod
      const finalizers = pod.metadata.finalizers?.filter((name) => name !== trackingFinalizer) ?? []
      return { ...pod, metadata: { ...pod.metadata, finalizers } }
    },
  }
}
