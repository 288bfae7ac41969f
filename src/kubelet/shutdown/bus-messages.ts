/** Messages of D-Bus (its specification: type system, message protocol), as they pass a bus. Nothing here knows a socket. */

/** By their letters: numbers, bigint of `x` and `t`, text, boolean, lists; of a dictionary a list of pairs; of a variant what is in it. */
export type BusValue = number | bigint | string | boolean | readonly BusValue[]

export type BusMessageType = 'call' | 'return' | 'error' | 'signal'

export interface BusHeader {
  readonly type: BusMessageType
  readonly serial: number
  readonly path?: string
  readonly interface?: string
  readonly member?: string
  readonly error?: string
  readonly replySerial?: number
  readonly destination?: string
  /** Written by the bus itself. */
  readonly sender?: string
  readonly signature?: string
}

export interface BusMessage extends BusHeader {
  readonly body: readonly BusValue[]
}

const TYPES: readonly BusMessageType[] = ['call', 'return', 'error', 'signal']
const FIELDS = [
  ['path', 1, 'o'],
  ['interface', 2, 's'],
  ['member', 3, 's'],
  ['error', 4, 's'],
  ['replySerial', 5, 'u'],
  ['destination', 6, 's'],
  ['sender', 7, 's'],
  ['signature', 8, 'g'],
] as const
/** Before the header's fields, and the length of those. */
const FIXED = 16
/** Nothing that is asked for comes near it. Bytes. */
const LARGEST = 1024 * 1024
/** No bus passes on more than that, as the specification has it. Bytes. */
const LARGEST_OF_ALL = 128 * 1024 * 1024

const ALIGNMENT: Readonly<Record<string, number>> = {
  ...{ y: 1, g: 1, v: 1, n: 2, q: 2, i: 4, u: 4, b: 4, s: 4, o: 4, h: 4, a: 4 },
  ...{ x: 8, t: 8, d: 8, '(': 8, '{': 8 },
}

/** @throws Error when a signature is none */
function typesOf(signature: string): readonly string[] {
  const types: string[] = []
  for (let at = 0; at < signature.length; ) {
    const end = endOfType(signature, at)
    types.push(signature.slice(at, end))
    at = end
  }
  return types
}

function endOfType(signature: string, from: number): number {
  let at = from
  while (signature[at] === 'a') at++
  const first = signature[at]
  if (first !== '(' && first !== '{') {
    if (first === undefined || ALIGNMENT[first] === undefined) throw new Error(`${signature} is no signature`)
    return at + 1
  }
  // Of a struct of nothing a list would have no end.
  at++
  do at = endOfType(signature, at)
  while (signature[at] !== ')' && signature[at] !== '}')
  return at + 1
}

const aligned = (at: number, to: number): number => Math.ceil(at / to) * to

/** Writes little-endian, as the machines have it that skiff runs on. */
export function writeMessage({ type, serial, ...header }: BusHeader, body: readonly BusValue[] = []): Uint8Array {
  const content = writing()
  typesOf(header.signature ?? '').forEach((one, at) => {
    content.put(one, body[at] ?? '')
  })
  const message = writing()
  for (const byte of ['l'.charCodeAt(0), TYPES.indexOf(type) + 1, 0, 1]) message.put('y', byte)
  message.put('u', content.length)
  message.put('u', serial)
  const length = message.length
  message.put('u', 0)
  for (const [name, code, kind] of FIELDS) {
    const value = header[name]
    if (value === undefined) continue
    message.align(8)
    message.put('y', code)
    message.put('g', kind)
    message.put(kind, value)
  }
  const head = message.bytes()
  head.writeUInt32LE(message.length - FIXED, length)
  message.align(8)
  return Buffer.concat([head, new Uint8Array(message.length - head.length), content.bytes()])
}

function writing() {
  const parts: Buffer[] = []
  let length = 0
  const append = (bytes: Buffer) => {
    parts.push(bytes)
    length += bytes.length
  }
  const number = (size: number, write: (into: Buffer) => void) => {
    const bytes = Buffer.alloc(size)
    write(bytes)
    append(bytes)
  }
  const self = {
    get length() {
      return length
    },
    bytes: () => Buffer.concat(parts),
    align: (to: number) => append(Buffer.alloc(aligned(length, to) - length)),
    put(type: string, value: BusValue): void {
      const kind = type.charAt(0)
      self.align(ALIGNMENT[kind] ?? 1)
      if (kind === 's' || kind === 'o' || kind === 'g') {
        const text = Buffer.from(`${value}\0`)
        self.put(kind === 'g' ? 'y' : 'u', text.length - 1)
        append(text)
      } else if (kind === 'y') number(1, (into) => into.writeUInt8(Number(value)))
      else if (kind === 'u' || kind === 'h' || kind === 'b') number(4, (into) => into.writeUInt32LE(Number(value)))
      else if (kind === 'i') number(4, (into) => into.writeInt32LE(Number(value)))
      else if (kind === 't') number(8, (into) => into.writeBigUInt64LE(BigInt(value as bigint)))
      else if (kind === 'v') {
        const [inner, one] = value as readonly [string, BusValue]
        self.put('g', inner)
        self.put(inner, one)
      } else if (kind === 'a') {
        const content = writing()
        for (const one of value as readonly BusValue[]) content.put(type.slice(1), one)
        self.put('u', content.length)
        self.align(ALIGNMENT[type.charAt(1)] ?? 1)
        append(content.bytes())
      } else if (kind === '(')
        typesOf(type.slice(1, -1)).forEach((one, at) => {
          self.put(one, (value as readonly BusValue[])[at] ?? '')
        })
      else throw new Error(`nothing is written of type ${type}`)
    },
  }
  return self
}

