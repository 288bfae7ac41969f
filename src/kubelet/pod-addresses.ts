/** Addresses of simulated nodes and their pods: the lowest free one of each of a node's ranges, given back when the sandbox ends. */
import { addressAt, type IPRange, parseIPRange, pieceAround, prefixLength, rangeText } from '../api/objects/ip-range.ts'
import { addressBits, type IPFamily } from '../api/values/ip.ts'

export interface PodAddresses {
  /** One of each range, in the order of the ranges. @throws Error when none is free in one of them */
  take(): readonly string[]
  /** A sandbox has it already. */
  reserve(ip: string): void
  release(ip: string): void
}

/** Where simulated nodes and their pods have addresses: of each family of the cluster's, in its order. */
export interface SimulatedNetwork {
  podCIDRs(nodeIndex: number): readonly string[]
  nodeIPs(nodeIndex: number): readonly string[]
  /** New Nodes are registered with their ranges. */
  readonly isTold: boolean
}

/** Addresses of one node: enough for 2,000 pods; where the cluster's own range has no room for that, as Kubernetes cuts it. */
const PREFIX = 21
const LENGTHS: Readonly<Record<IPFamily, readonly number[]>> = { IPv4: [PREFIX, 24], IPv6: [64] }
const range = (cidr: string) => parseIPRange(cidr) as IPRange
const PODS: Readonly<Record<IPFamily, IPRange>> = { IPv4: range('10.244.0.0/16'), IPv6: range('fd00:10:244::/48') }
const NODES: Readonly<Record<IPFamily, IPRange>> = { IPv4: range('172.18.0.0/16'), IPv6: range('fd00:172:18::/64') }
const BESIDE = range('fd00:100:64::/48')

/** The pod range of the node with this number, 0 and up. */
export const podCIDROf = (nodeIndex: number): string => pieceText(PODS.IPv4, PREFIX, nodeIndex)

/** The same in a network that no site and no real node of the cluster uses (100.64.0.0/10); 2,048 of them. */
export const besideCIDROf = (index: number): string => `100.${64 + ((index >> 5) % 64)}.${(index & 31) * 8}.0/${PREFIX}`

/** The address of the node with this number. */
export const nodeIPOf = (nodeIndex: number): string => addressAt(NODES.IPv4, nodeIndex + 2)

function pieceText(whole: IPRange, length: number, index: number): string {
  const piece = pieceAround({ family: whole.family, value: whole.from }, length)
  return rangeText({ ...piece, from: piece.from + BigInt(index) * piece.size })
}

export interface NetworkChoice {
  readonly families: readonly IPFamily[]
  /** How many nodes there are to be. */
  readonly nodes: number
  /** What nodes' ranges are pieces of, one of each family. Default: 10.244.0.0/21 and on, fd00:10:244::/64 and on. */
  readonly clusterCidrs?: readonly string[] | undefined
  /** They stand beside real ones, in other networks than theirs. */
  readonly beside?: boolean
}

/** @throws Error for ranges of other families than these, and for such as have no room for so many nodes */
export function simulatedNetwork({ families, nodes, clusterCidrs, beside = false }: NetworkChoice): SimulatedNetwork {
  const given = clusterCidrs?.map((cidr) => clusterRange(cidr, nodes))
  if (given !== undefined) checkFamilies(given, families, clusterCidrs)
  const pieces = families.map((family, i) => (index: number): string => {
    const own = given?.[i]
    if (own !== undefined) return pieceText(own.whole, own.length, index)
    if (family === 'IPv4') return (beside ? besideCIDROf : podCIDROf)(index)
    return pieceText(beside ? BESIDE : PODS.IPv6, 64, index)
  })
  return {
    podCIDRs: (index) => pieces.map((piece) => piece(index)),
    nodeIPs: (index) => families.map((family) => addressAt(NODES[family], index + 2)),
    isTold: given !== undefined || families.includes('IPv6'),
  }
}

/** Where nodes run real containers, each has a /24 or /64, and several have another one for their own addresses. @throws Error as simulatedNetwork */
export function checkRealRanges({ families, nodes, clusterCidrs = [] }: NetworkChoice): void {
  const pieces = nodes > 1 ? nodes + 1 : 1
  const given = clusterCidrs.map((cidr) => clusterRange(cidr, pieces))
  checkFamilies(given, families, clusterCidrs)
}

function checkFamilies(
  given: readonly { readonly whole: IPRange }[],
  families: readonly IPFamily[],
  clusterCidrs: readonly string[] = [],
): void {
  if (given.map(({ whole }) => whole.family).join() !== families.join())
    throw new Error(
      `${clusterCidrs.join()}: Services have ${families.join(' and ')} addresses, in this order, and pods must have the same`,
    )
}

function clusterRange(cidr: string, nodes: number): { readonly whole: IPRange; readonly length: number } {
  const whole = parseIPRange(cidr)
  if (whole === undefined) throw new Error(`${cidr} is no range of addresses`)
  const bits = Math.ceil(Math.log2(Math.max(1, nodes)))
  const most = prefixLength(whole) + bits
  const lengths = LENGTHS[whole.family]
  const length = lengths.find((one) => most <= one)
  if (length === undefined) throw new Error(`${cidr} has no room for ${nodes} ranges of /${lengths.at(-1)}`)
  return { whole, length }
}

/** @throws Error for what is no network, or one without room */
export function createPodAddresses(...cidrs: readonly string[]): PodAddresses {
  const pools = cidrs.map(createPool)
  return {
    take() {
      const taken: string[] = []
      try {
        for (const pool of pools) taken.push(pool.take())
      } catch (error) {
        for (const [at, ip] of taken.entries()) pools[at]?.release(ip)
        throw error
      }
      return taken
    },
    reserve(ip) {
      for (const pool of pools) pool.reserve(ip)
    },
    release(ip) {
      for (const pool of pools) pool.release(ip)
    },
  }
}

function createPool(cidr: string) {
  const pool = parseIPRange(cidr)
  if (pool === undefined || pool.size < 4n) throw new Error(`not a pod range: ${cidr}`)
  const size = Number(pool.size)
  const freed: number[] = []
  /** Of those from `next` on. */
  const reserved = new Set<number>()
  // Of an address elsewhere it is none that is given.
  const offsetOf = (ip: string) => {
    const bits = addressBits(ip)
    return bits?.family === pool.family ? Number(bits.value - pool.from) : -1
  }
  // The first is the network, the second its gateway, the last the broadcast address.
  let next = 2
  return {
    reserve(ip: string) {
      const offset = offsetOf(ip)
      if (offset >= next && offset < size - 1) reserved.add(offset)
    },
    take(): string {
      while (reserved.delete(next)) next++
      // What was freed long ago first: a name that still points at an old pod should not find another one at once.
      if (next < size - 1) return addressAt(pool, next++)
      const offset = freed.shift()
      if (offset === undefined) throw new Error(`no address is free in ${cidr}`)
      return addressAt(pool, offset)
    },
    release(ip: string) {
      const offset = offsetOf(ip)
      if (!reserved.delete(offset) && offset >= 2 && offset < next) freed.push(offset)
    },
  }
}
