/** Ranges of addresses of either family, as texts and as numbers. */
import { type AddressBits, addressBits, bitsIn, type IPFamily, ipText } from '../values/ip.ts'

export interface IPRange {
  readonly family: IPFamily
  /** The first address. */
  readonly from: bigint
  /** A power of two. */
  readonly size: bigint
}

/** Of `10.244.0.0/24` or `fd00::/64`, masked; undefined where the text is none. */
export function parseIPRange(cidr: string): IPRange | undefined {
  const [text = '', length = '', more] = cidr.split('/')
  const address = addressBits(text)
  if (address === undefined || more !== undefined || !/^\d{1,3}$/.test(length)) return undefined
  if (Number(length) > bitsIn(address.family)) return undefined
  return pieceAround(address, Number(length))
}

/** The range of that length which the address lies in. */
export function pieceAround({ family, value }: AddressBits, length: number): IPRange {
  const size = 1n << BigInt(bitsIn(family) - length)
  return { family, from: (value / size) * size, size }
}

/** The range that is this address alone; undefined where the text is none. */
export const rangeOfAddress = (address: string): IPRange | undefined =>
  parseIPRange(`${address}/${address.includes(':') ? 128 : 32}`)

/** The address at this offset from the range's first. */
export const addressAt = ({ family, from }: IPRange, offset: bigint | number): string =>
  ipText({ family, value: from + BigInt(offset) })

export const prefixLength = ({ family, size }: IPRange): number => bitsIn(family) - (size.toString(2).length - 1)

/** `10.244.0.0/24` */
export const rangeText = (range: IPRange): string => `${addressAt(range, 0)}/${prefixLength(range)}`

export const isWithin = (inner: IPRange, outer: IPRange): boolean =>
  inner.family === outer.family && inner.from >= outer.from && inner.from + inner.size <= outer.from + outer.size

export const overlap = (one: IPRange, other: IPRange): boolean =>
  one.family === other.family && one.from < other.from + other.size && other.from < one.from + one.size
