/**
 * Scores of the nodes that passed: free room and balance of what is left, spread over the nodes, the pod's own preferences,
 * and taints that would rather not have it. Each is 0 to 100; weights are those of Kubernetes' default plugins.
 */
import { nodeTermMatches } from '../api/objects/node-affinity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { preferenceOf } from './devices/preference.ts'
import { countByTopology, type FilterState, hasTopologyOf, isCounted } from './filters.ts'
import { labelsOf, type NodeInfo, taintsOf } from './node-info.ts'
import { type PodInfo, termMatches } from './pod-info.ts'
import type { PluginArgs, ScorePlugin } from './profile.ts'
import { balance, resourceScore } from './resource-scores.ts'

const MAX = 100
const HOSTNAME = 'kubernetes.io/hostname'

/** Raw values, later spread over 0 to 100. `reversed`: less is better; `spread`: less is better, and none is no node's score. */
interface Score {
  readonly plugin: ScorePlugin
  readonly raw: (node: NodeInfo) => number
  /** Of the raw value, where it depends on the other nodes too. */
  readonly scaled?: (raw: number, node: NodeInfo) => number
  readonly normalize: 'none' | 'to max' | 'between' | 'reversed' | 'spread'
}

/** The raw values of a node as they were found before, or as `find` finds them now. */
export type Recall = (node: NodeInfo, find: (node: NodeInfo) => readonly number[]) => readonly number[]

function resources(info: PodInfo, { scoringStrategy }: PluginArgs): Score {
  return {
    plugin: 'NodeResourcesFit',
    normalize: 'none',
    raw: (node) => resourceScore(info, node, scoringStrategy),
  }
}

/** Whether the pod makes the use of these resources more alike, or less: 75 when neither. */
function balanced(info: PodInfo, { balancedResources }: PluginArgs): Score {
  return {
    plugin: 'NodeResourcesBalancedAllocation',
    normalize: 'none',
    raw: (node) =>
      Math.floor(
        75 +
          (balance(node, balancedResources, info.requests, info) - balance(node, balancedResources, new Map(), info)) /
            2,
      ),
  }
}

/** The more domains, the more one pod counts. */
const domainWeight = (domains: number) => Math.log(domains + 2)

/** Constraints that are wished: the pod's own, or by default those of the pods that it belongs to. */
function softSpread(info: PodInfo, nodes: readonly NodeInfo[], state: FilterState): Score {
  const { cluster, spread, isSpreadBySystem } = state
  const soft = spread.filter((constraint) => !constraint.hard)
  const hasAll = (node: NodeInfo) => isSpreadBySystem || hasTopologyOf(node, soft)
  const scored = nodes.filter(hasAll)
  const counted = soft.map((constraint) => {
    const { topologyKey, maxSkew } = constraint
    const domains = new Set(scored.map((node) => labelsOf(node)[topologyKey]))
    domains.delete(undefined)
    const isHost = topologyKey === HOSTNAME
    const inDomain =
      isHost || domains.size === 0
        ? undefined
        : countByTopology(
            cluster,
            topologyKey,
            (node) => hasAll(node) && isCounted(constraint, info, node),
            (node) => state.spreadOn(constraint, node),
            true,
          )
    return { topologyKey, maxSkew, weight: domainWeight(isHost ? scored.length : domains.size), inDomain, constraint }
  })
  return {
    plugin: 'PodTopologySpread',
    normalize: 'spread',
    raw: () => 0,
    scaled: (_, node) => {
      if (!hasAll(node)) return Number.NaN
      let crowd = 0
      for (const { topologyKey, maxSkew, weight, inDomain, constraint } of counted) {
        const value = labelsOf(node)[topologyKey]
        if (value === undefined) continue
        const pods = topologyKey === HOSTNAME ? state.spreadOn(constraint, node) : (inDomain?.get(value) ?? 0)
        crowd += pods * weight + maxSkew - 1
      }
      return Math.round(crowd)
    },
  }
}

function taints(info: PodInfo): Score {
  const tolerations = info.pod.spec?.tolerations ?? []
  return {
    plugin: 'TaintToleration',
    normalize: 'reversed',
    raw: (node) =>
      taintsOf(node).filter(
        (taint) =>
          taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
      ).length,
  }
}

