/** A configuration with what kube-scheduler puts in where nothing is said. */
import type { Fields } from '../../api/object.ts'
import { DEFAULT_SCHEDULER } from '../../scheduler/profile.ts'
import { duration } from '../flags.ts'
import { checkShape } from './decode.ts'
import { ARGUMENTS } from './fields.ts'
import { isPlugin } from './plugins.ts'

const VERSION = 'kubescheduler.config.k8s.io/v1'

/** @throws what is wrong with a plugin's arguments, in one line */
export function withDefaults(config: Fields): Fields {
  const given = (config['profiles'] ?? []) as readonly Fields[]
  const profiles = given.length === 0 ? [{}] : given
  return {
    ...config,
    parallelism: config['parallelism'] ?? 16,
    percentageOfNodesToScore: config['percentageOfNodesToScore'] ?? 0,
    podInitialBackoffSeconds: config['podInitialBackoffSeconds'] ?? 1,
    podMaxBackoffSeconds: config['podMaxBackoffSeconds'] ?? 10,
    clientConnection: { ...config['clientConnection'] },
    leaderElection: election(config['leaderElection'] ?? {}),
    profiles: profiles.map((profile) => ({
      ...profile,
      // One alone is the default scheduler's.
      ...(profiles.length === 1 ? { schedulerName: profile['schedulerName'] ?? DEFAULT_SCHEDULER } : {}),
      pluginConfig: ((profile['pluginConfig'] ?? []) as readonly Fields[]).map(pluginConfig),
    })),
    extenders: config['extenders'] ?? [],
  }
}

/** Times in milliseconds. */
function election(given: Fields): Fields {
  const ms = (field: string, usual: number) => {
    const text: string | undefined = given[field] ?? undefined
    return text === undefined ? usual : Number(duration(text)) / 1e6
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

function pluginConfig(entry: Fields): Fields {
  const name: string = entry['name'] ?? ''
  const shape = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name] : undefined
  const given: unknown = entry['args'] ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) throw new Error(`pluginConfig of ${name}: args is no mapping`)
  const args = given as Fields
  const kind = `${name}Args`
  if (shape === undefined) {
    if (!isPlugin(name)) return entry
    if (Object.keys(args).length > 0) throw new Error(`decoding args for plugin "${name}": it takes none`)
    return entry
  }
  if ((args['kind'] ?? kind) !== kind || (args['apiVersion'] ?? VERSION) !== VERSION)
    throw new Error(
      `decoding args for plugin "${name}": args for plugin ${name} were not of type ${kind}.kubescheduler.config.k8s.io, got ${args['kind'] ?? kind}.kubescheduler.config.k8s.io`,
    )
  try {
    checkShape(shape, args as never, kind)
  } catch (cause) {
    throw new Error(`decoding args for plugin "${name}": ${(cause as Error).message}`, { cause })
  }
  return { name, args: { ...withoutNulls(args), ...USUAL[name]?.(args) } }
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
