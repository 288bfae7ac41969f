/** Families of addresses in the words of nft, and addresses in the one form that its scripts take: nothing unsound passes. */
import { parseIPRange, rangeText } from '../api/objects/ip-range.ts'
import { canonicalIP, familyOf, type IPFamily, isIPv4Mapped } from '../api/values/ip.ts'

export interface FamilyWords {
  /** Of tables, and of what a rule asks of a packet. */
  readonly ip: 'ip' | 'ip6'
  /** Of what a set holds. */
  readonly type: 'ipv4_addr' | 'ipv6_addr'
}

export const WORDS: Readonly<Record<IPFamily, FamilyWords>> = {
  IPv4: { ip: 'ip', type: 'ipv4_addr' },
  IPv6: { ip: 'ip6', type: 'ipv6_addr' },
}

/** In its one spelling; undefined: it is none of that family. */
export const addressOf = (text: string, family: IPFamily): string | undefined =>
  familyOf(text) === family && !isIPv4Mapped(text) ? canonicalIP(text) : undefined

/** The first of that family. */
export const firstOf = (texts: readonly string[], family: IPFamily): string | undefined =>
  texts.map((text) => addressOf(text, family)).find((address) => address !== undefined)

/** `10.0.0.0/8`, `fd00::/64`; undefined: it is none of that family. */
export function rangeOf(text: string, family: IPFamily): string | undefined {
  const range = parseIPRange(text)
  return range?.family === family && !isIPv4Mapped(text.split('/')[0] ?? '') ? rangeText(range) : undefined
}

/** `10.0.0.1:80`, `[fd00::1]:80` */
export const withPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
