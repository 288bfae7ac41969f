/** Ranges of IPv4 addresses as texts and as numbers. */
import { parseIPv4 } from './ip.ts'

export interface IPv4Range {
  /** The first address, as an unsigned number. */
  readonly from: number
  readonly size: number
}

/** Of `10.244.0.0/24`, masked; undefined where the text is none. */
export function parseIPv4Range(cidr: string): IPv4Range | undefined {
  const [text = '', length = '', more] = cidr.split('/')
  const address = parseIPv4(text)
  if (address === undefined || more !== undefined || !/^\d{1,2}$/.test(length) || Number(length) > 32) return undefined
  const size = 2 ** (32 - Number(length))
  return { from: Math.floor(address / size) * size, size }
}

/** `10.244.0.0` */
export const ipv4Text = (bits: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')

/** `10.244.0.0/24` */
export const rangeText = ({ from, size }: IPv4Range): string => `${ipv4Text(from)}/${32 - Math.log2(size)}`

export const isWithin = (inner: IPv4Range, outer: IPv4Range): boolean =>
  inner.from >= outer.from && inner.from + inner.size <= outer.from + outer.size

export const overlap = (one: IPv4Range, other: IPv4Range): boolean =>
  one.from < other.from + other.size && other.from < one.from + one.size
