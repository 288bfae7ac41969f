/** A configuration with what kube-scheduler puts in where nothing is said. */

import { topOf } from '../../api/codec/body-source.ts'
import { checkShape, STRICT, UnknownFieldsError } from '../../api/configuration/decode.ts'
import type { Fields } from '../../api/object.ts'
import { jsonNodeOf } from '../../api/values/json.ts'
import { messageOf } from '../../base/errors.ts'
import { DEFAULT_SCHEDULER } from '../../scheduler/profile.ts'
import { asDuration } from '../flags.ts'
import type { GivenExtender } from './extenders.ts'
import { ARGUMENTS, type Point } from './fields.ts'
import type { PluginSet } from './plugins.ts'

const GROUP = 'kubescheduler.config.k8s.io'
const VERSION = `${GROUP}/v1`

/** As the file has it. */
interface GivenProfile {
  readonly schedulerName?: string | null
  readonly plugins?: Readonly<Record<string, Fields | null>> | null
  readonly pluginConfig?: readonly (Fields | null)[] | null
}

export interface PluginArguments {
  readonly name: string
  readonly args?: Fields
}

/** Times in milliseconds. */
export interface WithDefaults extends Fields {
  readonly parallelism: number
  readonly leaderElection: Readonly<Record<'leaseDuration' | 'renewDeadline' | 'retryPeriod', number>> & Fields
  readonly clientConnection: {
    readonly kubeconfig?: string
    readonly acceptContentTypes?: string
    readonly contentType?: string
    readonly qps?: number
    readonly burst?: number
  }
  readonly enableProfiling?: boolean
  readonly enableContentionProfiling?: boolean
  readonly percentageOfNodesToScore: number
  readonly podInitialBackoffSeconds: number
  readonly podMaxBackoffSeconds: number
  readonly profiles: readonly {
    readonly plugins?: Readonly<Partial<Record<Point, PluginSet>>>
    readonly pluginConfig: readonly PluginArguments[]
  }[]
  readonly extenders: readonly GivenExtender[]
  readonly delayCacheUntilActive?: boolean
}

/** @throws what is wrong with a plugin's arguments, in one line */
export function withDefaults(config: Fields): WithDefaults {
  const { profiles: some, extenders } = config
  const given = listOf<GivenProfile>(some)
  const profiles = given.length === 0 ? [{}] : given
  return {
    ...config,
    parallelism: config['parallelism'] ?? 16,
    percentageOfNodesToScore: config['percentageOfNodesToScore'] ?? 0,
    podInitialBackoffSeconds: config['podInitialBackoffSeconds'] ?? 1,
    podMaxBackoffSeconds: config['podMaxBackoffSeconds'] ?? 10,
    clientConnection: { ...config['clientConnection'] },
    leaderElection: election(config['leaderElection'] ?? {}),
    profiles: profiles.map(({ plugins, pluginConfig: entries, ...profile }, i) => ({
      ...profile,
      // One alone is the default scheduler's.
      ...(profiles.length === 1 ? { schedulerName: profile.schedulerName ?? DEFAULT_SCHEDULER } : {}),
      ...(plugins ? { plugins: pluginSets(plugins) } : {}),
      pluginConfig: listOf(entries).map((entry, j) => pluginConfig(entry, `.profiles[${i}].pluginConfig[${j}]`)),
    })),
    extenders: listOf<GivenExtender>(extenders).map(({ managedResources, ...extender }) => ({
      ...extender,
      managedResources: named(managedResources),
    })),
  }
}

/** A null among them says nothing. */
const listOf = <T extends object>(given: readonly (T | null)[] | null | undefined): readonly Partial<T>[] =>
  (given ?? []).map((one) => one ?? {})
const named = (given: readonly (object | null)[] | null | undefined) =>
  listOf(given).map((one) => ({ name: '', ...one }))

/** By extension point. */
const pluginSets = (plugins: Readonly<Record<string, Fields | null>>): Fields =>
  Object.fromEntries(
    Object.entries(plugins).map(([point, set]) => [
      point,
      set && Object.fromEntries(Object.entries(set).map(([which, plugins]) => [which, plugins && named(plugins)])),
    ]),
  )

