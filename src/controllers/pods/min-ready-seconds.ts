/** When a pod that is ready counts as available (API concept: minReadySeconds of a workload). */
import type { Pod } from '../../api/generated/types.ts'
import { podCondition } from './pod.ts'

/** spec.minReadySeconds of a workload: for so long a pod must be ready before it counts as available. */
export const minReadySecondsOf = (owner: { readonly spec?: { readonly minReadySeconds?: number } }): number =>
  owner.spec?.minReadySeconds ?? 0

/** Ready, and for `minReadySeconds` already. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const at = availableFrom(pod, minReadySeconds)
  return at !== undefined && at <= nowMs
}

/** In milliseconds; undefined for one that is not ready, or does not say since when. */
function availableFrom(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, 'Ready')
  if (ready?.status !== 'True') return undefined
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY
  return ready.lastTransitionTime === undefined
    ? undefined
    : Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000
}

/** When the next of those that are ready becomes available; in milliseconds, undefined where none will by time alone. */
export function nextAvailableAt(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  let next: number | undefined
  for (const pod of pods) {
    const at = availableFrom(pod, minReadySeconds)
    if (at !== undefined && at > nowMs && (next === undefined || at < next)) next = at
  }
  return next
}
