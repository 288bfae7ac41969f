/** Whether what reservedMemory keeps on the NUMA nodes is what the node's allocatable leaves out of its capacity. */
import { formatQuantity, nanosOf, parseQuantity, quantityValue } from '../../api/values/quantity.ts'
import type { NumaNode } from '../machine/machine-topology.ts'
import type { ReservedMemory } from './machine-memory.ts'

/** @throws Error in kubelet's words */
export function checkReserved(
  reserved: ReservedMemory,
  withheld: Readonly<Record<string, string>>,
  nodes: readonly NumaNode[],
): void {
  const sums = new Map<string, number>()
  for (const [node, own] of reserved) {
    if (!nodes.some(({ id }) => id === node))
      throw new Error(
        `failed to run Kubelet: the reserved memory configuration references a NUMA node ${node} that does not exist on this machine`,
      )
    for (const [type, size] of Object.entries(own)) sums.set(type, (sums.get(type) ?? 0) + size)
  }
  const types = [...new Set([...Object.keys(withheld).filter(isMemory), ...sums.keys()])].sort()
  for (const type of types) {
    const [sum, wanted] = [sums.get(type) ?? 0, withheld[type] ?? '0']
    if (BigInt(sum) !== quantityValue(wanted))
      throw new Error(
        `failed to run Kubelet: the total amount "${inBinary(sum)}" of type "${type}" is not equal to the value "${formatQuantity(parseQuantity(wanted))}" determined by Node Allocatable feature`,
      )
  }
}

const isMemory = (name: string) => name === 'memory' || name.startsWith('hugepages-')
const inBinary = (bytes: number) =>
  formatQuantity({ nanos: nanosOf(String(bytes)), format: parseQuantity('1Gi').format })
