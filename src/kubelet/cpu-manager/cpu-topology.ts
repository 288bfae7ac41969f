/** Where each CPU of a machine is: its core, its socket, its NUMA node and the cache that it shares beyond the core. */
import { type CpuSet, cpuSet } from './cpu-set.ts'

export interface CpuPlace {
  /** The core's first CPU: unique on the machine, as the numbers that the kernel gives cores are not. */
  readonly core: number
  readonly socket: number
  readonly numaNode: number
  /** The last level's cache, where it is not that of a whole NUMA node; else its socket's number. */
  readonly uncoreCache: number
}

export type CpuLevel = keyof CpuPlace

export interface CpuTopology {
  readonly places: ReadonlyMap<number, CpuPlace>
  readonly cpus: CpuSet
  readonly sockets: CpuSet
  readonly numaNodes: CpuSet
  readonly cpusPerCore: number
  /** Whichever of them this one's parts are. */
  cpusIn(level: CpuLevel, ids: Iterable<number>): CpuSet
  idOf(level: CpuLevel, cpu: number): number
}

export function cpuTopology(places: ReadonlyMap<number, CpuPlace>): CpuTopology {
  const all = [...places.values()]
  const idsOf = (level: CpuLevel) => cpuSet(all.map((place) => place[level]))
  const cpus = cpuSet(places.keys())
  const cores = idsOf('core').length
  return {
    places,
    cpus,
    sockets: idsOf('socket'),
    numaNodes: idsOf('numaNode'),
    cpusPerCore: cores === 0 ? 0 : Math.floor(cpus.length / cores),
    cpusIn(level, ids) {
      const wanted = new Set(ids)
      return cpus.filter((cpu) => wanted.has(places.get(cpu)?.[level] ?? -1))
    },
    idOf: (level, cpu) => places.get(cpu)?.[level] ?? -1,
  }
}
