/** What of each NUMA node's memory is free, given out or kept for the system, and how that changes when a container is given some. */
import { sameJson } from '../../api/same.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import type { NumaNode } from '../machine/machine-topology.ts'
import type { MachineMemory, MemoryBlock, MemoryTable, NumaNodeState } from './memory-state.ts'

/** Kept for the system, by NUMA node and resource, in bytes. */
export type ReservedMemory = ReadonlyMap<number, Readonly<Record<string, number>>>

const HUGE = [
  [1024 * 1024, 'Gi'],
  [1024, 'Mi'],
  [1, 'Ki'],
] as const

/** `hugepages-2Mi` */
export function hugePagesName(sizeKiB: number): string {
  const [unit, suffix] = HUGE.find(([one]) => sizeKiB % one === 0) ?? [1, 'Ki']
  return `hugepages-${sizeKiB / unit}${suffix}`
}

export function emptyMachine(nodes: readonly NumaNode[], reserved: ReservedMemory): MachineMemory {
  return new Map(
    nodes.map(({ id, memory, hugePages }): [number, NumaNodeState] => {
      const kept = (name: string) => reserved.get(id)?.[name] ?? 0
      const table = (total: number, name: string, elsewhere = 0): MemoryTable => {
        const allocatable = total - elsewhere - kept(name)
        return { total, systemReserved: kept(name), allocatable, reserved: 0, free: allocatable }
      }
      const sizes = hugePages.map(({ sizeKiB, count }) => [hugePagesName(sizeKiB), sizeKiB * count * 1024] as const)
      const inHugePages = sizes.reduce((sum, [, size]) => sum + size, 0)
      return [
        id,
        {
          numberOfAssignments: 0,
          memoryMap: {
            ...Object.fromEntries(sizes.map(([name, size]) => [name, table(size, name)])),
            memory: table(memory, 'memory', inHugePages),
          },
          cells: [id],
        },
      ]
    }),
  )
}

/** `size`: what is to be taken for it, of the first nodes that have some. */
export function withBlock(machine: MachineMemory, { numaAffinity, type }: MemoryBlock, size: number): MachineMemory {
  const next = new Map(machine)
  let open = size
  for (const node of numaAffinity) {
    const state = machine.get(node)
    const table = state?.memoryMap[type]
    if (state === undefined) continue
    const taken = Math.min(open, Math.max(0, table?.free ?? 0))
    open -= taken
    next.set(node, {
      numberOfAssignments: state.numberOfAssignments + 1,
      memoryMap: { ...state.memoryMap, ...(table === undefined ? {} : { [type]: moved(table, taken) }) },
      cells: numaAffinity,
    })
  }
  return next
}

/** Its container has ended. */
export function withoutBlock(machine: MachineMemory, { numaAffinity, type, size }: MemoryBlock): MachineMemory {
  const next = new Map(machine)
  let open = size
  for (const node of numaAffinity) {
    const state = machine.get(node)
    const table = state?.memoryMap[type]
    if (state === undefined) continue
    const given = Math.min(open, table?.reserved ?? 0)
    open -= given
    const numberOfAssignments = Math.max(0, state.numberOfAssignments - 1)
    next.set(node, {
      numberOfAssignments,
      memoryMap: { ...state.memoryMap, ...(table === undefined ? {} : { [type]: moved(table, -given) }) },
      // With nothing given out of it, it may be joined with any others again.
      cells: numberOfAssignments === 0 ? [node] : state.cells,
    })
  }
  return next
}

const moved = (table: MemoryTable, size: number): MemoryTable => ({
  ...table,
  reserved: table.reserved + size,
  free: table.free - size,
})

export const sumOf = (
  machine: MachineMemory,
  nodes: readonly number[],
  type: string,
  what: 'free' | 'allocatable' | 'reserved',
): number => nodes.reduce((sum, node) => sum + (machine.get(node)?.memoryMap[type]?.[what] ?? 0), 0)

/** What is given of nodes together may lie on any of them: that rests on the order in which pods came and ended. */
export const sameMachine = (one: MachineMemory, other: MachineMemory): boolean =>
  sameJson(withSums(one), withSums(other))

const withSums = (machine: MachineMemory) =>
  Object.fromEntries(
    [...machine].map(([node, { numberOfAssignments, memoryMap, cells }]) => {
      const tables = Object.entries(memoryMap).map(([type, { total, systemReserved, allocatable }]) => {
        const reserved = sumOf(machine, cells, type, 'reserved')
        const free = sumOf(machine, cells, type, 'free')
        return [type, { total, systemReserved, allocatable, reserved, free }]
      })
      return [node, { numberOfAssignments, memoryMap: Object.fromEntries(tables), cells: [...cells] }]
    }),
  )

/** What of the resources is memory, in bytes. */
export const memoryIn = (resources: Readonly<Record<string, string>>): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(resources)
      .filter(([name]) => name === 'memory' || name.startsWith('hugepages-'))
      .map(([name, amount]) => [name, Number(quantityValue(amount))]),
  )
