/**
 * Scores of the nodes that passed: free room and balance of what is left, spread over the nodes, the pod's own preferences,
 * and taints that would rather not have it. Each is 0 to 100; weights are those of Kubernetes' default plugins.
 */
import type { Fields } from '../api/object.ts'
import { addInt64, type Int64 } from '../api/objects/integers.ts'
import { nodeTermMatches } from '../api/objects/node-affinity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { preferenceOf } from './devices/preference.ts'
import { countByTopology, type FilterState } from './filters.ts'
import { type Cluster, labelsOf, type NodeInfo, taintsOf } from './node-info.ts'
import { type Amounts, type PodInfo, termMatches } from './pod-info.ts'

const MAX = 100
const MEASURED = ['cpu', 'memory']

/** Raw values, later spread over 0 to 100. `reversed`: less is better; `spread`: less is better, and none is no node's score. */
interface Score {
  readonly weight: number
  readonly raw: (node: NodeInfo) => number
  /** Of the raw value, where it depends on the other nodes too. */
  readonly scaled?: (raw: number) => number
  readonly normalize: 'none' | 'to max' | 'between' | 'reversed' | 'spread'
}

/** The raw values of a node as they were found before, or as `find` finds them now. */
export type Recall = (node: NodeInfo, find: (node: NodeInfo) => readonly number[]) => readonly number[]

function leastAllocated(info: PodInfo): Score {
  const free = (node: NodeInfo, name: string) => {
    const capacity = Number(node.allocatable.get(name) ?? 0)
    const used = sum(node.assumed.get(name), info.assumed.get(name))
    return capacity === 0 ? 0 : Math.floor((MAX * Math.max(0, capacity - used)) / capacity)
  }
  return {
    weight: 1,
    normalize: 'none',
    raw: (node) => Math.floor(MEASURED.reduce((all, name) => all + free(node, name), 0) / MEASURED.length),
  }
}

/** Whether the pod makes the use of cpu and memory more alike, or less: 75 when neither. */
function balanced(info: PodInfo): Score {
  const balance = (node: NodeInfo, more: Amounts) => {
    const [cpu = 0, memory = 0] = MEASURED.map((name) =>
      fraction(node, name, sum(node.requested.get(name), more.get(name))),
    )
    return Math.floor(MAX * (1 - Math.abs(cpu - memory) / 2))
  }
  return {
    weight: 1,
    normalize: 'none',
    raw: (node) => Math.floor(75 + (balance(node, info.requests) - balance(node, new Map())) / 2),
  }
}

const sum = (a: Int64 | undefined, b: Int64 | undefined): number => Number(addInt64(a ?? 0, b ?? 0))

function fraction(node: NodeInfo, name: string, used: number): number {
  const capacity = Number(node.allocatable.get(name) ?? 0)
  return capacity === 0 ? 1 : Math.min(1, used / capacity)
}

/** Pods of one controller over the nodes, as the default constraint for them has it (skew 3). */
function siblings(info: PodInfo, nodes: readonly NodeInfo[]): Score {
  const weight = domainWeight(nodes.length)
  return {
    weight: 2,
    normalize: 'spread',
    raw: (node) => node.byController.get(info.controller) ?? 0,
    scaled: (pods) => Math.round(pods * weight + 2),
  }
}

/** The more domains, the more one pod counts. */
const domainWeight = (domains: number) => Math.log(domains + 2)

function softSpread(info: PodInfo, nodes: readonly NodeInfo[], cluster: Cluster): Score {
  const constraints = info.spread
    .filter((constraint) => !constraint.hard)
    .map(({ topologyKey, selector, maxSkew }) => {
      const domains = new Set(nodes.map((node) => labelsOf(node)[topologyKey]).filter((value) => value !== undefined))
      const counts = countByTopology(
        cluster,
        topologyKey,
        () => true,
        (other) =>
          other.pod.metadata.namespace === info.pod.metadata.namespace && selector.matches(other.pod.metadata.labels),
        true,
      )
      return { topologyKey, maxSkew, counts, weight: domainWeight(domains.size) }
    })
  return {
    weight: 2,
    normalize: 'spread',
    raw: (node) => {
      let crowd = 0
      for (const { topologyKey, maxSkew, counts, weight } of constraints) {
        const value = labelsOf(node)[topologyKey]
        if (value === undefined) return Number.NaN
        crowd += (counts.get(value) ?? 0) * weight + maxSkew - 1
      }
      return Math.round(crowd)
    },
  }
}

