/**
 * Scores of the nodes that passed: free room and balance of what is left, spread over the nodes, the pod's own preferences,
 * and taints that would rather not have it. Each is 0 to 100; weights are those of Kubernetes' default plugins.
 */
import type { Fields } from '../api/object.ts'
import { addInt64 } from '../api/objects/integers.ts'
import { nodeTermMatches } from '../api/objects/node-affinity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { countByTopology } from './filters.ts'
import { type Cluster, labelsOf, type NodeInfo, taintsOf } from './node-info.ts'
import { type PodInfo, termMatches } from './pod-info.ts'

const MAX = 100
const MEASURED = ['cpu', 'memory']

/** Raw values, later spread over 0 to 100; `reversed`: less is better. */
interface Score {
  readonly weight: number
  readonly raw: (node: NodeInfo) => number
  readonly normalize: 'none' | 'to max' | 'reversed'
}

function leastAllocated(info: PodInfo): Score {
  return {
    weight: 1,
    normalize: 'none',
    raw: (node) => {
      const free = MEASURED.map((name) => MAX * (1 - fractionUsed(info, node, name)))
      return free.reduce((sum, share) => sum + share, 0) / MEASURED.length
    },
  }
}

function balanced(info: PodInfo): Score {
  return {
    weight: 1,
    normalize: 'none',
    raw: (node) => {
      const [cpu = 0, memory = 0] = MEASURED.map((name) => fractionUsed(info, node, name))
      return MAX * (1 - Math.abs(cpu - memory) / 2)
    },
  }
}

function fractionUsed(info: PodInfo, node: NodeInfo, name: string): number {
  const capacity = node.allocatable.get(name) ?? 0
  if (capacity === 0) return 1
  const used = Number(addInt64(node.assumed.get(name) ?? 0, info.assumed.get(name) ?? 0))
  return Math.min(1, used / Number(capacity))
}

function siblings(info: PodInfo): Score {
  return {
    weight: 2,
    normalize: 'reversed',
    raw: (node) => (info.controller === '' ? 0 : (node.byController.get(info.controller) ?? 0)),
  }
}

function softSpread(info: PodInfo, cluster: Cluster): Score {
  const constraints = info.spread.filter((constraint) => !constraint.hard)
  const counts = constraints.map((constraint) =>
    countByTopology(
      cluster,
      constraint.topologyKey,
      () => true,
      (other) =>
        other.pod.metadata.namespace === info.pod.metadata.namespace &&
        constraint.selector.matches(other.pod.metadata.labels),
      true,
    ),
  )
  return {
    weight: 2,
    normalize: 'reversed',
    raw: (node) =>
      constraints.reduce((sum, constraint, i) => {
        const value = labelsOf(node)[constraint.topologyKey]
        return sum + (value === undefined ? 0 : (counts[i]!.get(value) ?? 0))
      }, 0),
  }
}

function taints(info: PodInfo): Score {
  const tolerations = (info.pod['spec'].tolerations ?? []) as readonly Fields[]
  return {
    weight: 3,
    normalize: 'reversed',
    raw: (node) =>
      taintsOf(node).filter(
        (taint) =>
          taint['effect'] === 'PreferNoSchedule' &&
          !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
      ).length,
  }
}

function preferredNodes(info: PodInfo): Score {
  const preferred = (info.pod['spec'].affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ??
    []) as readonly Fields[]
  return {
    weight: 2,
    normalize: 'to max',
    raw: (node) =>
      preferred.reduce(
        (sum, entry) => sum + (nodeTermMatches(entry['preference'], node.node!) ? entry['weight'] : 0),
        0,
      ),
  }
}

function preferredPods(
  info: PodInfo,
  cluster: Cluster,
  namespaceLabels: (namespace: string) => Fields | undefined,
): Score {
  const byTerm = info.preferred.map((term) =>
    countByTopology(
      cluster,
      term.topologyKey,
      () => true,
      (other) => termMatches(term, other.pod, namespaceLabels),
      false,
    ),
  )
  return {
    weight: 2,
    normalize: 'to max',
    raw: (node) =>
      info.preferred.reduce((sum, term, i) => {
        const value = labelsOf(node)[term.topologyKey]
        return sum + (value === undefined ? 0 : (byTerm[i]!.get(value) ?? 0) * term.weight)
      }, 0),
  }
}

/** The best nodes for the pod (several when they score alike), of those that passed the filters. */
export function bestNodes(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  cluster: Cluster,
  namespaceLabels: (namespace: string) => Fields | undefined,
): readonly NodeInfo[] {
  if (nodes.length <= 1) return nodes
  const scores = [
    leastAllocated(info),
    balanced(info),
    siblings(info),
    taints(info),
    ...(info.spread.some((constraint) => !constraint.hard) ? [softSpread(info, cluster)] : []),
    preferredNodes(info),
    ...(info.preferred.length ? [preferredPods(info, cluster, namespaceLabels)] : []),
  ]
  const totals = new Array<number>(nodes.length).fill(0)
  for (const score of scores) {
    const raw = nodes.map(score.raw)
    const [low, high] = [Math.min(...raw), Math.max(...raw)]
    for (const [i, value] of raw.entries()) totals[i]! += score.weight * normalized(value, low, high, score.normalize)
  }
  const best = Math.max(...totals)
  return nodes.filter((_, i) => Math.round(totals[i]!) === Math.round(best))
}

function normalized(value: number, low: number, high: number, how: Score['normalize']): number {
  if (how === 'none') return value
  if (high === low) return how === 'reversed' ? MAX : 0
  const share = (MAX * (value - Math.min(low, 0))) / (high - Math.min(low, 0))
  return how === 'reversed' ? MAX - share : share
}
