/** memory_manager_state: what of each NUMA node's memory is given out, and to which containers, in the file that a real kubelet keeps too. */

import { messageOf } from '../../base/errors.ts'
import { checkpointOf, checksumOf, printedMap, readCheckpoint, writeCheckpoint } from '../checkpoint-file.ts'

/** Bytes. */
export interface MemoryTable {
  readonly total: number
  readonly systemReserved: number
  readonly allocatable: number
  readonly reserved: number
  readonly free: number
}

export interface NumaNodeState {
  readonly numberOfAssignments: number
  /** By resource: `memory`, `hugepages-2Mi`. */
  readonly memoryMap: Readonly<Record<string, MemoryTable>>
  /** The nodes that memory is given of together with this one. */
  readonly cells: readonly number[]
}

export interface MemoryBlock {
  readonly numaAffinity: readonly number[]
  readonly type: string
  readonly size: number
}

export type MachineMemory = ReadonlyMap<number, NumaNodeState>
/** By uid of the pod and name of the container. */
export type MemoryEntries = ReadonlyMap<string, ReadonlyMap<string, readonly MemoryBlock[]>>

export interface MemoryState {
  readonly machine: MachineMemory
  readonly entries: MemoryEntries
}

export interface MemoryStateFile {
  /** Undefined where there is none. @throws Error when it is damaged, or of another policy */
  read(): MemoryState | undefined
  write(state: MemoryState): void
}

type Named<T> = Readonly<Record<string, T>>

interface MemoryContents {
  readonly policyName: string
  readonly machineState: Named<NumaNodeState>
  readonly entries?: Named<Named<readonly MemoryBlock[]>>
}

export function memoryStateFile(file: string, policyName: string): MemoryStateFile {
  return {
    read() {
      try {
        const kept = readCheckpoint(file, checksumOfContents)
        if (kept === undefined) return undefined
        if (kept.policyName !== policyName)
          throw new Error(
            `[memorymanager] configured policy "${policyName}" differs from state checkpoint policy "${kept.policyName}"`,
          )
        return {
          machine: new Map(Object.entries(kept.machineState).map(([node, state]) => [Number(node), state])),
          entries: new Map(Object.entries(kept.entries ?? {}).map(([uid, own]) => [uid, new Map(Object.entries(own))])),
        }
      } catch (cause) {
        throw new Error(
          `could not restore state from checkpoint: ${messageOf(cause)}, please drain this node and delete the memory manager checkpoint file "${file}" before restarting Kubelet`,
          { cause },
        )
      }
    },
    write({ machine, entries }) {
      const nodes = [...machine].map(
        // The nodes' numbers come in their own order by themselves.
        ([node, state]) => [node, { ...state, memoryMap: sorted(state.memoryMap) }] as const,
      )
      const named = [...entries].map(([uid, own]) => [uid, sorted(Object.fromEntries(own))] as const)
      const contents = {
        policyName,
        machineState: Object.fromEntries(nodes),
        ...(named.length === 0 ? {} : { entries: sorted(Object.fromEntries(named)) }),
      }
      writeCheckpoint(file, checkpointOf(contents, checksumOfContents(contents)))
    },
  }
}

const sorted = <T>(record: Named<T>): Named<T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

function checksumOfContents({ policyName, machineState, entries = {} }: MemoryContents): number {
  const nodes = Object.entries(machineState).sort(([a], [b]) => Number(a) - Number(b))
  const printedNodes = `map[${nodes.map(([node, state]) => `${node}:${printedNode(state)}`).join(' ')}]`
  const printedEntries = printedMap(
    Object.entries(entries).map(
      ([uid, own]) =>
        [
          uid,
          printedMap(
            Object.entries(own).map(([name, blocks]) => [name, `[${blocks.map(printedBlock).join(' ')}]`] as const),
          ),
        ] as const,
    ),
  )
  return checksumOf(
    `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)${printedNodes} Entries:(state.ContainerMemoryAssignments)${printedEntries} Checksum:(checksum.Checksum)0}`,
  )
}

function printedNode({ numberOfAssignments, memoryMap, cells }: NumaNodeState): string {
  const tables = Object.entries(memoryMap).map(
    ([name, table]) =>
      [
        name,
        `<*>{TotalMemSize:(uint64)${table.total} SystemReserved:(uint64)${table.systemReserved} Allocatable:(uint64)${table.allocatable} Reserved:(uint64)${table.reserved} Free:(uint64)${table.free}}`,
      ] as const,
  )
  return `<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${printedMap(tables)} Cells:([]int)[${cells.join(' ')}]}`
}

const printedBlock = ({ numaAffinity, type, size }: MemoryBlock): string =>
  `{NUMAAffinity:([]int)[${numaAffinity.join(' ')}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`
