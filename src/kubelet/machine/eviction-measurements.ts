/** What a real node measures for eviction: memory, file systems and processes of the machine, and what its pods use of them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  ContainerUse,
  EvictionMeasurements,
  Observations,
  PodUse,
  SignalObservation,
} from '../eviction/observations.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import type { RealRuntime } from '../runtimes/runtime.ts'
import type { Size } from '../server/disk-summary.ts'
import { groupUsage } from './cgroup-usage.ts'
import type { Cgroups } from './cgroups.ts'
import { fileSystemAt } from './measurements.ts'
import type { PodDirectories } from './pod-directories.ts'
import { sizeOf, type VolumeSizes } from './volume-sizes.ts'

export interface MachineMeasurementsOptions {
  readonly real: Pick<RealRuntime, 'usage' | 'imageDirectory'>
  readonly directories: PodDirectories
  readonly cgroups: Pick<Cgroups, 'processesOf' | 'podsGroup'>
  readonly pods: () => Iterable<Pod>
  readonly volumeSizes: VolumeSizes
  /** Default: /proc. */
  readonly proc?: string
  /** Default: where the system has control groups. */
  readonly mount?: string
}

export function machineMeasurements(options: MachineMeasurementsOptions): EvictionMeasurements {
  const { real, directories, cgroups, volumeSizes, proc = '/proc', mount = '/sys/fs/cgroup' } = options

  async function disksOf(pod: Pod): Promise<Pick<PodUse, 'volumes'> & { readonly logs: ReadonlyMap<string, Size> }> {
    const logs = new Map<string, Size>()
    for (const { name } of specOf(pod).containers) logs.set(name, await sizeOf(join(directories.logs(pod), name)))
    return { volumes: await volumeSizes(pod), logs }
  }

  return {
    async observe() {
      const nodefs = fileSystemAt(directories.root)
      const imageDirectory = await real.imageDirectory()
      const imagefs = imageDirectory === undefined ? nodefs : fileSystemAt(imageDirectory)
      return {
        'memory.available': memory(proc, mount),
        ...allocatableMemory(mount, cgroups.podsGroup),
        'nodefs.available': { available: nodefs.availableBytes, capacity: nodefs.capacityBytes },
        'imagefs.available': { available: imagefs.availableBytes, capacity: imagefs.capacityBytes },
        // A file system that does not count them has none.
        ...(nodefs.inodes === 0
          ? {}
          : { 'nodefs.inodesFree': { available: nodefs.inodesFree, capacity: nodefs.inodes } }),
        ...(imagefs.inodes === 0
          ? {}
          : { 'imagefs.inodesFree': { available: imagefs.inodesFree, capacity: imagefs.inodes } }),
        'pid.available': processes(proc),
      }
    },

    async pods(withDisks, of) {
      const used = Map.groupBy(await real.usage(), ({ podUid }) => podUid)
      const found = new Map<string, PodUse>()
      for (const pod of of ?? options.pods()) {
        const { volumes, logs } = withDisks ? await disksOf(pod) : NO_DISKS
        const containers = new Map<string, ContainerUse>()
        for (const { name, workingSetBytes, rootfsBytes, rootfsInodes } of used.get(uidOf(pod)) ?? [])
          containers.set(name, {
            memoryBytes: workingSetBytes,
            diskBytes: rootfsBytes + (logs.get(name)?.bytes ?? 0),
            inodes: rootfsInodes + (logs.get(name)?.inodes ?? 0),
          })
        found.set(uidOf(pod), { containers, volumes, processes: cgroups.processesOf(pod) })
      }
      return found
    },
  }
}

const NO_DISKS = { volumes: new Map<string, Size>(), logs: new Map<string, Size>() }

/** All but the working set, by the highest control group; where that tells nothing: what is free, and files that were not looked at for a while. */
export function memory(proc: string, mount: string): SignalObservation {
  const text = readFileSync(join(proc, 'meminfo'), 'utf8')
  const bytes = (name: string) =>
    Number(new RegExp(`^${name.replace(/[()]/g, '\\$&')}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  const capacity = bytes('MemTotal')
  const used = groupUsage(mount, '/')?.memory?.workingSet
  return { available: used === undefined ? bytes('MemFree') + bytes('Inactive(file)') : capacity - used, capacity }
}

/** What is left to all pods of what they are held to together. */
function allocatableMemory(mount: string, podsGroup: string): Observations {
  const { limit = 0, workingSet = 0 } = groupUsage(mount, podsGroup)?.memory ?? {}
  return limit === 0 ? {} : { 'allocatableMemory.available': { available: limit - workingSet, capacity: limit } }
}

/** Of the machine's limits the smaller one; what there is counts threads too, as the limits do. */
export function processes(proc: string): SignalObservation {
  const number = (file: string) => Number(readFileSync(join(proc, file), 'utf8').trim())
  const capacity = Math.min(number('sys/kernel/pid_max'), number('sys/kernel/threads-max'))
  const now = Number(/\d+\/(\d+)/.exec(readFileSync(join(proc, 'loadavg'), 'utf8'))?.[1] ?? 0)
  return { available: capacity - now, capacity }
}
