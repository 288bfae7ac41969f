/**
 * What the pods of a node have of its devices, CPUs and memory, as a kubelet tells agents on its machine (API concept: the kubelet's pod
 * resources API; KEP-606, KEP-2403, KEP-3695): device plugins' devices, what DRA drivers prepared, and what is set aside by managers of CPUs
 * and memory.
 */
import { type Container, initContainersOf, isSidecar, nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'

interface TopologyInfo {
  readonly nodes: readonly { readonly ID: number }[]
}

export interface ContainerMemory {
  /** `memory`, `hugepages-2Mi`. */
  readonly memory_type: string
  readonly size: number
  readonly topology: TopologyInfo
}

/** What containers have for themselves alone. */
export interface ExclusiveResources {
  /** What is not given up for the machine's own use, given to a container or not. */
  allocatable(): ExclusiveShare
  of(podUid: string, container: string): ExclusiveShare
}

export interface ExclusiveShare {
  readonly cpus: readonly number[]
  readonly memory: readonly ContainerMemory[]
}

export interface PluginDevice {
  readonly resource: string
  readonly id: string
  /** The nodes of memory that it is near to; undefined: its plugin does not say. */
  readonly numaNodes: readonly number[] | undefined
}

export interface DynamicResource {
  readonly claim_name: string
  readonly claim_namespace: string
  readonly claim_resources: readonly {
    readonly cdi_devices: readonly { readonly name: string }[]
    readonly driver_name: string
    readonly pool_name: string
    readonly device_name: string
    readonly share_id?: string
  }[]
}

export interface PodResourcesSources {
  /** Those of which something may run. */
  activePods(): readonly Pod[]
  readonly plugins: {
    given(podUid: string, container: string): readonly PluginDevice[]
    allocatable(): readonly PluginDevice[]
  }
  claims(pod: Pod, container: Container): readonly DynamicResource[]
  /** Absent on a node without managers of CPUs and memory. */
  readonly exclusive?: ExclusiveResources
}

interface ContainerDevices {
  readonly resource_name: string
  readonly device_ids: readonly string[]
  readonly topology?: TopologyInfo
}

interface ContainerResources {
  readonly name: string
  readonly devices: readonly ContainerDevices[]
  readonly cpu_ids: readonly number[]
  readonly memory: readonly ContainerMemory[]
  readonly dynamic_resources: readonly DynamicResource[]
}

interface PodResources {
  readonly name: string
  readonly namespace: string
  readonly containers: readonly ContainerResources[]
}

/** Each device by itself, once for every node that it is near to. */
const told = (devices: readonly PluginDevice[]): readonly ContainerDevices[] =>
  devices.flatMap(({ resource, id, numaNodes }): readonly ContainerDevices[] => {
    const device = { resource_name: resource, device_ids: [id] }
    return numaNodes?.map((ID) => ({ ...device, topology: { nodes: [{ ID }] } })) ?? [device]
  })

const NOTHING: ExclusiveShare = { cpus: [], memory: [] }

export function podResourcesOf(sources: PodResourcesSources, pod: Pod): PodResources {
  // What other init containers had is others' once they have ended.
  const containers = [...initContainersOf(pod).filter(isSidecar), ...specOf(pod).containers]
  return {
    name: nameOf(pod),
    namespace: namespaceOf(pod),
    containers: containers.map((container) => {
      const { cpus, memory } = sources.exclusive?.of(uidOf(pod), container.name) ?? NOTHING
      return {
        name: container.name,
        devices: told(sources.plugins.given(uidOf(pod), container.name)),
        cpu_ids: cpus,
        memory,
        dynamic_resources: sources.claims(pod, container),
      }
    }),
  }
}

export function allocatableResources({ plugins, exclusive }: Pick<PodResourcesSources, 'plugins' | 'exclusive'>) {
  const { cpus, memory } = exclusive?.allocatable() ?? NOTHING
  return { devices: told(plugins.allocatable()), cpu_ids: cpus, memory }
}
