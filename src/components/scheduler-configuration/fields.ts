/** The fields of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) and of the plugins' arguments. */

/** A list of one shape stands for lists of it; an object for a mapping with these fields. */
export type Shape =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'duration'
  /** Looked at by others. */
  | 'any'
  | readonly [Shape]
  | { readonly [field: string]: Shape }

const plugin = { name: 'string', weight: 'int32' } as const
const pluginSet = { enabled: [plugin], disabled: [plugin] } as const

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
  'multiPoint',
] as const
export type Point = (typeof POINTS)[number]

const meta = { kind: 'string', apiVersion: 'string' } as const
const resource = { name: 'string', weight: 'int64' } as const
const shape = [{ utilization: 'int32', score: 'int32' }] as const

export const CONFIGURATION: Shape = {
  ...meta,
  parallelism: 'int32',
  leaderElection: {
    leaderElect: 'bool',
    leaseDuration: 'duration',
    renewDeadline: 'duration',
    retryPeriod: 'duration',
    resourceLock: 'string',
    resourceName: 'string',
    resourceNamespace: 'string',
  },
  clientConnection: {
    kubeconfig: 'string',
    acceptContentTypes: 'string',
    contentType: 'string',
    qps: 'float32',
    burst: 'int32',
  },
  enableProfiling: 'bool',
  enableContentionProfiling: 'bool',
  percentageOfNodesToScore: 'int32',
  podInitialBackoffSeconds: 'int64',
  podMaxBackoffSeconds: 'int64',
  profiles: [
    {
      schedulerName: 'string',
      percentageOfNodesToScore: 'int32',
      plugins: Object.fromEntries(POINTS.map((point) => [point, pluginSet])),
      pluginConfig: [{ name: 'string', args: 'any' }],
    },
  ],
  extenders: [
    {
      urlPrefix: 'string',
      filterVerb: 'string',
      preemptVerb: 'string',
      prioritizeVerb: 'string',
      weight: 'int64',
      bindVerb: 'string',
      enableHTTPS: 'bool',
      tlsConfig: 'any',
      httpTimeout: 'duration',
      nodeCacheCapable: 'bool',
      managedResources: [{ name: 'string', ignoredByScheduler: 'bool' }],
      ignorable: 'bool',
    },
  ],
  delayCacheUntilActive: 'bool',
}

/** By plugin: only these take arguments. */
export const ARGUMENTS: Readonly<Record<string, Shape>> = {
  DefaultPreemption: { ...meta, minCandidateNodesPercentage: 'int32', minCandidateNodesAbsolute: 'int32' },
  InterPodAffinity: { ...meta, hardPodAffinityWeight: 'int32', ignorePreferredTermsOfExistingPods: 'bool' },
  NodeAffinity: { ...meta, addedAffinity: 'any' },
  NodeResourcesBalancedAllocation: { ...meta, resources: [resource] },
  NodeResourcesFit: {
    ...meta,
    ignoredResources: ['string'],
    ignoredResourceGroups: ['string'],
    scoringStrategy: { type: 'string', resources: [resource], requestedToCapacityRatio: { shape } },
  },
  PodTopologySpread: { ...meta, defaultConstraints: ['any'], defaultingType: 'string' },
  VolumeBinding: { ...meta, bindTimeoutSeconds: 'int64', shape },
  DynamicResources: { ...meta, filterTimeout: 'duration', bindingTimeout: 'duration' },
}
