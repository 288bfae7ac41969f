/** IP addresses and CIDRs for CEL (KEP-2876's libraries). */
import { addressProblem, prefixProblem } from '../objects/address-problems.ts'
import { goQuote } from '../quote.ts'
import { parseIPv4, parseIPv6 } from '../values/ip.ts'
import { fn, method, type Overload } from './functions.ts'
import { BOOL, INT, STRING, type Type } from './types.ts'
import { CelError, Opaque } from './values.ts'

interface Address {
  readonly family: 4 | 6
  readonly bits: bigint
}

interface Network {
  readonly address: Address
  readonly length: number
}

function parseAddress(text: string): Address | undefined {
  const four = parseIPv4(text)
  if (four !== undefined) return { family: 4, bits: BigInt(four) }
  const six = parseIPv6(text)
  // An IPv4 address in IPv6 clothes is refused.
  return six === undefined || six >> 32n === 0xffffn ? undefined : { family: 6, bits: six }
}

function textOf({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const zeros = [...groups.join(':').matchAll(/(?:^|:)(0(?::0)+)(?=:|$)/g)].map((match) => match[1] as string)
  const longest = zeros.sort((a, b) => b.length - a.length)[0]
  if (longest === undefined) return groups.join(':')
  const whole = `:${groups.join(':')}:`
  const at = whole.indexOf(`:${longest}:`)
  return `${whole.slice(1, at)}::${whole.slice(at + longest.length + 2, -1)}`
}

function address(text: string): Opaque {
  const parsed = parseAddress(text)
  if (parsed === undefined)
    throw new CelError(
      refusedKind(text, text) ??
        `IP Address ${goQuote(text)} parse error during conversion from string: ${addressProblem(text)}`,
    )
  return new Opaque('net.IP', parsed, textOf(parsed))
}

/** What is an address, but of a kind that Kubernetes does not take; `told` as it was written. */
function refusedKind(address: string, told: string): string | undefined {
  if (addressProblem(address) !== undefined) return undefined
  return address.includes('%')
    ? `IP address ${goQuote(told)} with zone value is not allowed`
    : `IPv4-mapped IPv6 address ${goQuote(told)} is not allowed`
}

function parseNetwork(text: string): Network | undefined {
  const slash = text.lastIndexOf('/')
  const parsed = slash < 0 ? undefined : parseAddress(text.slice(0, slash))
  const bits = text.slice(slash + 1)
  if (parsed === undefined || !/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > (parsed.family === 4 ? 32 : 128))
    return undefined
  return { address: parsed, length: Number(bits) }
}

const cidrOf = (network: Network) => new Opaque('net.CIDR', network, `${textOf(network.address)}/${network.length}`)

const UNREAD = 'network address parse error during conversion from string: '

function cidr(text: string): Opaque {
  const parsed = parseNetwork(text)
  if (parsed === undefined) {
    const problem = prefixProblem(text)
    const why = problem === undefined ? refusedKind(text.slice(0, text.lastIndexOf('/')), text) : `${UNREAD}${problem}`
    throw new CelError(`${UNREAD}${why}`)
  }
  return cidrOf(parsed)
}

const width = (family: 4 | 6) => (family === 4 ? 32n : 128n)

function holds(network: Network, one: Address): boolean {
  if (network.address.family !== one.family) return false
  const shift = width(one.family) - BigInt(network.length)
  return network.address.bits >> shift === one.bits >> shift
}

function masked({ address: { family, bits }, length }: Network): Network {
  const shift = width(family) - BigInt(length)
  return { address: { family, bits: (bits >> shift) << shift }, length }
}

const within = (one: Address, text: string) => holds(parseNetwork(text) as Network, one)

const is = (four: readonly string[], six: readonly string[]) => (one: Opaque) =>
  (one.data.family === 4 ? four : six).some((text) => within(one.data, text))

const unspecified = is(['0.0.0.0/32'], ['::/128'])
const loopback = is(['127.0.0.0/8'], ['::1/128'])
const linkLocalMulticast = is(['224.0.0.0/24'], ['ff02::/16'])
const linkLocalUnicast = is(['169.254.0.0/16'], ['fe80::/10'])
const multicast = is(['224.0.0.0/4'], ['ff00::/8'])
const globalUnicast = (one: Opaque) =>
  !unspecified(one) && !loopback(one) && !multicast(one) && !linkLocalUnicast(one) && one.text !== '255.255.255.255'

export function addressLibrary({
  IP,
  CIDR,
}: {
  readonly IP: Type
  readonly CIDR: Type
}): Record<string, readonly Overload[]> {
  const asAddress = (value: Opaque | string) =>
    typeof value === 'string' ? (address(value).data as Address) : (value.data as Address)
  const asNetwork = (value: Opaque | string) =>
    typeof value === 'string' ? (cidr(value).data as Network) : (value.data as Network)
  return {
    ip: [
      fn([STRING], IP, address),
      method([CIDR], IP, ({ data }: Opaque) => new Opaque('net.IP', data.address, textOf(data.address))),
    ],
    isIP: [fn([STRING], BOOL, (text: string) => parseAddress(text) !== undefined)],
    'ip.isCanonical': [fn([STRING], BOOL, (text: string) => address(text).text === text)],
    string: [IP, CIDR].map((type) => fn([type], STRING, ({ text }: Opaque) => text)),
    family: [method([IP], INT, ({ data }: Opaque) => BigInt(data.family))],
    isUnspecified: [method([IP], BOOL, unspecified)],
    isLoopback: [method([IP], BOOL, loopback)],
    isLinkLocalMulticast: [method([IP], BOOL, linkLocalMulticast)],
    isLinkLocalUnicast: [method([IP], BOOL, linkLocalUnicast)],
    isGlobalUnicast: [method([IP], BOOL, globalUnicast)],
    cidr: [fn([STRING], CIDR, cidr)],
    isCIDR: [fn([STRING], BOOL, (text: string) => parseNetwork(text) !== undefined)],
    containsIP: [IP, STRING].map((type) =>
      method([CIDR, type], BOOL, (a: Opaque, b: Opaque | string) => holds(a.data, asAddress(b))),
    ),
    containsCIDR: [CIDR, STRING].map((type) =>
      method([CIDR, type], BOOL, (a: Opaque, b: Opaque | string) => {
        const other = asNetwork(b)
        return a.data.length <= other.length && holds(a.data, other.address)
      }),
    ),
    masked: [method([CIDR], CIDR, ({ data }: Opaque) => cidrOf(masked(data)))],
    prefixLength: [method([CIDR], INT, ({ data }: Opaque) => BigInt(data.length))],
  }
}
