/** How messages of DNS are written: with compressed names (RFC 1035), and cut to what the client takes. */
import {
  type Answer,
  CLASS_IN,
  type DnsRecord,
  EDNS_SIZE,
  MOST_LABEL,
  type Query,
  readName,
  TYPE,
  view,
} from './read-message.ts'

/** At most `limit` bytes: what does not fit is left out, and the client is told, so that it asks again by TCP. */
export function writeAnswer(query: Query, answer: Answer, limit: number): Uint8Array {
  const message = new Writer()
  const { edns } = query
  const flags =
    0x8000 |
    (query.opcode << 11) |
    (answer.authoritative ? 0x400 : 0) |
    (query.recursionDesired ? 0x100 : 0) |
    (answer.recursionAvailable ? 0x80 : 0) |
    (answer.rcode & 0xf)
  message.numbers16(query.id, flags, 1, 0, 0, 0)
  message.question(query.question)
  const room = limit - (edns === undefined ? 0 : 11)
  let isCut = false
  const counts = [answer.answers, answer.authority, answer.additional].map((records, section) => {
    let count = 0
    for (const record of records) {
      const before = message.length
      message.record(record)
      if (message.length > room) {
        message.backTo(before)
        // Only missing answers and authorities make a message truncated: additional records may be left out.
        isCut ||= section < 2
        break
      }
      count++
    }
    return count
  })
  if (edns !== undefined) message.opt(answer.rcode >> 4)
  const bytes = message.bytes()
  const data = view(bytes)
  if (isCut) data.setUint16(2, flags | 0x200)
  for (const [i, count] of counts.entries()) data.setUint16(6 + i * 2, count + (i === 2 && edns !== undefined ? 1 : 0))
  return bytes
}

/** Of a message that could not be read, or of no kind that is answered. */
export const bareError = (id: number, rcode: number): Uint8Array =>
  Uint8Array.from([id >> 8, id & 0xff, 0x80, rcode & 0xf, ...Array<number>(8).fill(0)])

/** Asks another server. */
export function writeQuery(id: number, asked: Pick<Query, 'question' | 'edns' | 'checkingDisabled'>): Uint8Array {
  const message = new Writer()
  message.numbers16(id, 0x100 | (asked.checkingDisabled ? 0x10 : 0), 1, 0, 0, asked.edns === undefined ? 0 : 1)
  message.question(asked.question)
  if (asked.edns !== undefined) message.opt(0, Math.min(asked.edns.size, EDNS_SIZE), asked.edns.dnssec)
  return message.bytes()
}

export function questionOf(name: string, type: number): Uint8Array {
  const message = new Writer()
  message.name(name)
  message.numbers16(type, CLASS_IN)
  return message.bytes()
}

class Writer {
  #buffer = Buffer.alloc(512)
  #at = 0
  /** Where a name, or the end of one, stands already. */
  readonly #known = new Map<string, number>()

  get length(): number {
    return this.#at
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at))
  }

  backTo(length: number): void {
    this.#at = length
    for (const [name, at] of this.#known) if (at >= length) this.#known.delete(name)
  }

  numbers16(...numbers: readonly number[]): void {
    this.#reserve(numbers.length * 2)
    for (const number of numbers) this.#at = this.#buffer.writeUInt16BE(number & 0xffff, this.#at)
  }

  #numbers32(...numbers: readonly number[]): void {
    this.#reserve(numbers.length * 4)
    for (const number of numbers) this.#at = this.#buffer.writeUInt32BE(number >>> 0, this.#at)
  }

  #raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** As it was asked; names behind it point into it. */
  question(bytes: Uint8Array): void {
    const from = this.#at
    this.#raw(bytes)
    const { name } = readName(this.#buffer.subarray(0, this.#at), from)
    const labels = name === '' ? [] : name.split('.')
    let at = from
    for (let i = 0; i < labels.length; i++) {
      this.#know(labels.slice(i).join('.'), at)
      at += (labels[i]?.length ?? 0) + 1
    }
  }

  name(name: string, compress = true): void {
    const labels = name === '' ? [] : name.split('.')
    for (let i = 0; i < labels.length; i++) {
      const rest = labels.slice(i).join('.').toLowerCase()
      const known = compress ? this.#known.get(rest) : undefined
      if (known !== undefined) {
        this.numbers16(0xc000 | known)
        return
      }
      this.#know(rest, this.#at)
      const label = Buffer.from(labels[i] ?? '', 'latin1').subarray(0, MOST_LABEL)
      this.#raw(Uint8Array.of(label.length))
      this.#raw(label)
    }
    this.#raw(Uint8Array.of(0))
  }

  #know(name: string, at: number): void {
    if (at < 0x4000 && !this.#known.has(name)) this.#known.set(name, at)
  }

  opt(extendedRcode: number, size: number = EDNS_SIZE, dnssec = false): void {
    this.#raw(Uint8Array.of(0))
    this.numbers16(TYPE.OPT, size)
    this.#numbers32(((extendedRcode & 0xff) << 24) | (dnssec ? 0x8000 : 0))
    this.numbers16(0)
  }

  record(record: DnsRecord): void {
    this.name(record.name)
    this.numbers16(TYPE[record.type], CLASS_IN)
    this.#numbers32(record.ttl)
    const lengthAt = this.#at
    this.numbers16(0)
    this.#data(record)
    this.#buffer.writeUInt16BE(this.#at - lengthAt - 2, lengthAt)
  }

  #data(record: DnsRecord): void {
    switch (record.type) {
      case 'A':
      case 'AAAA':
        this.#raw(record.address)
        break
      case 'CNAME':
      case 'NS':
      case 'PTR':
        this.name(record.target)
        break
      case 'SRV':
        this.numbers16(record.priority, record.weight, record.port)
        // RFC 2782: this target is never compressed.
        this.name(record.target, false)
        break
      case 'TXT': {
        const text = Buffer.from(record.text, 'latin1').subarray(0, 255)
        this.#raw(Uint8Array.of(text.length))
        this.#raw(text)
        break
      }
      case 'SOA':
        this.name(record.server)
        this.name(record.mailbox)
        this.#numbers32(...record.numbers)
    }
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#buffer.length) return
    const larger = Buffer.alloc((this.#at + more) * 2)
    larger.set(this.#buffer.subarray(0, this.#at))
    this.#buffer = larger
  }
}
