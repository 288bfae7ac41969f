/**
 * The CPU manager: which CPUs a container may run on. It is one of the topology manager's providers, completes what the runtime is asked for
 * when a container begins, and tells it later when the shared pool has changed. It knows nothing of when pods are synced.
 */

import { type PatientWrite, startManager } from '../checkpoint-file.ts'
import { type Container, initContainersOf, type Pod, specOf, uidOf } from '../pod.ts'
import { type HintProvider, NO_HINTS } from '../topology-manager/topology-hints.ts'
import { cpuStateFile } from './cpu-manager-state.ts'
import { type CpuSet, cpuSetText } from './cpu-set.ts'
import type { CpuTopology } from './cpu-topology.ts'
import type { CpuPolicyOptions } from './policy-options.ts'
import { createStaticPolicy } from './static-policy.ts'

export interface CpuManager extends HintProvider {
  /** The container's own CPUs; empty where it runs in the shared pool. */
  cpusOf(podUid: string, container: string): CpuSet
  /** How many CPUs containers have for themselves, and share; both 0 where none is given out. */
  readonly amounts: { readonly exclusive: number; readonly shared: number }
  /** CPUs that containers may have for themselves. */
  readonly allocatable: CpuSet
  /** As the runtime is told; undefined: nothing. */
  cpusetOf(podUid: string, container: string): string | undefined
  /** CPU time is no limit for it: it has CPUs of its own. */
  hasOwnCpus(pod: Pod, container: Container): boolean
  podHasOwnCpus(pod: Pod): boolean
  /** The pod has ended. */
  forget(uid: string): void
  /** What pods that are no longer known have is free. */
  forgetUnknown(isKnown: (uid: string) => boolean): void
}

export interface CpuManagerSettings {
  readonly policy: 'none' | 'static'
  readonly options: CpuPolicyOptions
  /** Kept for the system, in thousandths of a CPU. */
  readonly reservedMilli: number
  /** Which these are (reservedSystemCPUs). */
  readonly reservedCpus?: CpuSet
  /** How often the runtime is told what has changed. */
  readonly reconcileMs: number
}

/** `file`: cpu_manager_state. @throws Error in a kubelet's words where the settings do not fit the machine or what is kept of it */
export function createCpuManager(
  settings: CpuManagerSettings,
  topology: CpuTopology,
  file: string,
  patientWrite: PatientWrite,
): CpuManager {
  const kept = cpuStateFile(file, settings.policy)
  if (settings.policy === 'none') {
    if (startManager('cpu', kept.read) === undefined) kept.write({ shared: [], entries: new Map() })
    return noneManager
  }
  const { reservedCpus, reservedMilli } = settings
  if (reservedMilli <= 0)
    throw new Error('failed to run Kubelet: [cpumanager] unable to determine reserved CPU resources for static policy')
  const policy = createStaticPolicy({
    topology,
    options: settings.options,
    reserved: reservedCpus === undefined ? { count: Math.ceil(reservedMilli / 1000) } : { cpus: reservedCpus },
    file: kept,
    patientWrite,
  })
  const cpusOf = (uid: string, container: string) => policy.entries.get(uid)?.get(container) ?? []
  return {
    hints: policy.hints,
    podHints: policy.podHints,
    allocate: policy.allocate,
    allocatable: policy.allocatable,
    get amounts() {
      const own = [...policy.entries.values()].flatMap((ofPod) => [...ofPod.values()].flat())
      return { exclusive: new Set(own).size, shared: policy.shared.length }
    },
    cpusOf,
    cpusetOf(uid, container) {
      const own = cpusOf(uid, container)
      return cpuSetText(own.length > 0 ? own : policy.shared)
    },
    hasOwnCpus: (pod, { name }) => cpusOf(uidOf(pod), name).length > 0,
    podHasOwnCpus: (pod) =>
      [...initContainersOf(pod), ...specOf(pod).containers].some(({ name }) => cpusOf(uidOf(pod), name).length > 0),
    forget: policy.forget,
    forgetUnknown(isKnown) {
      for (const uid of [...policy.entries.keys()]) if (!isKnown(uid)) policy.forget(uid)
    },
  }
}

const noneManager: CpuManager = {
  hints: () => NO_HINTS,
  podHints: () => NO_HINTS,
  allocate() {},
  cpusOf: () => [],
  amounts: { exclusive: 0, shared: 0 },
  allocatable: [],
  cpusetOf: () => undefined,
  hasOwnCpus: () => false,
  podHasOwnCpus: () => false,
  forget() {},
  forgetUnknown() {},
}