/**
 * What comes from a socket becomes messages. Every user's programs may send to this one over a bus, so a message that is larger than any
 * that was asked for, or that cannot be read, is passed over. `read` throws where no bus can have sent what comes.
 */
export function messageReader(handle: (message: BusMessage) => void): (chunk: Uint8Array) => void {
  let pending = Buffer.alloc(0)
  /** So many bytes are still to come of one that is passed over. */
  let passedOver = 0
  return (chunk) => {
    const rest = chunk.subarray(passedOver)
    passedOver -= chunk.length - rest.length
    pending = Buffer.concat([pending, rest])
    while (pending.length >= FIXED) {
      const isLittle = pending[0] === 'l'.charCodeAt(0)
      if (!isLittle && pending[0] !== 'B'.charCodeAt(0)) throw new Error('what came is no message of D-Bus')
      const word = (at: number) => (isLittle ? pending.readUInt32LE(at) : pending.readUInt32BE(at))
      const [body, fields] = [word(4), word(12)]
      const total = aligned(FIXED + fields, 8) + body
      if (total > LARGEST_OF_ALL) throw new Error(`a message of ${total} bytes is more than D-Bus allows`)
      if (total > LARGEST) passedOver = Math.max(0, total - pending.length)
      else if (pending.length < total) return
      const message =
        total > LARGEST ? undefined : readMessage(pending.subarray(0, total), isLittle, fields, total - body)
      pending = pending.subarray(total)
      if (message !== undefined) handle(message)
    }
  }
}

/** Nothing when it is not as its signature and its lengths say. */
function readMessage(...from: Parameters<typeof readWhole>): BusMessage | undefined {
  try {
    return readWhole(...from)
  } catch {
    return undefined
  }
}

function readWhole(bytes: Buffer, isLittle: boolean, fields: number, bodyAt: number): BusMessage {
  const head = reading(bytes, isLittle, 0)
  const [, type] = head.take('(yyyyuu)') as readonly [number, number]
  const header: Record<string, BusValue> = {}
  head.at = FIXED
  while (head.at < FIXED + fields) {
    const [code, value] = head.take('(yv)') as readonly [number, BusValue]
    const name = FIELDS.find(([, one]) => one === code)?.[0]
    if (name !== undefined) header[name] = value
  }
  const body = reading(bytes.subarray(bodyAt), isLittle, 0)
  const signature = String(header['signature'] ?? '')
  return {
    ...header,
    type: TYPES[type - 1] ?? 'signal',
    serial: isLittle ? bytes.readUInt32LE(8) : bytes.readUInt32BE(8),
    body: typesOf(signature).map((one) => body.take(one)),
  }
}

function reading(bytes: Buffer, isLittle: boolean, from: number) {
  const step = (size: number) => {
    self.at += size
    return self.at - size
  }
  const self = {
    at: from,
    /** @throws RangeError behind the end */
    take(type: string): BusValue {
      const kind = type.charAt(0)
      self.at = aligned(self.at, ALIGNMENT[kind] ?? 1)
      switch (kind) {
        case 'y':
          return bytes.readUInt8(step(1))
        case 'n':
          return isLittle ? bytes.readInt16LE(step(2)) : bytes.readInt16BE(step(2))
        case 'q':
          return isLittle ? bytes.readUInt16LE(step(2)) : bytes.readUInt16BE(step(2))
        case 'i':
          return isLittle ? bytes.readInt32LE(step(4)) : bytes.readInt32BE(step(4))
        case 'u':
        case 'h':
          return isLittle ? bytes.readUInt32LE(step(4)) : bytes.readUInt32BE(step(4))
        case 'b':
          return self.take('u') !== 0
        case 'x':
          return isLittle ? bytes.readBigInt64LE(step(8)) : bytes.readBigInt64BE(step(8))
        case 't':
          return isLittle ? bytes.readBigUInt64LE(step(8)) : bytes.readBigUInt64BE(step(8))
        case 'd':
          return isLittle ? bytes.readDoubleLE(step(8)) : bytes.readDoubleBE(step(8))
        case 's':
        case 'o':
        case 'g': {
          const length = Number(self.take(kind === 'g' ? 'y' : 'u'))
          if (self.at + length >= bytes.length) throw new RangeError('a text goes beyond its message')
          return bytes.toString('utf8', step(length + 1), self.at - 1)
        }
        case 'v':
          return self.take(String(self.take('g')))
        case 'a': {
          const length = Number(self.take('u'))
          const inner = type.slice(1)
          self.at = aligned(self.at, ALIGNMENT[inner.charAt(0)] ?? 1)
          const end = self.at + length
          if (end > bytes.length) throw new RangeError('a list goes beyond its message')
          const list: BusValue[] = []
          while (self.at < end) list.push(self.take(inner))
          return list
        }
        default:
          return typesOf(type.slice(1, -1)).map((one) => self.take(one))
      }
    },
  }
  return self
}
