/** /configz of the scheduler: the configuration with all that kube-scheduler v1.37.1 puts in where nothing is said. */
import type { Fields } from '../../api/object.ts'
import { goDurationTextMs } from '../../base/go-duration.ts'
import type { PluginArguments, WithDefaults } from './defaults.ts'
import { type GivenExtender, ignoredResources, USUAL_TIMEOUT } from './extenders.ts'
import { ARGUMENTS, POINTS, type Point } from './fields.ts'
import { multiPointPlugins, type PluginEntry, type PluginSet } from './plugins.ts'

const VERSION = 'kubescheduler.config.k8s.io/v1'
/** Arguments that are told though nothing turns on them where they are not given. */
const TOLD_TOO: Readonly<Record<string, Fields>> = {
  DynamicResources: { filterTimeout: '10s', bindingTimeout: '10m0s' },
  InterPodAffinity: { ignorePreferredTermsOfExistingPods: false },
  VolumeBinding: {
    shape: [
      { utilization: 0, score: 10 },
      { utilization: 100, score: 0 },
    ],
  },
}

/**
 * `config`: with defaults, and with what flags say. `argumentsOf` gives a plugin's arguments with their defaults.
 */
export function schedulerConfigz(config: WithDefaults, argumentsOf: (plugin: string) => Fields): Fields {
  const { leaderElection, clientConnection, profiles, extenders, enableProfiling = true } = config
  const ms = (field: keyof typeof leaderElection) => ({ [field]: goDurationTextMs(leaderElection[field]) })
  const ignored = ignoredResources(extenders)
  const componentconfig = {
    kind: 'KubeSchedulerConfiguration',
    apiVersion: VERSION,
    parallelism: config.parallelism,
    leaderElection: { ...leaderElection, ...ms('leaseDuration'), ...ms('renewDeadline'), ...ms('retryPeriod') },
    clientConnection: {
      kubeconfig: clientConnection.kubeconfig ?? '',
      acceptContentTypes: clientConnection.acceptContentTypes ?? '',
      contentType: clientConnection.contentType || 'application/vnd.kubernetes.protobuf',
      qps: clientConnection.qps || 50,
      burst: clientConnection.burst || 100,
    },
    enableProfiling,
    enableContentionProfiling: config.enableContentionProfiling ?? enableProfiling,
    percentageOfNodesToScore: config.percentageOfNodesToScore,
    podInitialBackoffSeconds: config.podInitialBackoffSeconds,
    podMaxBackoffSeconds: config.podMaxBackoffSeconds,
    profiles: profiles.map(({ plugins: given, pluginConfig, ...profile }) => {
      const plugins = pluginSets(given ?? {})
      const on = Object.values(plugins).flatMap(({ enabled }) => enabled ?? [])
      const named = new Set(on.map(({ name }) => name))
      return { ...profile, plugins, pluginConfig: pluginConfigs(pluginConfig, named, argumentsOf, ignored) }
    }),
    ...(extenders.length > 0 ? { extenders: extenders.map(extenderOf) } : {}),
    ...(config.delayCacheUntilActive ? { delayCacheUntilActive: true } : {}),
  }
  return { componentconfig }
}

const entries = (some: readonly PluginEntry[] | null | undefined) =>
  (some ?? []).map(({ name, weight = 0 }) => ({ name, weight }))

function pluginSets(sets: Readonly<Partial<Record<Point, PluginSet>>>): Readonly<Record<string, PluginSet>> {
  return Object.fromEntries(
    POINTS.map((point) => {
      const set: PluginSet = sets[point] ?? {}
      const on =
        point === 'multiPoint'
          ? multiPointPlugins(set).map(([name, weight]) => ({ name, weight }))
          : entries(set.enabled)
      const off = entries(set.disabled)
      return [point, { ...(on.length > 0 ? { enabled: on } : {}), ...(off.length > 0 ? { disabled: off } : {}) }]
    }),
  )
}

/** Those that are given first, then those of all other plugins that the profile has, by name. */
function pluginConfigs(
  given: readonly PluginArguments[],
  plugins: ReadonlySet<string>,
  argumentsOf: (plugin: string) => Fields,
  ignored: readonly string[],
): readonly PluginArguments[] {
  const names = new Set(given.map(({ name }) => name))
  const others = [...ARGUMENTS.keys()].filter((name) => plugins.has(name) && !names.has(name)).toSorted()
  return [...given, ...others.map((name) => ({ name, args: argumentsOf(name) }))].map(({ name, args }) => {
    if (!ARGUMENTS.has(name)) return args === undefined ? { name } : { name, args }
    const fields = { kind: `${name}Args`, apiVersion: VERSION, ...TOLD_TOO[name], ...args }
    return {
      name,
      args: name === 'NodeResourcesFit' && ignored.length > 0 ? { ...fields, ignoredResources: ignored } : fields,
    }
  })
}

/** Without what is not said. */
function extenderOf(extender: GivenExtender): GivenExtender {
  const told = Object.entries(extender).filter(([, value]) => value && (!Array.isArray(value) || value.length > 0))
  return { ...Object.fromEntries(told), httpTimeout: extender.httpTimeout || USUAL_TIMEOUT }
}
