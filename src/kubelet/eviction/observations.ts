/** What eviction decides by: how much of each signal's resource there is, and what pods use of it. */
import type { Pod } from '../pod.ts'
import type { Signal } from './thresholds.ts'

export interface SignalObservation {
  readonly available: number
  readonly capacity: number
}

export type Observations = Partial<Readonly<Record<Signal, SignalObservation>>>

export interface ContainerUse {
  readonly memoryBytes: number
  /** Its writable layer and its logs. */
  readonly diskBytes: number
  readonly inodes: number
}

export interface PodUse {
  readonly containers: ReadonlyMap<string, ContainerUse>
  /** Of volumes of the node's own disk: emptyDir that is not in memory. By volume. */
  readonly volumes: ReadonlyMap<string, { readonly bytes: number; readonly inodes: number }>
  readonly processes: number
}

export interface EvictionMeasurements {
  /** @throws Error while something cannot be measured */
  observe(): Promise<Observations>
  /** By uid, of pods that run, or of these. What disks hold is only asked for where it decides. */
  pods(withDisks: boolean, of?: readonly Pod[]): Promise<ReadonlyMap<string, PodUse>>
}

/** As statuses, messages and Events name it. */
export type Starved = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

interface Meaning {
  readonly resource: Starved
  readonly pressure: Pressure
}

const MEMORY: Meaning = { resource: 'memory', pressure: 'MemoryPressure' }
const DISK: Meaning = { resource: 'ephemeral-storage', pressure: 'DiskPressure' }
const INODES: Meaning = { resource: 'inodes', pressure: 'DiskPressure' }

export const MEANINGS: Readonly<Record<Signal, Meaning>> = {
  'memory.available': MEMORY,
  'allocatableMemory.available': MEMORY,
  'nodefs.available': DISK,
  'imagefs.available': DISK,
  'nodefs.inodesFree': INODES,
  'imagefs.inodesFree': INODES,
  'pid.available': { resource: 'pids', pressure: 'PIDPressure' },
}
