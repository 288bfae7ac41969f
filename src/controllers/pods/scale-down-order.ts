/** Which pods go first when there are too many: those that cost least to lose. */
import type { Pod } from '../../api/generated/types.ts'
import { isReady, podCondition } from './pod.ts'

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
export const phaseOrder: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/**
 * The `count` of `pods` to delete: not assigned before assigned, Pending before Unknown before Running, not ready before
 * ready, lower deletion cost first, those whose node has more of `related` first, ready or created more recently first (by
 * orders of magnitude of their age, so that ties are common and broken by uid), and more restarts first.
 */
export function podsToDelete(
  pods: readonly Pod[],
  related: readonly Pod[],
  count: number,
  nowMs: number,
): readonly Pod[] {
  if (count >= pods.length) return pods
  const perNode = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec?.nodeName
    if (node) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => {
    const node: string = pod.spec?.nodeName ?? ''
    const ready = isReady(pod)
    return {
      pod,
      assigned: node === '' ? 0 : 1,
      phase: phaseOrder[pod.status?.phase ?? ''] ?? 0,
      ready: ready ? 1 : 0,
      cost: deletionCost(pod),
      crowd: perNode.get(node) ?? 0,
      readyAge: ready ? ageRank(podCondition(pod, 'Ready')?.lastTransitionTime, nowMs) : 0,
      restarts: restartsOf(pod),
      age: ageRank(pod.metadata.creationTimestamp, nowMs),
    }
  })
  ranked.sort(
    (a, b) =>
      a.assigned - b.assigned ||
      a.phase - b.phase ||
      a.ready - b.ready ||
      a.cost - b.cost ||
      b.crowd - a.crowd ||
      a.readyAge - b.readyAge ||
      b.restarts - a.restarts ||
      a.age - b.age ||
      ((a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1),
  )
  return ranked.slice(0, count).map(({ pod }) => pod)
}

function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[deletionCostAnnotation]
  return text !== undefined && /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0
}

/** The binary logarithm of an age, so that ages of about the same length are equal; without a timestamp a pod is the youngest. */
function ageRank(time: string | undefined, nowMs: number): number {
  const age = time === undefined ? 0 : nowMs - Date.parse(time)
  return age <= 0 ? -1 : Math.floor(Math.log2(age * 1_000_000))
}

export function restartsOf(pod: Pod): number {
  const statuses = pod.status?.containerStatuses ?? []
  return statuses.reduce((most, status) => Math.max(most, status.restartCount ?? 0), 0)
}
