import { preferenceOf } from './devices/preference.ts'
import type { FilterState } from './filters.ts'
import { preferredPods } from './inter-pod-affinity.ts'
import { preferredNodes } from './node-affinity.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { PluginArgs, ScorePlugin } from './profile.ts'
import { balance, resourceScore } from './resource-scores.ts'
import { preferNoTaints } from './taint-toleration.ts'
import { softSpread } from './topology-spread.ts'

const MAX = 100

/** Raw values, later spread over 0 to 100. `reversed`: less is better; `spread`: less is better, and none is no node's score. */
export interface Score {
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
    preferNoTaints(info),
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
  for (const [at, score] of scores.entries()) addScore(totals, found, at, nodes, score, state)
  return totals
}

/** `found`: the raw values of each node, of which the one at `at` is this score's. */
function addScore(
  totals: number[],
  found: readonly (readonly number[])[],
  at: number,
  nodes: readonly NodeInfo[],
  { plugin, normalize, scaled }: Score,
  { profile }: FilterState,
): void {
  const weight = profile.weights.get(plugin) ?? 0
  const values = scaled === undefined ? undefined : found.map((raw, i) => scaled(raw[at]!, nodes[i]!))
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (let i = 0; normalize !== 'none' && i < found.length; i++) {
    const value = values === undefined ? found[i]![at]! : values[i]!
    if (value < low) low = value
    if (value > high) high = value
  }
  for (let i = 0; i < found.length; i++) {
    const value = values === undefined ? found[i]![at]! : values[i]!
    totals[i]! += weight * normalized(value, low, high, normalize)
  }
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
