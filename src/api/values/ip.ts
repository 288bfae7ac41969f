/** IP addresses and networks as texts and as numbers. */

export type IPFamily = 'IPv4' | 'IPv6'

const octet = /^(?:0|[1-9][0-9]{0,2})$/

/** Dotted decimal without leading zeros, as Go's net parser has it. */
export function isIPv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((p) => octet.test(p) && Number(p) <= 255)
}

export function isIPv6(text: string): boolean {
  return parseIPv6(text) !== undefined
}

/** Such as `::ffff:10.0.0.1`. */
export function isIPv4Mapped(text: string): boolean {
  const bits = parseIPv6(text)
  return bits !== undefined && bits >> 32n === 0xffffn
}

/** The 128 bits, or undefined when `text` is no IPv6 address. Zones (`%eth0`) are not accepted. */
export function parseIPv6(text: string): bigint | undefined {
  if (text.length > 45 || !text.includes(':')) return undefined
  let body = text
  const lastColon = body.lastIndexOf(':')
  if (body.includes('.')) {
    const v4 = parseIPv4(body.slice(lastColon + 1))
    if (v4 === undefined) return undefined
    body = `${body.slice(0, lastColon + 1)}${(v4 >> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`
  }
  const halves = body.split('::')
  if (halves.length > 2) return undefined
  const groups = (half: string) => (half === '' ? [] : half.split(':'))
  const head = groups(halves[0]!)
  const tail = halves.length === 2 ? groups(halves[1]!) : []
  const given = head.length + tail.length
  if (halves.length === 1 ? given !== 8 : given > 7) return undefined
  const all = [...head, ...Array<string>(8 - given).fill('0'), ...tail]
  let bits = 0n
  for (const group of all) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined
    bits = (bits << 16n) | BigInt(`0x${group}`)
  }
  return bits
}

/** The 32 bits as an unsigned number, or undefined. */
export function parseIPv4(text: string): number | undefined {
  if (!isIPv4(text)) return undefined
  return text.split('.').reduce((bits, part) => bits * 256 + Number(part), 0)
}

/** undefined: it is no address. */
export function familyOf(text: string): IPFamily | undefined {
  return isIPv4(text) ? 'IPv4' : isIPv6(text) ? 'IPv6' : undefined
}

/** An address as a number of 32 or 128 bits. */
export interface AddressBits {
  readonly family: IPFamily
  readonly value: bigint
}

export function addressBits(text: string): AddressBits | undefined {
  const v4 = parseIPv4(text)
  if (v4 !== undefined) return { family: 'IPv4', value: BigInt(v4) }
  const v6 = parseIPv6(text)
  return v6 === undefined ? undefined : { family: 'IPv6', value: v6 }
}

export const bitsIn = (family: IPFamily): number => (family === 'IPv4' ? 32 : 128)

export const otherFamily = (family: IPFamily): IPFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

/** `010.0.0.1` as `10.0.0.1`: what older parsers took such an address for. */
export function withoutLeadingZeros(text: string): string {
  return text.replace(/(^|[.:])0+(?=[0-9])/g, '$1')
}

/** The one spelling of an address (RFC 5952), or undefined when it is none. */
export function canonicalIP(text: string): string | undefined {
  const bits = addressBits(text)
  return bits && ipText(bits)
}

/** The address of these bits, in its one spelling (RFC 5952). */
export function ipText({ family, value: bits }: AddressBits): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.')
  if (bits >> 32n === 0xffffn) return `::ffff:${ipText({ family: 'IPv4', value: bits & 0xffffffffn })}`
  const groups = Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(112 - i * 16)) & 0xffffn))
  const [start, length] = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}

function longestZeros(groups: readonly number[]): readonly [number, number] {
  let best: readonly [number, number] = [0, 0]
  for (let i = 0; i < groups.length; i++) {
    let end = i
    while (end < groups.length && groups[end] === 0) end++
    if (end - i > best[1]) best = [i, end - i]
  }
  return best
}
