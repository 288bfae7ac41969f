/**
 * Which CPUs a container is given where they are to be near each other: whole sockets and NUMA nodes first, then whole caches where those
 * are preferred, then whole cores, then single CPUs; and of all of these first those that have the fewest CPUs left, so that larger parts
 * of the machine stay whole for others.
 */
import { type CpuSet, cpuSet } from './cpu-set.ts'
import type { CpuLevel, CpuTopology } from './cpu-topology.ts'

export interface PackedOptions {
  /** distribute-cpus-across-cores: of each core as few as can be. */
  readonly spreadsOverCores?: boolean
  /** prefer-align-cpus-by-uncorecache */
  readonly prefersUncoreCache?: boolean
}

/** What is still free of the machine while CPUs are taken of it. */
export interface FreeCpus {
  readonly taken: CpuSet
  readonly needed: number
  /** Those of the level that have free CPUs, the one with the fewest first. */
  sorted(level: 'socket' | 'numaNode' | 'uncoreCache' | 'core'): readonly number[]
  freeIn(level: CpuLevel, id: number): CpuSet
  take(cpus: Iterable<number>): void
}

export const notEnough = (requested: number, available: number): Error =>
  new Error(`not enough cpus available to satisfy request: requested=${requested}, available=${available}`)

export function freeCpus(topology: CpuTopology, available: CpuSet, wanted: number): FreeCpus {
  const free = new Set(available)
  const taken: number[] = []
  // The larger of both holds the smaller: sockets hold NUMA nodes where there are more of those, and lie in them otherwise.
  const [outer, inner]: readonly [CpuLevel, CpuLevel] =
    topology.sockets.length >= topology.numaNodes.length ? ['numaNode', 'socket'] : ['socket', 'numaNode']
  const idOf = topology.idOf
  const freeIn = (level: CpuLevel, id: number) => cpuSet([...free].filter((cpu) => idOf(level, cpu) === id))
  function fewestFirst(level: CpuLevel, among: Iterable<number>): readonly number[] {
    const counts = new Map(
      [...new Set([...among].map((cpu) => idOf(level, cpu)))].map((id) => [id, freeIn(level, id).length]),
    )
    return [...counts.keys()].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || a - b)
  }
  const below = (level: CpuLevel, parents: readonly number[], of: CpuLevel) =>
    parents.flatMap((id) => fewestFirst(level, freeIn(of, id)))
  const outers = () => fewestFirst(outer, free)
  const inners = () => below(inner, outers(), outer)
  return {
    get taken() {
      return cpuSet(taken)
    },
    get needed() {
      return wanted - taken.length
    },
    sorted(level) {
      if (level === outer) return outers()
      if (level === inner) return inners()
      return level === 'uncoreCache' ? below(level, outers(), outer) : below(level, inners(), inner)
    },
    freeIn,
    take(cpus) {
      for (const cpu of cpus) {
        free.delete(cpu)
        taken.push(cpu)
      }
    },
  }
}

/** @throws Error when there are not enough of them */
export function takePacked(
  topology: CpuTopology,
  available: CpuSet,
  wanted: number,
  { spreadsOverCores = false, prefersUncoreCache = false }: PackedOptions = {},
): CpuSet {
  const free = freeCpus(topology, available, wanted)
  if (wanted <= 0) return []
  if (available.length < wanted) throw notEnough(wanted, available.length)
  const sizeOf = (level: CpuLevel, id: number) => topology.cpusIn(level, [id]).length

  function takeWhole(level: 'socket' | 'numaNode' | 'uncoreCache' | 'core'): void {
    const whole = free.sorted(level).filter((id) => free.freeIn(level, id).length === sizeOf(level, id))
    for (const id of whole) if (free.needed >= sizeOf(level, id)) free.take(free.freeIn(level, id))
  }

  /** All of what is still needed of one cache, of the first cores, as few as would do if they were whole. */
  function takeOfOneCache(): void {
    for (const cache of free.sorted('uncoreCache')) {
      const own = free.freeIn('uncoreCache', cache)
      const numbers = cpuSet(own.map((cpu) => topology.idOf('core', cpu)))
      const cores = numbers.map((core) => own.filter((cpu) => topology.idOf('core', cpu) === core))
      const cpus = cores.slice(0, Math.ceil(free.needed / topology.cpusPerCore)).flat()
      if (cpus.length < free.needed) continue
      free.take(cpus.slice(0, free.needed))
      return
    }
  }

  const levels = topology.sockets.length >= topology.numaNodes.length ? ['numaNode', 'socket'] : ['socket', 'numaNode']
  for (const level of levels as readonly ('socket' | 'numaNode')[]) takeWhole(level)
  if (prefersUncoreCache && free.needed > 0) {
    takeWhole('uncoreCache')
    if (free.needed > 0) takeOfOneCache()
  }
  if (!spreadsOverCores) takeWhole('core')
  if (free.needed > 0) free.take(singleCpus(free, spreadsOverCores).slice(0, free.needed))
  return free.taken
}

/** In the order in which they are taken: core by core, or, where they are to be spread, as they are counted in each socket. */
const singleCpus = (free: FreeCpus, spreads: boolean): readonly number[] =>
  free.sorted(spreads ? 'socket' : 'core').flatMap((id) => free.freeIn(spreads ? 'socket' : 'core', id))
