/** The words of FailedScheduling: `0/5 nodes are available: 3 Insufficient cpu. preemption: …`. `count` is of all nodes. */
import type { Hopeless } from './preemption.ts'
import type { Refusal } from './refusal.ts'

/** None fits, for a reason of the pod's own; extenders give none. */
export const noneOf = (count: number, reason: string): string =>
  `0/${count} nodes are available:${reason === '' ? '' : ` ${reason}.`}`

/** None fits, for the reasons that nodes have. */
export const noneFits = (count: number, refusals: Iterable<Refusal>): string => noneOf(count, summary(refusals))

/** What the pod needs is on none of them. */
export const foundOnNone = (count: number, reason: string): string => `${noneOf(count, reason)} not found`

/** What eviction would not cure on any of them. */
export const preemptionHelpsNone = (count: number): string => `preemption: ${noVictims(count, [])}`

/** Why no pods are evicted: `hopeless` says it of the nodes where eviction could help; on the others it could not. */
export function noVictims(count: number, hopeless: readonly Hopeless[]): string {
  const helpless = Array.from({ length: count - hopeless.length }, () => NOT_HELPFUL)
  return noneOf(count, summary([...hopeless, ...helpless]))
}

const NOT_HELPFUL: Hopeless = { reasons: ['Preemption is not helpful for scheduling'] }

/** `1 node(s) were unschedulable, 2 Insufficient cpu`: each reason with how many nodes gave it, sorted. */
function summary(refusals: Iterable<Hopeless>): string {
  const counts = new Map<string, number>()
  for (const { reasons } of refusals) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ')
}
