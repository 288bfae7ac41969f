/** What this machine routes where, read from the text of /proc/net/route. The default route has 2^32 addresses. */
import { type IPRange, isWithin, overlap, parseIPRange, rangeOfAddress } from '../../api/objects/ip-range.ts'

/** What the default route leads to: all there are of IPv4. */
export const EVERYTHING = 2n ** 32n

export interface Route extends IPRange {
  readonly name: string
}

/** Numbers there are written with the last byte first. */
const number = (hex: string) =>
  [6, 4, 2, 0].reduce((bits, at) => bits * 256 + Number.parseInt(hex.slice(at, at + 2), 16), 0)

export const routesOf = (text: string): readonly Route[] =>
  text
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .filter(([, destination, , , , , , mask]) => destination?.length === 8 && mask?.length === 8)
    .map(([name = '', destination = '', , , , , , mask = '']) => ({
      name,
      family: 'IPv4',
      from: BigInt(number(destination)),
      size: 2n ** 32n - BigInt(number(mask)),
    }))

/** What a cluster of several nodes has: 16 times a /24. */
export const CLUSTER_BITS = 20
export const NODE_BITS = 24

/** What clusters usually have first, then where a network of 10.0.0.0/8 leaves room: each a /16. */
const PREFIXES = ['10.244.0.0/16', '172.29.0.0/16', '192.168.0.0/16'].flatMap((cidr) => parseIPRange(cidr) ?? [])

/** A machine's network, as its own files tell it. */
export interface MachineRoutes {
  /** Of /proc/net/route. */
  readonly text: string
  /** Of the machine's interfaces. */
  readonly addresses: readonly string[]
  /** Whether an interface is the cluster's own: what goes there is in no one's way. */
  isOwn(name: string): boolean
}

/** Whether nothing of the machine is in this range. `besides`: a range that is the cluster's already. The default route counts for nothing. */
export function isUnrouted(wanted: IPRange, { text, addresses, isOwn }: MachineRoutes, besides?: IPRange): boolean {
  const taken = [
    ...routesOf(text).filter(({ name, size }) => !isOwn(name) && size < EVERYTHING),
    ...addresses.flatMap((address) => rangeOfAddress(address) ?? []),
  ]
  return !taken.some((one) => overlap(one, wanted) && !(besides !== undefined && isWithin(one, besides)))
}

/** The first range of that length where nothing of the machine is. */
export function unroutedRange(machine: MachineRoutes, bits: number): IPRange | undefined {
  const size = 1n << BigInt(32 - bits)
  for (const prefix of PREFIXES)
    for (let from = prefix.from; from < prefix.from + prefix.size; from += size)
      if (isUnrouted({ family: 'IPv4', from, size }, machine)) return { family: 'IPv4', from, size }
  return undefined
}