function preferredNodes(info: PodInfo, { addedAffinity }: PluginArgs): Score {
  const preferred = [
    ...(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(info.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
  ]
  return {
    plugin: 'NodeAffinity',
    normalize: 'to max',
    raw: (node) =>
      preferred.reduce((sum, entry) => sum + (nodeTermMatches(entry.preference, node.node!) ? entry.weight : 0), 0),
  }
}

/** What the pod wishes of others, what others there wish of it, and that others must have it near, which weighs 1 unless told otherwise. */
function preferredPods(info: PodInfo, { cluster, namespaceLabels, profile }: FilterState): Score {
  const { hardPodAffinityWeight } = profile.args
  const byTopology = new Map<string, Map<string, number>>()
  const add = (key: string, value: string | undefined, weight: number) => {
    if (value === undefined) return
    const sums = byTopology.get(key) ?? new Map<string, number>()
    byTopology.set(key, sums)
    sums.set(value, (sums.get(value) ?? 0) + weight)
  }
  for (const term of info.preferred) {
    const on = (node: NodeInfo) => {
      let matching = 0
      for (const other of node.pods.values()) if (termMatches(term, other.pod, namespaceLabels)) matching++
      return matching
    }
    const counts = countByTopology(cluster, term.topologyKey, () => true, on, false)
    for (const [value, count] of counts) add(term.topologyKey, value, count * term.weight)
  }
  for (const { info: other, node } of cluster.withAffinity.values()) {
    for (const term of other.preferred)
      if (termMatches(term, info.pod, namespaceLabels))
        add(term.topologyKey, labelsOf(node)[term.topologyKey], term.weight)
    if (hardPodAffinityWeight === 0) continue
    for (const term of other.affinity)
      if (termMatches(term, info.pod, namespaceLabels))
        add(term.topologyKey, labelsOf(node)[term.topologyKey], hardPodAffinityWeight)
  }
  return {
    plugin: 'InterPodAffinity',
    normalize: 'between',
    raw: (node) => {
      let total = 0
      for (const [key, sums] of byTopology) total += sums.get(labelsOf(node)[key] ?? '') ?? 0
      return total
    },
  }
}

/** Requests that have alternatives would rather have an earlier one. */
function preferredDevices(devicesOn: NonNullable<FilterState['devicesOn']>): Score {
  return {
    plugin: 'DynamicResources',
    normalize: 'to max',
    raw: (node) => {
      const plan = devicesOn(node)
      return typeof plan === 'string' ? 0 : preferenceOf(plan)
    },
  }
}

/** The best nodes for the pod (several when they score alike), of those that passed the filters. */
export function bestNodes(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  state: FilterState,
  recall?: Recall,
): readonly NodeInfo[] {
  if (nodes.length <= 1) return nodes
  const totals = totalScores(info, nodes, state, recall)
  let best = Number.NEGATIVE_INFINITY
  for (const total of totals) if (total > best) best = total
  return nodes.filter((_, i) => totals[i] === best)
}

function scoresFor(info: PodInfo, nodes: readonly NodeInfo[], state: FilterState): readonly Score[] {
  const { profile, cluster, devicesOn } = state
  const { args, weights } = profile
  const others = info.preferred.length || (cluster.withAffinity.size && !args.ignorePreferredTermsOfExistingPods)
  const image = state.imageScore?.(info.pod)
  const scores: readonly Score[] = [
    resources(info, args),
    ...(args.balancedResources.some((name) => info.requests.get(name)) ? [balanced(info, args)] : []),
    taints(info),
    ...(state.spread.some((constraint) => !constraint.hard) ? [softSpread(info, nodes, state)] : []),
    preferredNodes(info, args),
    ...(others ? [preferredPods(info, state)] : []),
    ...(devicesOn === undefined ? [] : [preferredDevices(devicesOn)]),
    ...(image === undefined
      ? []
      : [
          {
            plugin: 'ImageLocality',
            normalize: 'none',
            raw: () => 0,
            scaled: (_: number, node: NodeInfo) => image(node),
          } as const,
        ]),
  ]
  return scores.filter(({ plugin }) => weights.get(plugin))
}

/** The weighted sum of each node's scores, whole numbers. `recall` is for a pod whose scores look at the node alone. */
export function totalScores(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  state: FilterState,
  recall?: Recall,
): readonly number[] {
  const scores = scoresFor(info, nodes, state)
  const findAll = (node: NodeInfo) => scores.map(({ raw }) => raw(node))
  const found = nodes.map((node) => recall?.(node, findAll) ?? findAll(node))
  const totals = new Array<number>(nodes.length).fill(0)
  for (const [at, { plugin, normalize, scaled }] of scores.entries()) {
    const weight = state.profile.weights.get(plugin) ?? 0
    const raws = found.map((raw, i) => (scaled ? scaled(raw[at] as number, nodes[i] as NodeInfo) : (raw[at] as number)))
    let low = Number.POSITIVE_INFINITY
    let high = Number.NEGATIVE_INFINITY
    for (const value of raws) {
      if (value < low) low = value
      if (value > high) high = value
    }
    for (let i = 0; i < raws.length; i++) totals[i]! += weight * normalized(raws[i] as number, low, high, normalize)
  }
  return totals
}

function normalized(value: number, low: number, high: number, how: Score['normalize']): number {
  switch (how) {
    case 'none':
      return value
    case 'to max':
      return high === 0 ? 0 : Math.floor((MAX * value) / high)
    case 'between':
      return high === low ? 0 : Math.floor((MAX * (value - low)) / (high - low))
    case 'reversed':
      return high === 0 ? MAX : MAX - Math.floor((MAX * value) / high)
    case 'spread':
      if (Number.isNaN(value)) return 0
      return high === 0 ? MAX : Math.floor((MAX * (high + low - value)) / high)
  }
}