/** Times in milliseconds. */
function election(given: Fields): WithDefaults['leaderElection'] {
  const ms = (field: string, usual: number) => {
    const text: string = given[field] ?? ''
    return (text === '' ? 0 : Number(asDuration(text)) / 1e6) || usual
  }
  return {
    leaderElect: given['leaderElect'] ?? true,
    leaseDuration: ms('leaseDuration', 15_000),
    renewDeadline: ms('renewDeadline', 10_000),
    retryPeriod: ms('retryPeriod', 2000),
    resourceLock: given['resourceLock'] ?? 'leases',
    resourceName: given['resourceName'] || 'kube-scheduler',
    resourceNamespace: given['resourceNamespace'] || 'kube-system',
  }
}

/** Of a plugin of which nothing is said. */
export const argumentsWithDefaults = (plugin: string): Fields => pluginConfig({ name: plugin }, '').args ?? {}

/** `path`: of the entry, as `.profiles[0].pluginConfig[1]`. Arguments of what takes none are passed over. */
function pluginConfig(entry: Fields, path: string): PluginArguments {
  const name: string = entry['name'] ?? ''
  const shape = ARGUMENTS.get(name)
  if (shape === undefined) return { ...entry, name }
  const given: Fields = entry['args'] ?? {}
  const about = `decoding ${path}: `
  if (typeof given !== 'object' || Array.isArray(given))
    throw new Error(`${about}decoding args for plugin ${name}: ${notAnObject(given)}`)
  const { apiVersion = VERSION, kind = shape.type } = given
  if (apiVersion !== VERSION)
    throw new Error(
      `${about}decoding args for plugin ${name}: no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    )
  if (kind !== shape.type) {
    const [wanted, got] = [shape.type, kind].map((type) => `${type}.${GROUP}`)
    throw new Error(`${about}args for plugin ${name} were not of type ${wanted}, got ${got}`)
  }
  try {
    checkShape(shape, given)
  } catch (cause) {
    // Each of kube-scheduler's decoders says again that it is a strict one.
    const strict = cause instanceof UnknownFieldsError ? STRICT : ''
    const inner = `${about}${strict}decoding args for plugin ${name}: ${messageOf(cause)}`
    throw new Error(`${strict}${inner}`, { cause })
  }
  return { name, args: { ...withoutNulls(given), ...USUAL[name]?.(given) } }
}

function notAnObject(value: unknown): string {
  try {
    topOf(jsonNodeOf(value), (message) => new Error(message))
  } catch (error) {
    return messageOf(error)
  }
  return ''
}

const withoutNulls = (args: Fields): Fields =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))

const CPU_AND_MEMORY = ['cpu', 'memory'].map((name) => ({ name, weight: 1 }))
const weighted = (resources: readonly Fields[] | undefined) =>
  resources === undefined || resources.length === 0
    ? CPU_AND_MEMORY
    : resources.map((one) => ({ ...one, weight: one['weight'] || 1 }))

const USUAL: Readonly<Record<string, (args: Fields) => Fields>> = {
  DefaultPreemption: ({ minCandidateNodesPercentage, minCandidateNodesAbsolute }) => ({
    minCandidateNodesPercentage: minCandidateNodesPercentage ?? 10,
    minCandidateNodesAbsolute: minCandidateNodesAbsolute ?? 100,
  }),
  InterPodAffinity: ({ hardPodAffinityWeight }) => ({ hardPodAffinityWeight: hardPodAffinityWeight ?? 1 }),
  NodeResourcesBalancedAllocation: ({ resources }) => ({ resources: weighted(resources) }),
  NodeResourcesFit: ({ scoringStrategy }) => ({
    scoringStrategy: {
      ...scoringStrategy,
      type: scoringStrategy === undefined || scoringStrategy === null ? 'LeastAllocated' : (scoringStrategy.type ?? ''),
      resources: weighted(scoringStrategy?.resources),
    },
  }),
  PodTopologySpread: ({ defaultingType }) => ({ defaultingType: defaultingType ?? 'System' }),
  VolumeBinding: ({ bindTimeoutSeconds }) => ({ bindTimeoutSeconds: bindTimeoutSeconds ?? 600 }),
}
