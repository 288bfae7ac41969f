/** Plugin PodTopologySpread: constraints that a pod must keep, and those that it would rather keep (KEP-895, KEP-3094). */
import { selectsNode } from '../api/objects/node-affinity.ts'
import type { SpreadSelector } from './default-spread.ts'
import type { FilterState, NodeFilter } from './filters.ts'
import { labelsOf, type NodeInfo } from './node-info.ts'
import type { PodInfo, SpreadConstraint } from './pod-info.ts'
import type { SchedulerProfile } from './profile.ts'
import { hard, soft } from './refusal.ts'
import type { Score } from './scores.ts'
import { hasUntoleratedTaint } from './taint-toleration.ts'
import { countByTopology } from './topology-counts.ts'

const HOSTNAME = 'kubernetes.io/hostname'

export const topologySpread: NodeFilter = (info, node, state) => {
  const constraints = state.spread.filter((constraint) => constraint.hard)
  const labels = labelsOf(node)
  for (const [index, constraint] of constraints.entries()) {
    const value = labels[constraint.topologyKey]
    if (value === undefined)
      return hard("node(s) didn't match pod topology spread constraints (missing required label)")
    const counts = state.spreadCounts[index]!
    const least = counts.size < constraint.minDomains ? 0 : Math.min(...counts.values())
    const self = constraint.selector.matches(info.pod.metadata.labels) ? 1 : 0
    if ((counts.get(value) ?? 0) + self - least > constraint.maxSkew)
      return soft("node(s) didn't match pod topology spread constraints")
  }
  return undefined
}

export function defaultSpread({ selector }: SpreadSelector, { args }: SchedulerProfile): readonly SpreadConstraint[] {
  return args.defaultConstraints.map(({ topologyKey, maxSkew, minDomains, isHard }) => ({
    topologyKey,
    selector,
    maxSkew,
    minDomains,
    hard: isHard,
    honorsAffinity: true,
    honorsTaints: false,
  }))
}

/** The node has the labels of all constraints: pods on others count for none of them. */
export function hasTopologyOf(node: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  const labels = labelsOf(node)
  return constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined)
}

/** By the constraint's nodeAffinityPolicy and nodeTaintsPolicy (KEP-3094) the pods on this node count. */
export function countsForSpread(
  { honorsAffinity, honorsTaints }: SpreadConstraint,
  info: PodInfo,
  node: NodeInfo,
): boolean {
  if (honorsAffinity && !selectsNode(info.pod.spec ?? {}, node.node!)) return false
  return !(honorsTaints && hasUntoleratedTaint(info, node))
}

/** The pod counts; one that is being deleted does not. */
export function matchesSpread({ selector }: SpreadConstraint, info: PodInfo, { pod }: PodInfo): boolean {
  const { namespace, deletionTimestamp, labels } = pod.metadata
  return namespace === info.pod.metadata.namespace && deletionTimestamp === undefined && selector.matches(labels)
}

/** The more domains, the more one pod counts. */
const domainWeight = (domains: number) => Math.log(domains + 2)

/** Constraints that are wished: the pod's own, or by default those of the pods that it belongs to. */
export function softSpread(info: PodInfo, nodes: readonly NodeInfo[], state: FilterState): Score {
  const { cluster, spread, isSpreadBySystem } = state
  const soft = spread.filter((constraint) => !constraint.hard)
  const hasAll = (node: NodeInfo) => isSpreadBySystem || hasTopologyOf(node, soft)
  const scored = isSpreadBySystem ? nodes : nodes.filter(hasAll)
  const counted = soft.flatMap((constraint) => {
    const { topologyKey, maxSkew } = constraint
    if (topologyKey === HOSTNAME)
      return { topologyKey, maxSkew, weight: domainWeight(scored.length), inDomain: undefined, constraint }
    const domains = new Set<string>()
    for (const node of scored) {
      const value = labelsOf(node)[topologyKey]
      if (value !== undefined) domains.add(value)
    }
    // A topology that none of these nodes has says nothing of any of them.
    if (domains.size === 0) return []
    const inDomain = countByTopology(
      cluster,
      topologyKey,
      (node) => hasAll(node) && countsForSpread(constraint, info, node),
      (node) => state.spreadOn(constraint, node),
      true,
    )
    return { topologyKey, maxSkew, weight: domainWeight(domains.size), inDomain, constraint }
  })
  return {
    plugin: 'PodTopologySpread',
    normalize: 'spread',
    isOfShape: false,
    raw: (node) => {
      if (!hasAll(node)) return Number.NaN
      let crowd = 0
      const labels = labelsOf(node)
      for (const { topologyKey, maxSkew, weight, inDomain, constraint } of counted) {
        const value = labels[topologyKey]
        if (value === undefined) continue
        const pods = inDomain === undefined ? state.spreadOn(constraint, node) : (inDomain.get(value) ?? 0)
        crowd += pods * weight + maxSkew - 1
      }
      return Math.round(crowd)
    },
  }
}
