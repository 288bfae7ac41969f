/** The fields of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) and of the plugins' arguments. */

import type { Struct, ValueShape } from '../../api/configuration/shape.ts'

const struct = (type: string, fields: Readonly<Record<string, ValueShape>>): Struct => ({ type, fields })
/** What the components' configurations have in common. */
const common = (type: string, fields: Readonly<Record<string, ValueShape>>): Struct => ({
  ...struct(type, fields),
  goPackage: 'v1alpha1',
})

const plugin = struct('Plugin', { name: 'string', weight: 'int32' })
const pluginSet = struct('PluginSet', { enabled: [plugin], disabled: [plugin] })

export const POINTS = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
  'placementGenerate',
  'placementScore',
  'podGroupPostFilter',
  'multiPoint',
] as const
export type Point = (typeof POINTS)[number]

const meta = { kind: 'string', apiVersion: 'string' } as const
const resource = struct('ResourceSpec', { name: 'string', weight: 'int64' })
const shape: ValueShape = [struct('UtilizationShapePoint', { utilization: 'int32', score: 'int32' })]

export const CONFIGURATION = struct('KubeSchedulerConfiguration', {
  ...meta,
  parallelism: 'int32',
  leaderElection: common('LeaderElectionConfiguration', {
    leaderElect: 'bool',
    leaseDuration: 'duration',
    renewDeadline: 'duration',
    retryPeriod: 'duration',
    resourceLock: 'string',
    resourceName: 'string',
    resourceNamespace: 'string',
  }),
  clientConnection: common('ClientConnectionConfiguration', {
    kubeconfig: 'string',
    acceptContentTypes: 'string',
    contentType: 'string',
    qps: 'float32',
    burst: 'int32',
  }),
  enableProfiling: 'bool',
  enableContentionProfiling: 'bool',
  percentageOfNodesToScore: 'int32',
  podInitialBackoffSeconds: 'int64',
  podMaxBackoffSeconds: 'int64',
  profiles: [
    struct('KubeSchedulerProfile', {
      schedulerName: 'string',
      percentageOfNodesToScore: 'int32',
      plugins: struct('Plugins', Object.fromEntries(POINTS.map((point) => [point, pluginSet]))),
      pluginConfig: [struct('PluginConfig', { name: 'string', args: 'any' })],
    }),
  ],
  extenders: [
    struct('Extender', {
      urlPrefix: 'string',
      filterVerb: 'string',
      preemptVerb: 'string',
      prioritizeVerb: 'string',
      weight: 'int64',
      bindVerb: 'string',
      enableHTTPS: 'bool',
      tlsConfig: struct('ExtenderTLSConfig', {
        insecure: 'bool',
        serverName: 'string',
        certFile: 'string',
        keyFile: 'string',
        caFile: 'string',
        certData: 'string',
        keyData: 'string',
        caData: 'string',
      }),
      httpTimeout: 'duration',
      nodeCacheCapable: 'bool',
      managedResources: [struct('ExtenderManagedResource', { name: 'string', ignoredByScheduler: 'bool' })],
      ignorable: 'bool',
    }),
  ],
  delayCacheUntilActive: 'bool',
})

const args = (plugin: string, fields: Readonly<Record<string, ValueShape>>): readonly [string, Struct] => [
  plugin,
  struct(`${plugin}Args`, { ...meta, ...fields }),
]

/** By plugin: only these take arguments. */
export const ARGUMENTS: ReadonlyMap<string, Struct> = new Map([
  args('DefaultPreemption', { minCandidateNodesPercentage: 'int32', minCandidateNodesAbsolute: 'int32' }),
  args('InterPodAffinity', { hardPodAffinityWeight: 'int32', ignorePreferredTermsOfExistingPods: 'bool' }),
  args('NodeAffinity', { addedAffinity: 'any' }),
  args('NodeResourcesBalancedAllocation', { resources: [resource] }),
  args('NodeResourcesFit', {
    ignoredResources: ['string'],
    ignoredResourceGroups: ['string'],
    scoringStrategy: struct('ScoringStrategy', {
      type: 'string',
      resources: [resource],
      requestedToCapacityRatio: struct('RequestedToCapacityRatioParam', { shape }),
    }),
  }),
  args('PodTopologySpread', { defaultConstraints: ['any'], defaultingType: 'string' }),
  args('VolumeBinding', { bindTimeoutSeconds: 'int64', shape }),
  args('DynamicResources', { filterTimeout: 'duration', bindingTimeout: 'duration' }),
])
