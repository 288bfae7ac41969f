/**
 * A scheduler's profile: the name by which pods choose it, the plugins that filter and score for it, and what they are told
 * (KubeSchedulerConfiguration). Without one everything is as kube-scheduler has it by default.
 */
import type { NodeAffinity } from '../api/generated/types.ts'

export const FILTER_PLUGINS = [
  'NodeName',
  'NodeUnschedulable',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'VolumeBinding',
  'VolumeZone',
  'PodTopologySpread',
  'InterPodAffinity',
  'DynamicResources',
  'NodeDeclaredFeatures',
] as const
export type FilterPlugin = (typeof FILTER_PLUGINS)[number]

export type ScorePlugin =
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodeResourcesFit'
  | 'NodeResourcesBalancedAllocation'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'DynamicResources'
  | 'ImageLocality'
  | 'VolumeBinding'

export interface ResourceWeight {
  readonly name: string
  readonly weight: number
}

/** Points of a line from use (percent) to score (0 to 10). */
export type UtilizationShape = readonly { readonly utilization: number; readonly score: number }[]

export interface ScoringStrategy {
  readonly type: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio'
  readonly resources: readonly ResourceWeight[]
  /** Of RequestedToCapacityRatio. */
  readonly shape: UtilizationShape
}

export interface DefaultConstraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly isHard: boolean
}

export interface PluginArgs {
  /** NodeResourcesFit: the filter does not look at these extended resources, nor at those below these prefixes. */
  readonly ignoredResources: ReadonlySet<string>
  readonly ignoredResourceGroups: ReadonlySet<string>
  readonly scoringStrategy: ScoringStrategy
  /** NodeResourcesBalancedAllocation. */
  readonly balancedResources: readonly string[]
  /** InterPodAffinity: what a required term of a pod that is there weighs. */
  readonly hardPodAffinityWeight: number
  readonly ignorePreferredTermsOfExistingPods: boolean
  /** NodeAffinity: besides the pod's own. */
  readonly addedAffinity: NodeAffinity | undefined
  /** PodTopologySpread: for pods that have no constraints but belong to a Service or a workload. */
  readonly defaultConstraints: readonly DefaultConstraint[]
  /** They are the scheduler's own: a node without their label is scored by the others. */
  readonly areSystemDefaults: boolean
  /** VolumeBinding. */
  readonly bindTimeoutMs: number
  readonly volumeShape: UtilizationShape
  /** DynamicResources: how long devices may take to be made ready. */
  readonly deviceBindingTimeoutMs: number
  /** DefaultPreemption: the least number of nodes on which victims are looked for, as a share of all nodes and in itself. */
  readonly minCandidateNodesPercentage: number
  readonly minCandidateNodesAbsolute: number
}

export interface SchedulerProfile {
  readonly schedulerName: string
  /** 0: less of them the more there are. */
  readonly percentageOfNodesToScore: number
  /** In the order in which they are asked. */
  readonly filters: readonly FilterPlugin[]
  /** What looks at the pod before any node: those that are on for it, also where they are off as filters. */
  readonly preFilters: readonly FilterPlugin[]
  readonly weights: ReadonlyMap<ScorePlugin, number>
  /** DefaultPreemption: pods of lower priority make room. */
  readonly preempts: boolean
  /** SchedulingGates. */
  readonly heedsGates: boolean
  /** DynamicResources: a pod is not tried before its claims for devices are there. */
  readonly awaitsClaims: boolean
  readonly args: PluginArgs
}

export const DEFAULT_SCHEDULER = 'default-scheduler'

export const DEFAULT_WEIGHTS: ReadonlyMap<ScorePlugin, number> = new Map([
  ['TaintToleration', 3],
  ['NodeAffinity', 2],
  ['NodeResourcesFit', 1],
  ['PodTopologySpread', 2],
  ['InterPodAffinity', 2],
  ['DynamicResources', 2],
  ['NodeResourcesBalancedAllocation', 1],
  ['ImageLocality', 1],
  ['VolumeBinding', 1],
])

const CPU_AND_MEMORY: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

export const DEFAULT_ARGS: PluginArgs = {
  ignoredResources: new Set(),
  ignoredResourceGroups: new Set(),
  scoringStrategy: { type: 'LeastAllocated', resources: CPU_AND_MEMORY, shape: [] },
  balancedResources: CPU_AND_MEMORY.map(({ name }) => name),
  hardPodAffinityWeight: 1,
  ignorePreferredTermsOfExistingPods: false,
  addedAffinity: undefined,
  defaultConstraints: [
    { topologyKey: 'kubernetes.io/hostname', maxSkew: 3, minDomains: 1, isHard: false },
    { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, minDomains: 1, isHard: false },
  ],
  areSystemDefaults: true,
  bindTimeoutMs: 600_000,
  volumeShape: [
    { utilization: 0, score: 10 },
    { utilization: 100, score: 0 },
  ],
  deviceBindingTimeoutMs: 600_000,
  minCandidateNodesPercentage: 10,
  minCandidateNodesAbsolute: 100,
}

export const defaultProfile = (schedulerName = DEFAULT_SCHEDULER): SchedulerProfile => ({
  schedulerName,
  percentageOfNodesToScore: 0,
  filters: FILTER_PLUGINS,
  preFilters: FILTER_PLUGINS,
  weights: DEFAULT_WEIGHTS,
  preempts: true,
  heedsGates: true,
  awaitsClaims: true,
  args: DEFAULT_ARGS,
})
