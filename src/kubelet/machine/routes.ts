/** What this machine routes where, read from the text of /proc/net/route. The default route has 2^32 addresses. */
import { type IPv4Range, isWithin, overlap, parseIPv4Range } from '../../api/objects/ipv4-range.ts'

export interface Route extends IPv4Range {
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
      from: number(destination),
      size: 2 ** 32 - number(mask),
    }))

/** What a cluster of several nodes has: 16 times a /24. */
export const CLUSTER_BITS = 20
export const NODE_BITS = 24

/** What clusters usually have first, then where a network of 10.0.0.0/8 leaves room: each a /16. */
const PREFIXES = ['10.244.0.0/16', '172.29.0.0/16', '192.168.0.0/16'].flatMap((cidr) => parseIPv4Range(cidr) ?? [])

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
export function isUnrouted(wanted: IPv4Range, { text, addresses, isOwn }: MachineRoutes, besides?: IPv4Range): boolean {
  const taken = [
    ...routesOf(text).filter(({ name, size }) => !isOwn(name) && size < 2 ** 32),
    ...addresses.flatMap((address) => parseIPv4Range(`${address}/32`) ?? []),
  ]
  return !taken.some((one) => overlap(one, wanted) && !(besides !== undefined && isWithin(one, besides)))
}

/** The first range of that length where nothing of the machine is. */
export function unroutedRange(machine: MachineRoutes, bits: number): IPv4Range | undefined {
  const size = 2 ** (32 - bits)
  for (const prefix of PREFIXES)
    for (let from = prefix.from; from < prefix.from + prefix.size; from += size)
      if (isUnrouted({ from, size }, machine)) return { from, size }
  return undefined
}
