/** Which of a job's pods go first when there are too many: those that are least far. Unlike a ReplicaSet's, it does not ask what they cost. */
import type { Pod } from '../../api/generated/types.ts'
import { isReady, podCondition } from '../pods/pod.ts'
import { phaseOrder, restartsOf } from '../pods/scale-down-order.ts'

/**
 * The `count` of `pods` to delete: not assigned before assigned, Pending before Unknown before Running, not ready before ready, ready more
 * recently first, more restarts first, created more recently first; else in the order in which they are given.
 */
export function surplusPods(pods: readonly Pod[], count: number): readonly Pod[] {
  const ranked = pods.map((pod) => ({
    pod,
    assigned: pod.spec?.nodeName ? 1 : 0,
    phase: phaseOrder[pod.status?.phase ?? ''] ?? 0,
    ready: isReady(pod) ? 1 : 0,
    readyAt: isReady(pod) ? msOf(podCondition(pod, 'Ready')?.lastTransitionTime) : 0,
    restarts: restartsOf(pod),
    createdAt: msOf(pod.metadata.creationTimestamp),
  }))
  ranked.sort(
    (a, b) =>
      a.assigned - b.assigned ||
      a.phase - b.phase ||
      a.ready - b.ready ||
      b.readyAt - a.readyAt ||
      b.restarts - a.restarts ||
      b.createdAt - a.createdAt,
  )
  return ranked.slice(0, count).map(({ pod }) => pod)
}

/** Without a time it is as recent as can be. */
const msOf = (time: string | null | undefined): number => (time ? Date.parse(time) : Number.MAX_SAFE_INTEGER)
