/** Pod addresses of one node: the lowest free one of its range, given back when the sandbox ends. */
import { parseIPv4 } from '../api/objects/ip.ts'

export interface PodAddresses {
  take(): string
  /** A sandbox has it already. */
  reserve(ip: string): void
  release(ip: string): void
}

/** Addresses of one node: enough for 2,000 pods. */
const PREFIX = 21
const FIRST = parseIPv4('10.244.0.0') as number
const FIRST_NODE = parseIPv4('172.18.0.2') as number

/** The pod range of the node with this number, 0 and up. */
export function podCIDROf(nodeIndex: number): string {
  return `${formatIPv4(FIRST + nodeIndex * 2 ** (32 - PREFIX))}/${PREFIX}`
}

/** The same in a network that no site and no real node of the cluster uses (100.64.0.0/10); 2,048 of them. */
export const besideCIDROf = (index: number): string => `100.${64 + ((index >> 5) % 64)}.${(index & 31) * 8}.0/${PREFIX}`

/** The address of the node with this number. */
export function nodeIPOf(nodeIndex: number): string {
  return formatIPv4(FIRST_NODE + nodeIndex)
}

/** @throws Error for a range that is no IPv4 network; `take` throws when no address is free. */
export function createPodAddresses(cidr: string): PodAddresses {
  const [base = '', bits = ''] = cidr.split('/')
  const start = parseIPv4(base)
  const size = /^\d+$/.test(bits) ? 2 ** (32 - Number(bits)) : 0
  if (start === undefined || size < 4) throw new Error(`not a pod range: ${cidr}`)
  const freed: number[] = []
  /** Of those from `next` on. */
  const reserved = new Set<number>()
  const offsetOf = (ip: string) => (parseIPv4(ip) ?? start) - start
  // The first is the network, the second its gateway, the last the broadcast address.
  let next = 2
  return {
    reserve(ip) {
      const offset = offsetOf(ip)
      if (offset >= next && offset < size - 1) reserved.add(offset)
    },
    take() {
      while (reserved.delete(next)) next++
      // What was freed long ago first: a name that still points at an old pod should not find another one at once.
      if (next < size - 1) return formatIPv4(start + next++)
      const offset = freed.shift()
      if (offset === undefined) throw new Error(`no address is free in ${cidr}`)
      return formatIPv4(start + offset)
    },
    release(ip) {
      const offset = offsetOf(ip)
      if (!reserved.delete(offset) && offset >= 2 && offset < size - 1) freed.push(offset)
    },
  }
}

function formatIPv4(bits: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')
}
