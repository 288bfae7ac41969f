/** Rules of IP addresses and networks as fields: what may be an endpoint, how families are counted. */
import { invalid } from '../errors/field-errors.ts'
import { cidr, ipAddress } from '../names/name-formats.ts'
import { addressBits, type IPFamily, isIPv4Mapped, withoutLeadingZeros } from '../values/ip.ts'
import type { Rule } from './rules.ts'

/** Addresses that no endpoint may have: unspecified, loopback, link-local. */
export const nonSpecialIP: Rule = (value, path, errors) => {
  const text: string = value ?? ''
  const say = (message: string) => errors.push(invalid(path, text, message))
  const bits = addressBits(withoutLeadingZeros(text))
  if (bits === undefined) {
    say('must be a valid IP address')
    return
  }
  const v4 = bits.family === 'IPv4'
  const top = (length: number) => bits.value >> BigInt((v4 ? 32 : 128) - length)
  if (bits.value === 0n) say(`may not be unspecified (${text})`)
  if (v4 ? top(8) === 127n : bits.value === 1n) say('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (v4 ? top(16) === 0xa9fen : top(10) === 0x3fan)
    say('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (v4 ? top(24) === 0xe00000n : (top(16) & 0xff0fn) === 0xff02n)
    say('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
}

/** An address of a field that never took anything but addresses. */
export const address: Rule = (value, path, errors) => {
  for (const message of ipAddress(value ?? '')) errors.push(invalid(path, value ?? '', message))
}

export const network: Rule = (value, path, errors) => {
  for (const message of cidr(value ?? '')) errors.push(invalid(path, value ?? '', message))
}

/** A CIDR of a field that names a network, not an address in one. */
export function maskedNetwork(text: string): readonly string[] {
  const messages = cidr(text)
  const parsed = parseNetwork(text)
  if (parsed === undefined) return messages
  const behind = BigInt((parsed.family === 'IPv4' ? 32 : 128) - parsed.length)
  return (parsed.address >> behind) << behind === parsed.address
    ? []
    : ['must not have bits set beyond the prefix length']
}

export interface Network {
  readonly family: IPFamily
  readonly address: bigint
  readonly length: number
}

/** The family a text's network would have, read as leniently as old servers did: leading zeros and IPv4 written as IPv6 count as IPv4. */
export function familyOfNetwork(text: string): IPFamily | undefined {
  const [head = '', length = ''] = text.split('/')
  if (cidr(`${withoutLeadingZeros(head)}/${Number(length)}`, true).length > 0) return undefined
  return isIPv4Mapped(head) ? 'IPv4' : addressBits(withoutLeadingZeros(head))?.family
}

/** The parts of a CIDR, or undefined when it is none. `address` keeps the bits behind the prefix. */
export function parseNetwork(text: string): Network | undefined {
  if (cidr(text).length > 0) return undefined
  const [head = '', length = ''] = text.split('/')
  const bits = addressBits(head)
  return bits && { family: bits.family, address: bits.value, length: Number(length) }
}

export function networkContains(outer: Network, inner: { family: IPFamily; value: bigint }): boolean {
  if (outer.family !== inner.family) return false
  const shift = BigInt((outer.family === 'IPv4' ? 32 : 128) - outer.length)
  return outer.address >> shift === inner.value >> shift
}
