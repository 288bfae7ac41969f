/**
 * Pods whose tracking finalizer is off by now, though a watch that lags still shows it: noted in the status again, after their
 * uids have moved on into the counts, they would count twice.
 */

import type { Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { isTracked, trackingFinalizer } from './job.ts'

export interface Releases {
  /**
   * Takes the finalizer off by `remove`, once, whether a sync of the job or the queue of orphans asks, or both. Rejects when `remove`
   * does; what asks next tries again.
   */
  release(pod: Pod, remove: () => Promise<void>): Promise<void>
  /** The watch shows the pod so; `isGone`: it shows that the pod has gone. */
  seen(pod: Pod, isGone: boolean): void
  /** The pod as it is by now. */
  current(pod: Pod): KubeObject
}

export function createReleases(): Releases {
  /** Both by uid, each until the watch has caught up with it: those under way or over, and those over. */
  const removals = new Map<string, Promise<void>>()
  const released = new Set<string>()

  async function run(uid: string, remove: () => Promise<void>): Promise<void> {
    try {
      await remove()
      // The watch may have been faster than the answer.
      if (removals.has(uid)) released.add(uid)
    } catch (error) {
      removals.delete(uid)
      throw error
    }
  }

  return {
    release({ metadata: { uid = '' } }, remove) {
      return getOrInsertComputed(removals, uid, () => run(uid, remove))
    },
    seen(pod, isGone) {
      if (removals.size === 0 || (!isGone && isTracked(pod))) return
      removals.delete(pod.metadata.uid ?? '')
      released.delete(pod.metadata.uid ?? '')
    },
    current(pod) {
      if (!released.has(pod.metadata.uid ?? '')) return pod
      const finalizers = pod.metadata.finalizers?.filter((name) => name !== trackingFinalizer) ?? []
      return { ...pod, metadata: { ...pod.metadata, finalizers } }
    },
  }
}
