/** What a configuration's profiles ask for, as the scheduler takes it. */
import type { Fields } from '../../api/object.ts'
import {
  DEFAULT_ARGS,
  DEFAULT_WEIGHTS,
  FILTER_PLUGINS,
  type FilterPlugin,
  type PluginArgs,
  type SchedulerProfile,
  type ScorePlugin,
  type ScoringStrategy,
  type UtilizationShape,
} from '../../scheduler/profile.ts'
import { asDuration } from '../flags.ts'
import { type EnabledPlugins, type ExtensionPoint, enabledPlugins, pluginsAt } from './plugins.ts'
import { aggregate, validateResourcesFit } from './validate.ts'

/** `profile`: validated, with its defaults; `ignored`: resources that extenders look after. @throws what is wrong, in the words of kube-scheduler */
export function profileOf(
  profile: Fields,
  percentageOfNodesToScore: number,
  ignored: readonly string[] = [],
): SchedulerProfile {
  const schedulerName: string = profile['schedulerName']
  const plugins = enabledPlugins(schedulerName, profile['plugins'] ?? {})
  refuseParts(plugins)
  const fit = ((profile['pluginConfig'] ?? []) as readonly Fields[]).find(({ name }) => name === FIT)
  if (fit !== undefined && [plugins.filter, plugins.score].some((point) => point.has(FIT))) {
    const why = aggregate(validateResourcesFit(fit['args']))
    if (why !== undefined) throw new Error(`initializing plugin "${FIT}": ${why}`)
  }
  const isScore = (name: string): name is ScorePlugin => (DEFAULT_WEIGHTS as ReadonlyMap<string, number>).has(name)
  const isFilter = (name: string): name is FilterPlugin => (FILTER_PLUGINS as readonly string[]).includes(name)
  return {
    schedulerName,
    percentageOfNodesToScore: profile['percentageOfNodesToScore'] ?? percentageOfNodesToScore,
    filters: [...plugins.filter.keys()].filter(isFilter),
    preFilters: [...plugins.preFilter.keys()].filter(isFilter),
    weights: new Map(
      [...plugins.score].flatMap(([name, weight]) => (isScore(name) ? [[name, weight || 1] as const] : [])),
    ),
    preempts: plugins.postFilter.has('DefaultPreemption'),
    heedsGates: plugins.preEnqueue.has('SchedulingGates'),
    awaitsClaims: plugins.preEnqueue.has('DynamicResources'),
    args: argsOf(
      new Map(((profile['pluginConfig'] ?? []) as readonly Fields[]).map(({ name, args }) => [name, args])),
      ignored,
    ),
  }
}

const FIT = 'NodeResourcesFit'

/** What a plugin does at the first of two points stands on what it does at the other. */
const NEEDS: readonly (readonly [ExtensionPoint, ExtensionPoint])[] = [
  ['filter', 'preFilter'],
  ['score', 'preScore'],
  ['filter', 'reserve'],
  ['filter', 'preBind'],
]

function refuseParts(plugins: EnabledPlugins): void {
  for (const [point, needed] of NEEDS)
    for (const name of plugins[point].keys())
      if (pluginsAt(needed).has(name) && !plugins[needed].has(name))
        throw new Error(`plugin "${name}": skiff cannot have it at ${point} without ${needed}; switch off both`)
}

interface GivenPoint {
  readonly utilization?: number
  readonly score?: number
}

interface GivenStrategy {
  readonly type: ScoringStrategy['type']
  readonly resources: ScoringStrategy['resources']
  readonly requestedToCapacityRatio?: { readonly shape?: readonly GivenPoint[] } | null
}

const shapeOf = (shape: readonly GivenPoint[] = []): UtilizationShape =>
  shape.map(({ utilization = 0, score = 0 }) => ({ utilization, score }))

function argsOf(given: ReadonlyMap<string, Fields>, ignored: readonly string[]): PluginArgs {
  const of = (plugin: string): Fields => given.get(plugin) ?? {}
  const fit = of('NodeResourcesFit')
  const balanced = of('NodeResourcesBalancedAllocation')
  const pods = of('InterPodAffinity')
  const spread = of('PodTopologySpread')
  const preemption = of('DefaultPreemption')
  const {
    bindTimeoutSeconds,
    shape,
  }: { readonly bindTimeoutSeconds?: number; readonly shape?: readonly GivenPoint[] } = of('VolumeBinding')
  const { bindingTimeout } = of('DynamicResources')
  const { scoringStrategy: strategy }: { readonly scoringStrategy?: GivenStrategy | null } = fit
  const usual = DEFAULT_ARGS
  return {
    ignoredResources: new Set([...(fit['ignoredResources'] ?? []), ...ignored]),
    ignoredResourceGroups: new Set(fit['ignoredResourceGroups'] ?? []),
    scoringStrategy:
      strategy === undefined || strategy === null
        ? usual.scoringStrategy
        : {
            type: strategy.type,
            resources: strategy.resources,
            shape: shapeOf(strategy.requestedToCapacityRatio?.shape),
          },
    balancedResources:
      (balanced['resources'] as readonly Fields[] | undefined)?.map(({ name }) => name as string) ??
      usual.balancedResources,
    hardPodAffinityWeight: pods['hardPodAffinityWeight'] ?? usual.hardPodAffinityWeight,
    ignorePreferredTermsOfExistingPods: pods['ignorePreferredTermsOfExistingPods'] ?? false,
    addedAffinity: of('NodeAffinity')['addedAffinity'] ?? undefined,
    defaultConstraints:
      spread['defaultingType'] === 'List'
        ? ((spread['defaultConstraints'] ?? []) as readonly Fields[]).map((constraint) => ({
            topologyKey: constraint['topologyKey'],
            maxSkew: constraint['maxSkew'],
            minDomains: constraint['minDomains'] ?? 1,
            isHard: constraint['whenUnsatisfiable'] === 'DoNotSchedule',
          }))
        : usual.defaultConstraints,
    areSystemDefaults: spread['defaultingType'] !== 'List',
    bindTimeoutMs: bindTimeoutSeconds === undefined ? usual.bindTimeoutMs : bindTimeoutSeconds * 1000,
    volumeShape: shape === undefined ? usual.volumeShape : shapeOf(shape),
    deviceBindingTimeoutMs:
      bindingTimeout === undefined ? usual.deviceBindingTimeoutMs : Number(asDuration(bindingTimeout)) / 1e6,
    minCandidateNodesPercentage: preemption['minCandidateNodesPercentage'] ?? usual.minCandidateNodesPercentage,
    minCandidateNodesAbsolute: preemption['minCandidateNodesAbsolute'] ?? usual.minCandidateNodesAbsolute,
  }
}
