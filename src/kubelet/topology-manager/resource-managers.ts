/** The managers of what a real node's containers share: devices of plugins, CPUs, memory, and the topology manager that asks all of them. */
import { join } from 'node:path'
import type { Runtime } from '../../base/runtime.ts'
import type { PatientWrite } from '../checkpoint-file.ts'
import { type CpuManager, type CpuManagerSettings, createCpuManager } from '../cpu-manager/cpu-manager.ts'
import { NO_CPU_OPTIONS } from '../cpu-manager/policy-options.ts'
import type { DevicePlugins } from '../device-plugins/device-plugins.ts'
import type { MachineTopology } from '../machine/machine-topology.ts'
import {
  createMemoryManager,
  type MemoryManager,
  type MemoryManagerSettings,
} from '../memory-manager/memory-manager.ts'
import { countedAdmission, countedProvider, cpuPoolMetrics } from '../metrics/manager-metrics.ts'
import type { Pod } from '../pod.ts'
import type { HintProvider } from './topology-hints.ts'
import { type AdmissionOutcome, createTopologyManager, type TopologySettings } from './topology-manager.ts'
import { NO_TOPOLOGY_OPTIONS } from './topology-options.ts'

export interface ResourceManagerSettings {
  readonly cpu: CpuManagerSettings
  readonly memory: MemoryManagerSettings
  readonly topology: TopologySettings
}

export interface StaticPolicies {
  readonly cpu: 'none' | 'static'
  readonly memory: 'None' | 'Static'
}

export interface ResourceManagers {
  /** Of the managers of CPUs and memory: pods are given theirs when they begin, and that is not changed while they run. */
  readonly policies: StaticPolicies
  readonly cpus: CpuManager
  readonly memory: MemoryManager
  /** Has the pod's containers given what they ask for; why that cannot be. */
  admit(pod: Pod): AdmissionOutcome
  /** The pod ran before this kubelet began: what is not kept of it is decided anew. */
  restore(pod: Pod): void
  /** The pod has ended. */
  forget(uid: string): void
  /** What pods that are no longer known have is free. */
  forgetUnknown(isKnown: (uid: string) => boolean): void
}

/** As with a kubelet that is not told otherwise. */
export const OWN_MANAGERS: ResourceManagerSettings = {
  cpu: { policy: 'none', options: NO_CPU_OPTIONS, reservedMilli: 0, reconcileMs: 10_000 },
  memory: { policy: 'None', reserved: new Map() },
  topology: { policy: 'none', scope: 'container', options: NO_TOPOLOGY_OPTIONS },
}

/** `withheld`: what pods are not given of the node's capacity. `directory`: where their checkpoints are. @throws Error where the settings do not fit the machine or what is kept of it */
export function createResourceManagers(
  { cpu, memory: memorySettings, topology }: ResourceManagerSettings,
  { cpus: machineCpus, numaNodes }: MachineTopology,
  withheld: Readonly<Record<string, string>>,
  directory: string,
  devices: Pick<DevicePlugins, keyof HintProvider | 'forget' | 'forgetUnknown'>,
  patientWrite: PatientWrite,
  runtime?: Pick<Runtime, 'clock' | 'metrics'>,
): ResourceManagers {
  const cpus = createCpuManager(cpu, machineCpus, join(directory, 'cpu_manager_state'), patientWrite)
  const memory = createMemoryManager(
    memorySettings,
    withheld,
    numaNodes,
    join(directory, 'memory_manager_state'),
    patientWrite,
  )
  const nodes = numaNodes.map(({ id }) => id)
  const distances = {
    nodes,
    between: (one: number, other: number) =>
      numaNodes.find(({ id }) => id === one)?.distances[nodes.indexOf(other)] ?? 0,
  }
  const metrics = runtime?.metrics
  cpuPoolMetrics(metrics, () => cpus.amounts)
  const manager = createTopologyManager(topology, distances, [
    devices,
    countedProvider(metrics, 'cpu', cpus, (uid, container) => cpus.cpusOf(uid, container).length > 0),
    countedProvider(metrics, 'memory', memory, (uid, container) => memory.blocksOf(uid, container).length > 0),
  ])
  /** What plugins have not given such a pod they are not asked for again. */
  const restoring = createTopologyManager(topology, distances, [cpus, memory])
  return {
    policies: { cpu: cpu.policy, memory: memorySettings.policy },
    cpus,
    memory,
    admit: runtime === undefined ? manager.admit : countedAdmission(runtime, manager.admit),
    restore: (pod) => void restoring.admit(pod),
    forget(uid) {
      devices.forget(uid)
      cpus.forget(uid)
      memory.forget(uid)
    },
    forgetUnknown(isKnown) {
      devices.forgetUnknown(isKnown)
      cpus.forgetUnknown(isKnown)
      memory.forgetUnknown(isKnown)
    },
  }
}
