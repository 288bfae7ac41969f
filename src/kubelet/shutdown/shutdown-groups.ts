/** How long pods have to end when their node goes down, by their priority (KEP-2000, KEP-2712). */
import { type Pod, specOf } from '../pod.ts'

/** Pods of this priority and above, up to the next group's. */
export interface ShutdownGroup {
  readonly priority: number
  readonly seconds: number
}

/** In a kubelet's words. */
export interface ShutdownFlags {
  readonly shutdownGracePeriodMs?: number
  /** The last part of that. */
  readonly shutdownGracePeriodCriticalPodsMs?: number
  /** In place of both. */
  readonly shutdownGracePeriodByPodPriority?: readonly ShutdownGroup[]
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

/** @throws Error for what a kubelet does not take */
export function shutdownGroupsOf(flags: ShutdownFlags): readonly ShutdownGroup[] {
  const { shutdownGracePeriodMs: all = 0, shutdownGracePeriodCriticalPodsMs: critical = 0 } = flags
  const { shutdownGracePeriodByPodPriority: groups } = flags
  if (critical > all) throw new Error('shutdownGracePeriodCriticalPods is longer than shutdownGracePeriod')
  if (all > 0 && all < 1000) throw new Error('shutdownGracePeriod is either zero or at least one second')
  if (all > 0 && groups !== undefined)
    throw new Error('shutdownGracePeriodByPodPriority is said in place of shutdownGracePeriod, not beside it')
  return groups ?? groupsOfPeriods(all / 1000, critical / 1000)
}

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
