/** What the managers of CPUs and memory have set aside, in the words of the pod resources API. */
import type { CpuManager } from '../cpu-manager/cpu-manager.ts'
import type { MemoryManager } from '../memory-manager/memory-manager.ts'
import type { MemoryBlock } from '../memory-manager/memory-state.ts'
import type { ContainerMemory, ExclusiveResources } from './pod-resources.ts'

interface Managers {
  readonly cpus: Pick<CpuManager, 'allocatable' | 'cpusOf'>
  readonly memory: Pick<MemoryManager, 'allocatable' | 'blocksOf'>
}

const told = ({ type, size, numaAffinity }: MemoryBlock): ContainerMemory => ({
  memory_type: type,
  size,
  topology: { nodes: numaAffinity.map((ID) => ({ ID })) },
})

export const exclusiveResources = ({ cpus, memory }: Managers): ExclusiveResources => ({
  allocatable: () => ({ cpus: cpus.allocatable, memory: memory.allocatable.map(told) }),
  of: (podUid, container) => ({
    cpus: cpus.cpusOf(podUid, container),
    memory: memory.blocksOf(podUid, container).map(told),
  }),
})