function taints(info: PodInfo): Score {
  const tolerations = info.pod.spec?.tolerations ?? []
  return {
    weight: 3,
    normalize: 'reversed',
    raw: (node) =>
      taintsOf(node).filter(
        (taint) =>
          taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
      ).length,
  }
}

function preferredNodes(info: PodInfo): Score {
  const preferred = info.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return {
    weight: 2,
    normalize: 'to max',
    raw: (node) =>
      preferred.reduce((sum, entry) => sum + (nodeTermMatches(entry.preference, node.node!) ? entry.weight : 0), 0),
  }
}

/** What the pod wishes of others, what others there wish of it, and that others must have it near (which weighs 1). */
function preferredPods(
  info: PodInfo,
  cluster: Cluster,
  namespaceLabels: (namespace: string) => Fields | undefined,
): Score {
  const byTopology = new Map<string, Map<string, number>>()
  const add = (key: string, value: string | undefined, weight: number) => {
    if (value === undefined) return
    const sums = byTopology.get(key) ?? new Map<string, number>()
    byTopology.set(key, sums)
    sums.set(value, (sums.get(value) ?? 0) + weight)
  }
  for (const term of info.preferred) {
    const matches = (other: PodInfo) => termMatches(term, other.pod, namespaceLabels)
    const counts = countByTopology(cluster, term.topologyKey, () => true, matches, false)
    for (const [value, count] of counts) add(term.topologyKey, value, count * term.weight)
  }
  for (const { info: other, node } of cluster.withAffinity.values())
    for (const term of [...other.preferred, ...other.affinity])
      if (termMatches(term, info.pod, namespaceLabels))
        add(term.topologyKey, labelsOf(node)[term.topologyKey], term.weight)
  return {
    weight: 2,
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
    weight: 2,
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
  cluster: Cluster,
  namespaceLabels: (namespace: string) => Fields | undefined,
  recall?: Recall,
  devicesOn?: FilterState['devicesOn'],
): readonly NodeInfo[] {
  if (nodes.length <= 1) return nodes
  const totals = totalScores(info, nodes, cluster, namespaceLabels, recall, devicesOn)
  let best = Number.NEGATIVE_INFINITY
  for (const total of totals) if (total > best) best = total
  return nodes.filter((_, i) => totals[i] === best)
}

/** The weighted sum of each node's scores, whole numbers. `recall` is for a pod whose scores look at the node alone. */
export function totalScores(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  cluster: Cluster,
  namespaceLabels: (namespace: string) => Fields | undefined,
  recall?: Recall,
  devicesOn?: FilterState['devicesOn'],
): readonly number[] {
  const scores = [
    leastAllocated(info),
    ...(MEASURED.some((name) => info.requests.get(name)) ? [balanced(info)] : []),
    ...(info.controller !== '' && info.spread.length === 0 ? [siblings(info, nodes)] : []),
    taints(info),
    ...(info.spread.some((constraint) => !constraint.hard) ? [softSpread(info, nodes, cluster)] : []),
    preferredNodes(info),
    ...(info.preferred.length || cluster.withAffinity.size ? [preferredPods(info, cluster, namespaceLabels)] : []),
    ...(devicesOn === undefined ? [] : [preferredDevices(devicesOn)]),
  ]
  const findAll = (node: NodeInfo) => scores.map(({ raw }) => raw(node))
  const found = nodes.map((node) => recall?.(node, findAll) ?? findAll(node))
  const totals = new Array<number>(nodes.length).fill(0)
  for (const [at, { weight, normalize, scaled }] of scores.entries()) {
    const raws = found.map((raw) => (scaled ? scaled(raw[at] as number) : (raw[at] as number)))
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
