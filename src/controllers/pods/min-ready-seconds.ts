/** When a pod that is ready counts as available (API concept: minReadySeconds of a workload). */
import type { Pod } from '../../api/generated/types.ts'
import { podCondition } from './pod.ts'

/** spec.minReadySeconds of a workload: for so long a pod must be ready before it counts as available. */
export const minReadySecondsOf = (owner: { readonly spec?: { readonly minReadySeconds?: number } }): number =>
  owner.spec?.minReadySeconds ?? 0

/** Ready, and for `minReadySeconds` already. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const ready = podCondition(pod, 'Ready')
  if (ready?.status !== 'True') return false
  if (minReadySeconds === 0) return true
  const since = ready.lastTransitionTime
  return since !== undefined && Date.parse(since) + minReadySeconds * 1000 <= nowMs
}
