/**
 * From which addresses and ports Services are given theirs (--service-cluster-ip-range, --service-node-port-range). The lower
 * part of each is handed out last, so that people may choose addresses there (KEP-3070, KEP-3668).
 */
import type { ServiceCIDR } from '../../../api/generated/types.ts'
import { addressAt, type IPRange, parseIPRange, rangeText } from '../../../api/objects/ip-range.ts'
import { addressBits, type IPFamily, withoutLeadingZeros } from '../../../api/values/ip.ts'

export interface ServiceNetwork {
  /** One, or one of each family: Services that ask for none have addresses of the first. */
  readonly ranges: readonly [ServiceRange, ...ServiceRange[]]
  readonly ports: PortRange
}

/** Its first address is never given, and of IPv4 its last (the broadcast address) neither. */
export interface ServiceRange extends IPRange {
  /** `10.96.0.0/16`, the address masked. */
  readonly cidr: string
  /** Offsets up to here are handed out when those above are gone. */
  readonly staticBand: number
}

export interface PortRange {
  readonly first: number
  /** Inclusive. */
  readonly last: number
  /** So many ports at the beginning of the range are left for Services that ask for one: others get them only when the rest is taken (KEP-3668). */
  readonly staticBand: number
}

/** As kubeadm's clusters in kube-apiserver's own defaults. */
export const DEFAULT_CIDR = '10.96.0.0/16'
const DEFAULT_PORTS = '30000-32767'
/** An address for the kubernetes Service, some for others, and the two that are never given. */
export const LEAST_ADDRESSES = 8n
/** A network of IPv6 is no larger: the allocator of Kubernetes refuses what is. */
const MOST_ADDRESSES = 1n << 64n

/** @throws Error that says what is wrong with the flag's value */
export function serviceNetwork(cidr = DEFAULT_CIDR, ports = DEFAULT_PORTS): ServiceNetwork {
  const texts = cidr.split(',').map(withoutLeadingZeros)
  if (texts.length > 2) throw new Error('--service-cluster-ip-range must not contain more than two entries')
  const [first, second] = texts.map((text, i) => {
    if (!isCidr(text)) throw new Error(`service-cluster-ip-range[${i}] is not a valid cidr`)
    return serviceRange(parseIPRange(text) as IPRange)
  }) as [ServiceRange, ServiceRange?]
  if (first.family === second?.family)
    throw new Error('--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family')
  if (first.size < LEAST_ADDRESSES) throw new Error('the service cluster IP range must be at least 8 IP addresses')
  for (const { size, cidr: text } of second === undefined ? [first] : [first, second])
    if (size > MOST_ADDRESSES)
      throw new Error(`--service-cluster-ip-range ${text}: shortest allowed prefix length for service CIDR is 64`)
  return { ranges: second === undefined ? [first] : [first, second], ports: portRange(ports) }
}

function serviceRange(range: IPRange): ServiceRange {
  const hosts = Number(lastOffset(range))
  // A sixteenth, from 16 to 256; none where so few are there that it would be most of them.
  const staticBand = hosts < 16 ? 0 : Math.min(Math.max(16, Math.floor(hosts / 16)), 256)
  return { ...range, cidr: rangeText(range), staticBand }
}

/**
 * The ranges of that family from which addresses are given now (KEP-1880): of the ServiceCIDRs that are ready and stay, the cluster's own first. Until
 * that one has been made, or while it is made anew, it is what the flags say.
 */
export function rangesInUse(
  network: ServiceNetwork,
  cidrs: readonly ServiceCIDR[],
  family: IPFamily,
): readonly ServiceRange[] {
  const own = cidrs.find(({ metadata }) => metadata.name === DEFAULT_NAME)
  const others = cidrs
    .filter((one) => one !== own)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const first = own === undefined ? network.ranges : rangesOf(own)
  return [...first, ...others.flatMap(rangesOf)].filter((range) => range.family === family)
}

/** The ServiceCIDR that API servers make of their flags. */
const DEFAULT_NAME = 'kubernetes'

/** Objects never change. */
const parsed = new WeakMap<ServiceCIDR, readonly ServiceRange[]>()

/** None once it is deleted or while it is not ready; nothing told of that, it is. */
function rangesOf(cidr: ServiceCIDR): readonly ServiceRange[] {
  const known = parsed.get(cidr)
  if (known !== undefined) return known
  const ready = cidr.status?.conditions?.find(({ type }) => type === 'Ready')
  const isUsed = cidr.metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === 'True')
  const ranges = isUsed ? (cidr.spec?.cidrs ?? []).flatMap((text) => parseIPRange(text) ?? []).map(serviceRange) : []
  parsed.set(cidr, ranges)
  return ranges
}

/** Of the last address that is given. */
export const lastOffset = ({ family, size }: IPRange): bigint => size - (family === 'IPv4' ? 2n : 1n)

function isCidr(text: string): boolean {
  const range = parseIPRange(text)
  return range !== undefined && /\/(0|[1-9]\d*)$/.test(text)
}

export const rangeOfFamily = ({ ranges }: ServiceNetwork, family: IPFamily): ServiceRange | undefined =>
  ranges.find((range) => range.family === family)

export const holds = ({ family, from, size }: IPRange, address: string): boolean => {
  const bits = addressBits(address)
  return bits?.family === family && bits.value >= from && bits.value < from + size
}

/** What the Service `kubernetes` has: the first that is given. */
export const firstAddress = ({ ranges: [first] }: ServiceNetwork): string => addressAt(first, 1)

/** `30000-32767`, `30000+100` (so many more), or one port. */
function portRange(text: string): PortRange {
  const wrong = (why: string) => new Error(`invalid argument "${text}" for "--service-node-port-range" flag: ${why}`)
  const found = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/.exec(text.trim())
  if (found === null) throw wrong(`unable to parse port range: ${text}`)
  const first = Number(found[1])
  const last = found[2] === undefined ? first : found[2] === '-' ? Number(found[3]) : first + Number(found[3])
  if (last > 65535) throw wrong('the port range must be between 0 and 65535')
  if (last < first) throw wrong(`end port cannot be less than start port: ${text}`)
  const size = last - first + 1
  return { first, last, staticBand: size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128) }
}
