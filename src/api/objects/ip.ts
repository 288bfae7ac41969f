/** IP addresses and networks as texts and as numbers. */

const octet = /^(?:0|[1-9][0-9]{0,2})$/

/** Dotted decimal without leading zeros, as Go's net parser has it. */
export function isIPv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((p) => octet.test(p) && Number(p) <= 255)
}

export function isIPv6(text: string): boolean {
  return parseIPv6(text) !== undefined
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
