/** The Node object this kubelet keeps: what it registers, and the status it reports (API concept: node status). */
import type { Node, NodeCondition, NodeSpec, NodeStatus, Taint } from '../api/generated/types.ts'
import { isExtendedResource } from '../api/names/resource-names.ts'
import { formatTime } from '../base/clock.ts'
import type { Pressure } from './eviction/observations.ts'
import type { RuntimeFeatures } from './runtimes/runtime.ts'

export interface NodeDescription {
  readonly name: string
  /** Of each family of the cluster's: the first is where it is reached. */
  readonly ips: readonly string[]
  /** By resource name, as quantities. */
  readonly capacity: Readonly<Record<string, string>>
  /** What of the capacity pods may be given, where that is less. */
  readonly allocatable?: Readonly<Record<string, string>>
  /** What the node is short of. */
  readonly pressures?: ReadonlySet<Pressure>
  /** The machine is being shut down. */
  readonly goesDown?: boolean
  readonly architecture: string
  readonly kubeletVersion: string
  /** `containerd://2.0.0` */
  readonly runtimeVersion: string
  /** Stable for a node's life. */
  readonly machineId: string
  readonly bootId: string
  /** What a new Node is registered with, where the node knows it before the API does. */
  readonly podCIDRs?: readonly string[]
  /** What a new Node is registered with beside the usual labels (the kubelet's --node-labels and --register-with-taints). */
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  /** By which a cloud's controllers know the machine (--provider-id). */
  readonly providerId?: string
  /** Where the server of a kubelet listens whose containers are simulated; without it it has none. */
  readonly port?: number
  /** Of a real machine. */
  readonly real?: {
    readonly kernelVersion: string
    readonly osImage: string
    readonly systemUuid: string
    /** Where the kubelet's own server listens. */
    readonly port: number
    readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[]
    /** Default: nothing beyond what all runtimes can do. */
    readonly features?: RuntimeFeatures
    /** The kubelet itself runs in a user namespace. */
    readonly inUserNamespace?: boolean
    /** Volumes that are not to be detached. */
    readonly volumesInUse?: readonly string[]
    /** Why pods cannot run; undefined: they can. */
    readonly problem: string | undefined
  }
}

/** Of an image. */
const MOST_NAMES = 5
/** What a kubelet v1.37 can do that an older one could not (KEP-5328), by Kubernetes' names. */
const DECLARED_FEATURES = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
]

type Words = readonly [reason: string, message: string]

const PRESSURES: readonly (readonly [type: Pressure, under: Words, relieved: Words])[] = [
  [
    'MemoryPressure',
    ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ],
  [
    'DiskPressure',
    ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ],
  [
    'PIDPressure',
    ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ],
]

export function nodeObject(node: NodeDescription, nowMs: number): Node {
  const { name, architecture } = node
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': architecture,
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...node.labels,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...podRanges(node.podCIDRs),
      ...(node.providerId === undefined ? {} : { providerID: node.providerId }),
      ...(node.taints === undefined ? {} : { taints: [...node.taints] }),
    },
    status: nodeStatus(node, nowMs, undefined),
  }
}

/** As a Node says them: podCIDR is the first of podCIDRs. */
export const podRanges = (ranges: readonly string[] = []): NodeSpec =>
  ranges[0] === undefined ? {} : { podCIDR: ranges[0], podCIDRs: [...ranges] }

/** Resources that others have written into the Node's capacity (API concept: extended resources): the kubelet leaves them there. */
function extendedOf(status: NodeStatus | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(status?.capacity ?? {}).filter(([name]) => isExtendedResource(name)))
}

/** `old`: what was reported last; transition times are kept where nothing changed. */
export function nodeStatus(node: NodeDescription, nowMs: number, old: NodeStatus | undefined): NodeStatus {
  const now = formatTime(nowMs)
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const before = old?.conditions?.find((one) => one.type === type)
    const since = before?.status === status ? (before.lastTransitionTime ?? now) : now
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: since, reason, message }
  }
  const capacity = { ...extendedOf(old), ...node.capacity }
  const problem = problemOf(node)
  return {
    capacity,
    allocatable: node.allocatable === undefined ? capacity : { ...capacity, ...node.allocatable },
    conditions: [
      ...PRESSURES.map(([type, under, relieved]) => {
        const isUnder = node.pressures?.has(type) === true
        return condition(type, isUnder ? 'True' : 'False', ...(isUnder ? under : relieved))
      }),
      problem === undefined
        ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
        : condition('Ready', 'False', 'KubeletNotReady', problem),
    ],
    addresses: [
      ...node.ips.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: node.name },
    ],
    ...(node.real === undefined
      ? node.port === undefined
        ? {}
        : { daemonEndpoints: { kubeletEndpoint: { Port: node.port } } }
      : {
          daemonEndpoints: { kubeletEndpoint: { Port: node.real.port } },
          images: node.real.images.map(({ names, sizeBytes }) => ({
            names: names.slice(0, MOST_NAMES),
            sizeBytes,
          })),
          ...featuresOf(node.real.features),
          ...inUseOf(node.real.volumesInUse, old),
        }),
    declaredFeatures: DECLARED_FEATURES,
    nodeInfo: {
      machineID: node.machineId,
      systemUUID: node.real?.systemUuid ?? node.machineId,
      bootID: node.bootId,
      kernelVersion: node.real?.kernelVersion ?? 'simulated',
      osImage: node.real?.osImage ?? 'skiff',
      containerRuntimeVersion: node.runtimeVersion,
      kubeletVersion: node.kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: node.architecture,
      ...(node.real === undefined ? {} : { runningInUserNamespace: node.real.inUserNamespace === true }),
    },
  }
}

/** `containerd://1.6.20`: of a version that is not a semantic one (Debian's 1.6.20~ds1) only its numbers. */
export function runtimeVersionOf(name: string, version: string): string {
  const isSemantic = /^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(version)
  const shown = isSemantic ? version : (/^v?\d+(?:\.\d+)*/.exec(version)?.[0] ?? version)
  return `${name}://${shown.replace(/^v/, '')}`
}

/** Why it takes no pods; undefined: it does. */
function problemOf({ real, goesDown }: NodeDescription): string | undefined {
  const problems = [...(real?.problem === undefined ? [] : [real.problem]), ...(goesDown ? [GOES_DOWN] : [])]
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]
}
const GOES_DOWN = 'node is shutting down'

/** What a runtime does not have is not named. */
function featuresOf(features: RuntimeFeatures | undefined): Pick<NodeStatus, 'runtimeHandlers' | 'features'> {
  if (features === undefined) return {}
  const { handlers, supplementalGroupsPolicy } = features
  return {
    ...(handlers.length === 0
      ? {}
      : {
          runtimeHandlers: handlers.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
            name,
            features: { recursiveReadOnlyMounts, userNamespaces },
          })),
        }),
    ...(supplementalGroupsPolicy ? { features: { supplementalGroupsPolicy } } : {}),
  }
}

/** An empty list is told only where there was one that was not. */
const inUseOf = (volumes: readonly string[] = [], old: NodeStatus | undefined): Pick<NodeStatus, 'volumesInUse'> =>
  volumes.length === 0 && old?.volumesInUse === undefined ? {} : { volumesInUse: [...volumes] }
