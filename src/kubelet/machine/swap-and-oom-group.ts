/**
 * How much swap a container may use (KEP-2400: memorySwap.swapBehavior), and whether all of it ends when the kernel kills one of its processes
 * for want of memory (singleProcessOOMKill). Control groups of version 1 know only memory and swap together, and no such groups of processes.
 */
import { readFileSync } from 'node:fs'
import { qosClass } from '../../api/objects/qos.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import { type Container, type Pod, specOf } from '../pod.ts'
import type { LinuxContainerResources } from '../runtimes/cri/messages.ts'

export interface SwapSettings {
  readonly behavior: 'NoSwap' | 'LimitedSwap'
  /** Default: with version 2 all of the container ends. */
  readonly killsSingleProcess?: boolean
}

export interface MachineSwap {
  readonly cgroupVersion: 1 | 2
  /** Bytes. */
  readonly memory: bigint
  readonly swap: bigint
}

/** Bytes. */
export function swapOfMachine(): bigint {
  try {
    const kib = /^SwapTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
    return BigInt(kib ?? 0) * 1024n
  } catch {
    return 0n
  }
}

export const NO_SWAP: SwapSettings = { behavior: 'NoSwap' }

const CRITICAL_PRIORITY = 2_000_000_000

/** `memoryLimit`: the container's, in bytes; undefined: it has none. */
export function swapResources(
  pod: Pod,
  container: Container,
  memoryLimit: number | undefined,
  { behavior, killsSingleProcess = false }: SwapSettings,
  machine: MachineSwap,
): LinuxContainerResources {
  if (machine.cgroupVersion === 1) return memoryLimit === undefined ? {} : { memory_swap_limit_in_bytes: memoryLimit }
  const swap = behavior === 'LimitedSwap' ? limitedSwap(pod, container, machine) : 0n
  return {
    unified: { 'memory.swap.max': String(swap), ...(killsSingleProcess ? {} : { 'memory.oom.group': '1' }) },
  }
}

/** A Burstable container's share of the swap is what it asks for of the memory; one that may not grow beyond what it asks for has none. */
function limitedSwap(pod: Pod, container: Container, { memory, swap }: MachineSwap): bigint {
  const spec = specOf(pod)
  if (qosClass(spec) !== 'Burstable' || (spec.priority ?? 0) >= CRITICAL_PRIORITY) return 0n
  const { requests = {}, limits = {} } = container.resources ?? {}
  const request = quantityValue(requests['memory'] ?? '0')
  if (limits['memory'] !== undefined && quantityValue(limits['memory']) === request) return 0n
  return memory === 0n ? 0n : (request * swap) / memory
}
