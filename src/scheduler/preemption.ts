/**
 * Preemption (API concept: pod priority and preemption): a pod that fits nowhere may take the place of pods of lower
 * priority. Of the nodes where that helps, the one whose victims matter least. Disruption budgets are kept where that is possible.
 */

import type { PodDisruptionBudget } from '../api/generated/types.ts'
import { type CompiledSelector, labelSelectorOf } from '../api/objects/label-selector.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { type FilterState, recount, refusalOf } from './filters.ts'
import { type NodeInfo, putOn, takeOff } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

/** A node, and the pods there whose end makes room. */
export interface Candidate {
  readonly node: NodeInfo
  readonly victims: readonly PodInfo[]
  /** Victims whose end breaks a budget. */
  readonly violations: number
}

/** Why no pod's end would help on a node. */
export interface Hopeless {
  readonly reasons: readonly string[]
  /** The pod fits there as it is: what refused it is none of the filters. */
  readonly isNeedless?: string
}

const NO_VICTIMS: Hopeless = { reasons: ['No preemption victims found for incoming pod'] }

/**
 * The fewest pods of lower priority whose end makes room on this node, or what refuses the pod when no number of them does. Those whose end
 * breaks a budget are kept first, then the most important ones.
 */
function victimsOn(
  info: PodInfo,
  node: NodeInfo,
  state: FilterState,
  budgets: readonly PodDisruptionBudget[],
): Candidate | Hopeless {
  const lower = [...node.pods.values()].filter((present) => present.priority < info.priority)
  if (lower.length === 0) return NO_VICTIMS
  const off = (victim: PodInfo) => {
    takeOff(node, victim)
    recount(info, victim, node, state, -1)
  }
  const on = (victim: PodInfo) => {
    putOn(node, victim)
    recount(info, victim, node, state, 1)
  }
  lower.forEach(off)
  const refusal = refusalOf(info, node, state)
  if (refusal !== undefined) {
    lower.forEach(on)
    return refusal
  }
  lower.sort((a, b) => b.priority - a.priority || startOf(a) - startOf(b))
  const guarded = guardedOf(lower, budgets)
  const victims: PodInfo[] = []
  // They come back as long as the pod still fits.
  for (const candidate of [...guarded, ...lower.filter((one) => !guarded.has(one))]) {
    on(candidate)
    if (refusalOf(info, node, state)) {
      off(candidate)
      victims.push(candidate)
    }
  }
  victims.forEach(on)
  return { node, victims, violations: victims.filter((victim) => guarded.has(victim)).length }
}

/** One that has not started yet comes after all that have. */
const startOf = ({ pod }: PodInfo): number => Date.parse(pod.status?.startTime ?? '') || Number.MAX_SAFE_INTEGER

/** Those whose end would break a budget, were they to go in this order. A budget that selects all pods guards none here. */
function guardedOf(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<PodInfo> {
  const guarded = new Set<PodInfo>()
  for (const budget of budgets) {
    const selector = selectorOf(budget)
    if (selector.requirements.length === 0) continue
    const { disruptionsAllowed: allowedNow = 0, disruptedPods } = budget.status ?? {}
    let allowed = allowedNow
    for (const one of pods) {
      const { namespace, name = '', labels } = one.pod.metadata
      if (namespace !== budget.metadata.namespace || !selector.matches(labels)) continue
      // It has been counted already.
      if (disruptedPods?.[name] !== undefined) continue
      if (--allowed < 0) guarded.add(one)
    }
  }
  return new Set(pods.filter((one) => guarded.has(one)))
}

const selectors = new WeakMap<PodDisruptionBudget, CompiledSelector>()

function selectorOf(budget: PodDisruptionBudget): CompiledSelector {
  return getOrInsertComputed(selectors, budget, () => labelSelectorOf(budget.spec?.selector))
}

const highest = (victims: readonly PodInfo[]) => Math.max(...victims.map((victim) => victim.priority))
/** Raised so that each victim more weighs more, of a negative priority too. */
const total = (victims: readonly PodInfo[]) => victims.reduce((sum, victim) => sum + victim.priority + 2 ** 31, 0)
/** Of the most important victims the one that started first. */
const earliest = (victims: readonly PodInfo[]) => {
  const most = highest(victims)
  return Math.min(...victims.filter(({ priority }) => priority === most).map(startOf))
}

/** Below zero when `a` is the better one: what is the same in one thing is told apart by the next. */
function compare(a: Candidate, b: Candidate): number {
  return (
    a.violations - b.violations ||
    highest(a.victims) - highest(b.victims) ||
    total(a.victims) - total(b.victims) ||
    a.victims.length - b.victims.length ||
    earliest(b.victims) - earliest(a.victims)
  )
}

/**
 * Nodes where the end of pods would make room; `budgets`: all PodDisruptionBudgets there are, `hopeless` is told why there is none on a node. Of many
 * nodes as many are looked at as the profile says, from one by `chance` (0 to 1).
 */
export function preemptionCandidates(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  state: FilterState,
  budgets: readonly PodDisruptionBudget[],
  chance: () => number = () => 0,
  hopeless: (why: Hopeless) => void = () => {},
): readonly Candidate[] {
  const { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: least } = state.profile.args
  const count = nodes.length
  const enough = Math.max(Math.floor((count * percentage) / 100), least)
  const start = enough < count ? Math.floor(chance() * count) : 0
  const found: Candidate[] = []
  let breaksNone = false
  for (let i = 0; i < count; i++) {
    const node = nodes[(start + i) % count] as NodeInfo
    const candidate = victimsOn(info, node, state, budgets)
    if ('reasons' in candidate) hopeless(candidate)
    else if (candidate.victims.length > 0) {
      found.push(candidate)
      breaksNone ||= candidate.violations === 0
    } else hopeless({ reasons: [], isNeedless: node.name })
    if (found.length >= enough && breaksNone) break
  }
  return found
}

/** The one whose victims matter least: of those that are alike the first. */
export const leastHarm = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.reduce<Candidate | undefined>(
    (best, one) => (best === undefined || compare(one, best) < 0 ? one : best),
    undefined,
  )
