/**
 * From which addresses and ports Services are given theirs (--service-cluster-ip-range, --service-node-port-range). The lower
 * part of each is handed out last, so that people may choose addresses there (KEP-3070, KEP-3668).
 */
import { parseIPv4 } from '../../../api/objects/ip.ts'

export interface ServiceNetwork {
  /** `10.96.0.0/16`, the address masked. */
  readonly cidr: string
  /** The network's own address, as an unsigned number. */
  readonly base: number
  /** How many addresses it has, the network's own and the broadcast address among them. */
  readonly size: number
  /** Offsets up to here are handed out when those above are gone. */
  readonly staticBand: number
  readonly ports: PortRange
}

export interface PortRange {
  readonly first: number
  /** Inclusive. */
  readonly last: number
  /** So many of the first are handed out when the others are gone. */
  readonly staticBand: number
}

/** As kubeadm's clusters in kube-apiserver's own defaults. */
export const DEFAULT_CIDR = '10.96.0.0/16'
const DEFAULT_PORTS = '30000-32767'
/** An address for the kubernetes Service, some for others, and the two that are never given. */
const LEAST_ADDRESSES = 8

/** @throws Error that says what is wrong with the flag's value */
export function serviceNetwork(cidr = DEFAULT_CIDR, ports = DEFAULT_PORTS): ServiceNetwork {
  const ranges = cidr.split(',')
  if (ranges.length > 2) throw new Error('--service-cluster-ip-range must not contain more than two entries')
  ranges.forEach((range, i) => {
    if (!isCidr(range)) throw new Error(`service-cluster-ip-range[${i}] is not a valid cidr`)
  })
  const [range = '', second] = ranges
  if (second !== undefined && range.includes(':') === second.includes(':'))
    throw new Error('--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family')
  if (second !== undefined || range.includes(':'))
    throw new Error(`--service-cluster-ip-range ${cidr}: Services have IPv4 addresses only; give one IPv4 range`)
  const [address = '', prefix = ''] = range.split('/')
  const size = 2 ** (32 - Number(prefix))
  if (size < LEAST_ADDRESSES) throw new Error('the service cluster IP range must be at least 8 IP addresses')
  const base = Math.floor((parseIPv4(address) ?? 0) / size) * size
  return {
    cidr: `${addressOf(base)}/${prefix}`,
    base,
    size,
    // A sixteenth, from 16 to 256; none where so few are there that it would be most of them.
    staticBand: size - 2 < 16 ? 0 : Math.min(Math.max(16, Math.floor((size - 2) / 16)), 256),
    ports: portRange(ports),
  }
}

function isCidr(text: string): boolean {
  const found = /^([^/]+)\/(0|[1-9][0-9]{0,2})$/.exec(text)
  if (found === null) return false
  const [, address = '', prefix] = found
  if (address.includes(':')) return Number(prefix) <= 128 && /^[0-9a-fA-F:.]+$/.test(address)
  return parseIPv4(address) !== undefined && Number(prefix) <= 32
}

/** `30000-32767`, `30000+100` (so many more), or one port. */
function portRange(text: string): PortRange {
  const wrong = (why: string) => new Error(`invalid argument "${text}" for "--service-node-port-range" flag: ${why}`)
  const found = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/.exec(text.trim())
  if (found === null) throw wrong(`unable to parse port range: ${text}`)
  const first = Number(found[1])
  const last = found[2] === undefined ? first : found[2] === '-' ? Number(found[3]) : first + Number(found[3])
  if (first < 1 || last > 65535) throw wrong('the port range must be between 1 and 65535')
  if (last < first) throw wrong(`end port cannot be less than start port: ${text}`)
  const size = last - first + 1
  return { first, last, staticBand: size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128) }
}

const addressOf = (bits: number): string => [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')

/** The address at this offset from the network's own. */
export const addressAt = ({ base }: ServiceNetwork, offset: number): string => addressOf(base + offset)
