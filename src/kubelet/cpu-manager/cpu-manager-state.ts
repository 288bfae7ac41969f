/** cpu_manager_state: the shared pool, and the CPUs that containers have for themselves, in the file that a real kubelet keeps too. */
import { messageOf } from '../../base/errors.ts'
import { checkpointOf, checksumOf, printedMap, readCheckpoint, writeCheckpoint } from '../checkpoint-file.ts'
import { type CpuSet, cpuSetText, parseCpuSet } from './cpu-set.ts'

/** By uid of the pod and name of the container. */
export type CpuEntries = ReadonlyMap<string, ReadonlyMap<string, CpuSet>>

export interface CpuState {
  readonly shared: CpuSet
  readonly entries: CpuEntries
}

export interface CpuStateFile {
  /** Undefined where there is none. @throws Error when it is damaged, or of another policy */
  read(): CpuState | undefined
  write(state: CpuState): void
}

interface CpuContents {
  readonly policyName: string
  readonly defaultCpuSet: string
  readonly entries?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export function cpuStateFile(file: string, policyName: string): CpuStateFile {
  return {
    read() {
      try {
        const kept = readCheckpoint(file, checksumOfContents)
        if (kept === undefined) return undefined
        if (kept.policyName !== policyName)
          throw new Error(`configured policy "${policyName}" differs from state checkpoint policy "${kept.policyName}"`)
        return stateOf(kept)
      } catch (cause) {
        throw new Error(
          `could not restore state from checkpoint: ${messageOf(cause)}, please drain this node and delete the CPU manager checkpoint file "${file}" before restarting Kubelet`,
          { cause },
        )
      }
    },
    write({ shared, entries }) {
      const named = [...entries].map(([uid, containers]): [string, Record<string, string>] => [
        uid,
        Object.fromEntries([...containers].sort(byName).map(([name, cpus]) => [name, cpuSetText(cpus)])),
      ])
      const contents = {
        policyName,
        defaultCpuSet: cpuSetText(shared),
        ...(named.length === 0 ? {} : { entries: Object.fromEntries(named.sort(byName)) }),
      }
      writeCheckpoint(file, checkpointOf(contents, checksumOfContents(contents)))
    },
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

function checksumOfContents({ policyName, defaultCpuSet, entries = {} }: CpuContents): number {
  const printed = printedMap(
    Object.entries(entries).map(([uid, containers]) => [uid, printedMap(Object.entries(containers))] as const),
  )
  return checksumOf(
    `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} Entries:(map[string]map[string]string)${printed} Checksum:(checksum.Checksum)0}`,
  )
}

function stateOf({ defaultCpuSet, entries = {} }: CpuContents): CpuState {
  try {
    return {
      shared: parseCpuSet(defaultCpuSet),
      entries: new Map(
        Object.entries(entries).map(([uid, containers]) => [
          uid,
          new Map(Object.entries(containers).map(([name, cpus]) => [name, parseCpuSet(cpus)])),
        ]),
      ),
    }
  } catch (cause) {
    throw new Error(`could not parse default cpu set "${defaultCpuSet}": ${messageOf(cause)}`, { cause })
  }
}
