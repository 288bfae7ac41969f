/**
 * Preemption (API concept: pod priority and preemption): a pod that fits nowhere may take the place of pods of lower
 * priority. Of the nodes where that helps, the one whose victims matter least.
 */
import { type FilterState, refusalOf } from './filters.ts'
import { type NodeInfo, putOn, takeOff } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

export interface Preemption {
  readonly node: NodeInfo
  readonly victims: readonly PodInfo[]
}

/** The fewest pods of lower priority whose end makes room on this node; undefined when no number of them does. */
function victimsOn(info: PodInfo, node: NodeInfo, state: FilterState): readonly PodInfo[] | undefined {
  const lower = [...node.pods.values()].filter((present) => present.priority < info.priority)
  if (lower.length === 0) return undefined
  for (const victim of lower) takeOff(node, victim)
  if (refusalOf(info, node, state)) {
    for (const victim of lower) putOn(node, victim)
    return undefined
  }
  // The most important ones come back as long as the pod still fits.
  const victims: PodInfo[] = []
  for (const candidate of lower.sort((a, b) => b.priority - a.priority)) {
    putOn(node, candidate)
    if (refusalOf(info, node, state)) {
      takeOff(node, candidate)
      victims.push(candidate)
    }
  }
  for (const victim of victims) putOn(node, victim)
  return victims
}

const highest = (victims: readonly PodInfo[]) => Math.max(...victims.map((victim) => victim.priority))
const total = (victims: readonly PodInfo[]) => victims.reduce((sum, victim) => sum + victim.priority, 0)

export function choosePreemption(
  info: PodInfo,
  candidates: readonly NodeInfo[],
  state: FilterState,
): Preemption | undefined {
  if (info.pod['spec'].preemptionPolicy === 'Never') return undefined
  let best: Preemption | undefined
  for (const node of candidates) {
    const victims = victimsOn(info, node, state)
    if (victims === undefined || victims.length === 0) continue
    const better =
      best === undefined ||
      highest(victims) < highest(best.victims) ||
      (highest(victims) === highest(best.victims) &&
        (total(victims) < total(best.victims) ||
          (total(victims) === total(best.victims) && victims.length < best.victims.length)))
    if (better) best = { node, victims }
  }
  return best
}
