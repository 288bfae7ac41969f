/** How long pods have to end when their node goes down, by their priority (KEP-2000, KEP-2712). */
import { type Pod, specOf } from '../pod.ts'

/** Pods of this priority and above, up to the next group's. */
export interface ShutdownGroup {
  readonly priority: number
  readonly seconds: number
}

/** Of pods that the node itself cannot do without. */
const CRITICAL = 2_000_000_000

/** Of shutdownGracePeriod and shutdownGracePeriodCriticalPods: the critical pods have the last part of the time for themselves. */
export const groupsOfPeriods = (seconds: number, criticalSeconds: number): readonly ShutdownGroup[] =>
  seconds === 0
    ? []
    : [
        { priority: 0, seconds: Math.floor(seconds - criticalSeconds) },
        { priority: CRITICAL, seconds: Math.floor(criticalSeconds) },
      ]

export const wholeSeconds = (groups: readonly ShutdownGroup[]): number =>
  groups.reduce((sum, { seconds }) => sum + seconds, 0)

/** In the order in which they end. Pods below the lowest priority are of its group. */
export function podsByGroup(
  groups: readonly ShutdownGroup[],
  pods: readonly Pod[],
): readonly (readonly [ShutdownGroup, readonly Pod[]])[] {
  const rising = [...groups].sort((a, b) => a.priority - b.priority)
  const groupOf = (pod: Pod) => rising.findLast(({ priority }) => priority <= (specOf(pod).priority ?? 0)) ?? rising[0]
  return rising.map((group) => [group, pods.filter((pod) => groupOf(pod) === group)] as const)
}
