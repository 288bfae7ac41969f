/**
 * Messages of DNS (RFC 1035, EDNS of RFC 6891), and how their bytes are read: queries, and in answers of other servers the places of lifetimes.
 * A message is a stranger's: everything is bounded.
 */

export const TYPE = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41 } as const
export const RCODE = {
  ok: 0,
  format: 1,
  failed: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
} as const
export const CLASS_IN = 1
/** Without EDNS, by UDP. */
export const PLAIN_SIZE = 512
/** What passes every link in one piece (DNS flag day 2020). */
export const EDNS_SIZE = 1232
const HEADER = 12
const MOST_NAME = 255
export const MOST_LABEL = 63

export interface Query {
  readonly id: number
  readonly opcode: number
  readonly recursionDesired: boolean
  readonly checkingDisabled: boolean
  /** Lower case, without the last dot; '' is the root. */
  readonly name: string
  readonly type: number
  readonly class: number
  /** The question as it was asked: its letters' case is the client's. */
  readonly question: Uint8Array
  readonly edns: { readonly size: number; readonly version: number; readonly dnssec: boolean } | undefined
}

export type Data =
  | { readonly type: 'A' | 'AAAA'; readonly address: Uint8Array }
  | { readonly type: 'CNAME' | 'NS' | 'PTR'; readonly target: string }
  | {
      readonly type: 'SRV'
      readonly priority: number
      readonly weight: number
      readonly port: number
      readonly target: string
    }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'SOA'; readonly server: string; readonly mailbox: string; readonly numbers: readonly number[] }

export type DnsRecord = { readonly name: string; readonly ttl: number } & Data

export interface Answer {
  readonly rcode: number
  readonly authoritative: boolean
  readonly recursionAvailable: boolean
  readonly answers: readonly DnsRecord[]
  readonly authority: readonly DnsRecord[]
  readonly additional: readonly DnsRecord[]
}

/** A message that is none. `id`: where it can be answered with an error. */
export class FormatError extends Error {
  readonly id: number | undefined
  constructor(message: string, id?: number) {
    super(message)
    this.id = id
  }
}

export const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** @throws FormatError */
export function parseQuery(bytes: Uint8Array): Query {
  if (bytes.length < HEADER) throw new FormatError('too short')
  const data = view(bytes)
  const id = data.getUint16(0)
  const flags = data.getUint16(2)
  // What is an answer is never answered: two servers would do so for ever.
  if ((flags & 0x8000) !== 0) throw new FormatError('not a query')
  const opcode = (flags >> 11) & 0xf
  const recursionDesired = (flags & 0x100) !== 0
  const checkingDisabled = (flags & 0x10) !== 0
  try {
    if (data.getUint16(4) !== 1) throw new FormatError('not one question')
    const { name, next } = readQuestionName(bytes)
    const type = data.getUint16(next)
    const klass = data.getUint16(next + 2)
    const question = bytes.slice(HEADER, next + 4)
    let edns: Query['edns']
    let at = next + 4
    const others = data.getUint16(6) + data.getUint16(8)
    for (let left = others + data.getUint16(10); left > 0; left--) {
      const record = readRecord(bytes, at)
      at = record.next
      if (record.type !== TYPE.OPT) continue
      if (edns !== undefined) throw new FormatError('more than one OPT')
      // The lifetime's place holds version and flags here.
      edns = { size: record.class, version: (record.ttl >> 16) & 0xff, dnssec: (record.ttl & 0x8000) !== 0 }
    }
    return { id, opcode, recursionDesired, checkingDisabled, name, type, class: klass, question, edns }
  } catch (error) {
    throw new FormatError(error instanceof Error ? error.message : 'unreadable', id)
  }
}

/** Nothing is before it that a pointer could lead to. @throws FormatError */
function readQuestionName(bytes: Uint8Array): ReturnType<typeof readName> {
  let at = HEADER
  for (let size = bytes[at] ?? 0; size > 0 && size <= MOST_LABEL; size = bytes[at] ?? 0) at += size + 1
  if (((bytes[at] ?? 0) & 0xc0) === 0xc0) throw new FormatError('a pointer in a question')
  return readName(bytes, HEADER)
}

