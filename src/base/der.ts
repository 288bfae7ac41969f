/**
 * Writing ASN.1 DER, as much as an X.509 certificate needs. (The X.509 libraries of npm take longer to load than a whole
 * first start of the cluster may.)
 */
export type Der = Buffer

export function der(tag: number, ...contents: readonly Uint8Array[]): Der {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content])
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff)
  return [0x80 | bytes.length, ...bytes]
}

export const sequence = (...items: readonly Uint8Array[]): Der => der(0x30, ...items)
export const set = (...items: readonly Uint8Array[]): Der => der(0x31, ...items)
export const octetString = (content: Uint8Array): Der => der(0x04, content)
export const utf8String = (text: string): Der => der(0x0c, Buffer.from(text, 'utf8'))
export const TRUE: Der = Buffer.from([0x01, 0x01, 0xff])

/** A positive INTEGER from big-endian bytes. */
export function derInteger(bytes: Uint8Array): Der {
  let from = 0
  while (from < bytes.length - 1 && bytes[from] === 0) from++
  const rest = bytes.subarray(from)
  return (rest[0] ?? 0) >= 0x80 ? der(0x02, Buffer.from([0]), rest) : der(0x02, rest)
}

/** `unused`: bits of the last byte that do not count. */
export const bitString = (content: Uint8Array, unused = 0): Der => der(0x03, Buffer.from([unused]), content)

/** Context-specific; constructed when `constructed`. */
export const tagged = (tag: number, content: Uint8Array, constructed = true): Der =>
  der(0x80 | (constructed ? 0x20 : 0) | tag, content)

/** `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(0x80 | (left & 0x7f))
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}

/** UTCTime up to 2049, GeneralizedTime after, as RFC 5280 asks. `ms` since the epoch. */
export function time(ms: number): Der {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return new Date(ms).getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

export interface ReadElement {
  readonly tag: number
  /** With tag and length. */
  readonly whole: Uint8Array
  readonly content: Uint8Array
}

/** Elements one behind the other, of bytes that another reader has found to be DER. */
export function readElements(bytes: Uint8Array): readonly ReadElement[] {
  const found: ReadElement[] = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1] ?? 0
    const size = first >= 0x80 ? first & 0x7f : 0
    let length = size === 0 ? first : 0
    for (let i = 0; i < size; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0)
    const start = at + 2 + size
    found.push({
      tag: bytes[at] ?? 0,
      whole: bytes.subarray(at, start + length),
      content: bytes.subarray(start, start + length),
    })
    at = start + length
  }
  return found
}
