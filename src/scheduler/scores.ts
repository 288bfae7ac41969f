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
  /**
   * Whether the raw value is of the node and the pod's shape alone, and so may be remembered. Then every pod of the shape has this score:
   * what is remembered of a node is told by its place in a list.
   */
  readonly isOfShape: boolean
  readonly normalize: 'none' | 'to max' | 'between' | 'reversed' | 'spread'
}

/** The raw values of a node as they were found before, or as `find` finds them now. */
export type Recall = (node: NodeInfo, find: (node: NodeInfo) => readonly number[]) => readonly number[]

function resources(info: PodInfo, { scoringStrategy }: PluginArgs): Score {
  return {
    plugin: 'NodeResourcesFit',
    normalize: 'none',
    isOfShape: true,
    raw: (node) => resourceScore(info, node, scoringStrategy),
  }
}

/** Whether the pod makes the use of these resources more alike, or less: 75 when neither. */
function balanced(info: PodInfo, { balancedResources }: PluginArgs): Score {
  return {
    plugin: 'NodeResourcesBalancedAllocation',
    normalize: 'none',
    isOfShape: true,
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
    isOfShape: false,
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
  const found = nodes.filter((_, i) => totals[i] === best)
  if (found.length === 0) throw new Error(`no score of ${nodes.length} nodes is a number`)
  return found
}

function scoresFor(info: PodInfo, nodes: readonly NodeInfo[], state: FilterState): readonly Score[] {
  const { profile, cluster, devicesOn, volumeScoreOn } = state
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
    ...(volumeScoreOn === undefined
      ? []
      : [{ plugin: 'VolumeBinding', normalize: 'none', isOfShape: false, raw: volumeScoreOn } as const]),
    ...(image === undefined
      ? []
      : [{ plugin: 'ImageLocality', normalize: 'none', isOfShape: false, raw: image } as const]),
  ]
  return scores.filter(({ plugin }) => weights.get(plugin))
}

/** What may be remembered, and is not held against the other nodes'. */
const isOwn = ({ normalize, isOfShape }: Score) => normalize === 'none' && isOfShape

/** The weighted sum of each node's scores, whole numbers. `recall` gives what was found for another pod of the shape. */
export function totalScores(
  info: PodInfo,
  nodes: readonly NodeInfo[],
  state: FilterState,
  recall?: Recall,
): readonly number[] {
  const { weights } = state.profile
  const weightOf = ({ plugin }: Score) => weights.get(plugin) ?? 0
  const scores = scoresFor(info, nodes, state)
  const own = scores.filter(isOwn)
  const amongOthers = scores.filter((score) => score.isOfShape && !isOwn(score))
  /** The sum of its own, and then what is held against the other nodes'. */
  const findAll = (node: NodeInfo) => [
    own.reduce((sum, score) => sum + weightOf(score) * score.raw(node), 0),
    ...amongOthers.map(({ raw }) => raw(node)),
  ]
  const found = nodes.map((node) => recall?.(node, findAll) ?? findAll(node))
  const totals = found.map((values) => values[0]!)
  for (const [i, score] of amongOthers.entries())
    addScore(totals, (node) => found[node]![i + 1]!, score.normalize, weightOf(score))
  for (const score of scores) {
    if (score.isOfShape) continue
    const values = nodes.map(score.raw)
    addScore(totals, (node) => values[node]!, score.normalize, weightOf(score))
  }
  const { extenderScore } = state
  return extenderScore === undefined ? totals : totals.map((total, i) => total + extenderScore(nodes[i]!))
}

/** `rawOf` gives the raw value of the node at a place. */
function addScore(totals: number[], rawOf: (place: number) => number, how: Score['normalize'], weight: number): void {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (let i = 0; i < totals.length; i++) {
    const value = rawOf(i)
    if (value < low) low = value
    if (value > high) high = value
  }
  // Most say the same of all nodes. With 'spread' some may say nothing (NaN), which is neither low nor high.
  const alike = low === high && how !== 'spread' ? normalized(low, low, high, how) : undefined
  if (alike === 0) return
  for (let i = 0; i < totals.length; i++) totals[i]! += weight * (alike ?? normalized(rawOf(i), low, high, how))
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