interface RawRecord {
  readonly name: string
  readonly type: number
  readonly class: number
  readonly ttl: number
  readonly ttlAt: number
  readonly dataAt: number
  readonly next: number
}

/** @throws FormatError, RangeError at the end of the bytes */
function readRecord(bytes: Uint8Array, from: number): RawRecord {
  const data = view(bytes)
  const { name, next: at } = readName(bytes, from)
  const dataAt = at + 10
  const next = dataAt + data.getUint16(at + 8)
  if (next > bytes.length) throw new FormatError('a record that is cut off')
  return {
    name,
    type: data.getUint16(at),
    class: data.getUint16(at + 2),
    ttl: data.getUint32(at + 4),
    ttlAt: at + 4,
    dataAt,
    next,
  }
}

/** A pointer leads only backwards, so that no name is without end. @throws FormatError */
export function readName(bytes: Uint8Array, from: number): { readonly name: string; readonly next: number } {
  const labels: string[] = []
  let next: number | undefined
  let at = from
  let length = 0
  let before = from
  for (;;) {
    const size = bytes[at]
    if (size === undefined) throw new FormatError('a name that is cut off')
    if ((size & 0xc0) === 0xc0) {
      const to = ((size & 0x3f) << 8) | (bytes[at + 1] ?? 0)
      next ??= at + 2
      if (to >= before) throw new FormatError('a pointer that does not lead back')
      before = to
      at = to
      continue
    }
    if (size > MOST_LABEL) throw new FormatError('a label of no known kind')
    if (size === 0) break
    length += size + 1
    if (length >= MOST_NAME || at + 1 + size > bytes.length) throw new FormatError('a name that is too long')
    labels.push(Buffer.from(bytes.subarray(at + 1, at + 1 + size)).toString('latin1'))
    at += size + 1
  }
  return { name: labels.join('.').toLowerCase(), next: next ?? at + 1 }
}

/** What another server answered. */
export interface Foreign {
  readonly id: number
  readonly isAnswer: boolean
  readonly isCut: boolean
  readonly rcode: number
  /** The question's bytes, as the answer repeats them. */
  readonly question: Uint8Array
  /** The offsets of the records' TTLs, without that of the OPT record. */
  readonly ttls: readonly { readonly at: number; readonly seconds: number }[]
  /** Addresses and other names among its answers. */
  readonly answers: readonly DnsRecord[]
}

/** @throws FormatError */
export function parseForeign(bytes: Uint8Array): Foreign {
  try {
    const data = view(bytes)
    const flags = data.getUint16(2)
    if (data.getUint16(4) !== 1) throw new FormatError('not one question')
    const { next } = readQuestionName(bytes)
    const ttls: { at: number; seconds: number }[] = []
    const answers: DnsRecord[] = []
    let at = next + 4
    const count = data.getUint16(6)
    for (let i = 0; i < count + data.getUint16(8) + data.getUint16(10); i++) {
      const record = readRecord(bytes, at)
      at = record.next
      if (record.type === TYPE.OPT) continue
      ttls.push({ at: record.ttlAt, seconds: record.ttl })
      const known = i < count ? knownRecord(bytes, record) : undefined
      if (known !== undefined) answers.push(known)
    }
    return {
      id: data.getUint16(0),
      isAnswer: (flags & 0x8000) !== 0,
      isCut: (flags & 0x200) !== 0,
      rcode: flags & 0xf,
      question: bytes.slice(HEADER, next + 4),
      ttls,
      answers,
    }
  } catch (error) {
    throw new FormatError(error instanceof Error ? error.message : 'unreadable')
  }
}

function knownRecord(bytes: Uint8Array, { name, type, ttl, dataAt, next }: RawRecord): DnsRecord | undefined {
  if (type === TYPE.A && next - dataAt === 4) return { name, ttl, type: 'A', address: bytes.slice(dataAt, next) }
  if (type === TYPE.AAAA && next - dataAt === 16) return { name, ttl, type: 'AAAA', address: bytes.slice(dataAt, next) }
  if (type === TYPE.CNAME) return { name, ttl, type: 'CNAME', target: readName(bytes, dataAt).name }
  return undefined
}
