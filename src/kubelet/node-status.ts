/** The Node object this kubelet keeps: what it registers, and the status it reports (API concept: node status). */
import type { Node, NodeCondition, NodeStatus } from '../api/generated/types.ts'
import { formatTime } from '../base/clock.ts'

export interface NodeDescription {
  readonly name: string
  readonly ip: string
  /** By resource name, as quantities. */
  readonly capacity: Readonly<Record<string, string>>
  readonly architecture: string
  readonly kubeletVersion: string
  /** `containerd://2.0.0` */
  readonly runtimeVersion: string
  /** Stable for a node's life. */
  readonly machineId: string
  readonly bootId: string
  /** Of a real machine. */
  readonly real?: {
    readonly kernelVersion: string
    readonly osImage: string
    readonly systemUuid: string
    /** Where the kubelet's own server listens. */
    readonly port: number
    readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[]
    /** Why pods cannot run; undefined: they can. */
    readonly problem: string | undefined
  }
}

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
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {},
    status: nodeStatus(node, nowMs, undefined),
  }
}

/** `old`: what was reported last; transition times are kept where nothing changed. */
export function nodeStatus(node: NodeDescription, nowMs: number, old: NodeStatus | undefined): NodeStatus {
  const now = formatTime(nowMs)
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const before = old?.conditions?.find((one) => one.type === type)
    const since = before?.status === status ? (before.lastTransitionTime ?? now) : now
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: since, reason, message }
  }
  return {
    capacity: node.capacity,
    allocatable: node.capacity,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      node.real?.problem === undefined
        ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
        : condition('Ready', 'False', 'KubeletNotReady', node.real.problem),
    ],
    addresses: [
      { type: 'InternalIP', address: node.ip },
      { type: 'Hostname', address: node.name },
    ],
    ...(node.real === undefined
      ? {}
      : {
          daemonEndpoints: { kubeletEndpoint: { Port: node.real.port } },
          images: node.real.images.map(({ names, sizeBytes }) => ({ names: [...names], sizeBytes })),
        }),
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
    },
  }
}
