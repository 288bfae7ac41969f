/** What this machine routes where, read from the texts of /proc/net/route and /proc/net/ipv6_route. A default route has all addresses of its family. */
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { type IPRange, isWithin, overlap, parseIPRange, rangeOfAddress } from '../../api/objects/ip-range.ts'
import { bitsIn, type IPFamily } from '../../api/values/ip.ts'

export interface NetworkRoute extends IPRange {
  readonly name: string
}

export const isDefault = ({ family, size }: IPRange): boolean => size === 1n << BigInt(bitsIn(family))

/** Numbers there are written with the last byte first. */
const number = (hex: string) =>
  [6, 4, 2, 0].reduce((bits, at) => bits * 256 + Number.parseInt(hex.slice(at, at + 2), 16), 0)

export const routesOf = (text: string): readonly NetworkRoute[] =>
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

/** The machine's own addresses are among them. */
export const routesOfIPv6 = (text: string): readonly NetworkRoute[] =>
  text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(({ length, 0: destination }) => length === 10 && destination?.length === 32)
    .map(([destination = '', length = '', ...more]) => ({
      name: more.at(-1) ?? '',
      family: 'IPv6',
      from: BigInt(`0x${destination}`),
      size: 1n << BigInt(128 - Number.parseInt(length, 16)),
    }))

/** Of this process's own network. None where the kernel has none of the family. */
export function machineRoutes(family: IPFamily): readonly NetworkRoute[] {
  try {
    return family === 'IPv4'
      ? routesOf(readFileSync('/proc/net/route', 'utf8'))
      : routesOfIPv6(readFileSync('/proc/net/ipv6_route', 'utf8'))
  } catch {
    return []
  }
}

/** Prefixes of what a cluster of several nodes has, and of one node's pods: 16 nodes' worth. */
export const LENGTHS: Readonly<Record<IPFamily, { readonly cluster: number; readonly node: number }>> = {
  IPv4: { cluster: 20, node: 24 },
  IPv6: { cluster: 60, node: 64 },
}

/** What clusters usually have first, then where networks of others leave room. */
const PREFIXES: Readonly<Record<IPFamily, readonly IPRange[]>> = {
  IPv4: ['10.244.0.0/16', '172.29.0.0/16', '192.168.0.0/16'].flatMap((cidr) => parseIPRange(cidr) ?? []),
  IPv6: ['fd00:10:244::/48', 'fd00:172:29::/48', 'fd00:192:168::/48'].flatMap((cidr) => parseIPRange(cidr) ?? []),
}

/** A machine's network, as its own files tell it. */
export interface MachineRoutes {
  readonly routes: readonly NetworkRoute[]
  /** Of the machine's interfaces. */
  readonly addresses: readonly string[]
  /** Whether an interface is the cluster's own: what goes there is in no other's way. */
  isOwn(name: string): boolean
}

/** `own`: the cluster's own interfaces. */
export const machineNetwork = (family: IPFamily, own: readonly string[]): MachineRoutes => ({
  routes: machineRoutes(family),
  addresses: Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    own.includes(name) ? [] : (addresses ?? []).flatMap((one) => (one.family === family ? one.address : [])),
  ),
  isOwn: (name) => own.includes(name),
})

/** Whether nothing of the machine is in this range. `besides`: a range that is the cluster's already. The default route counts for nothing. */
export function isUnrouted(wanted: IPRange, { routes, addresses, isOwn }: MachineRoutes, besides?: IPRange): boolean {
  const taken = [
    ...routes.filter((route) => !isOwn(route.name) && !isDefault(route)),
    ...addresses.flatMap((address) => rangeOfAddress(address) ?? []),
  ]
  return !taken.some((one) => overlap(one, wanted) && !(besides !== undefined && isWithin(one, besides)))
}

/** The first range of that length where nothing of the machine is. */
export function unroutedRange(machine: MachineRoutes, family: IPFamily, length: number): IPRange | undefined {
  const size = 1n << BigInt(bitsIn(family) - length)
  for (const prefix of PREFIXES[family])
    for (let from = prefix.from; from < prefix.from + prefix.size; from += size)
      if (isUnrouted({ family, from, size }, machine)) return { family, from, size }
  return undefined
}
