/** Protobuf's wire format: a writer that fills its buffer from the end, so that lengths are known, and a bounded reader. */

import { StatusError } from '../status.ts'

/** Bytes that are no message, in the words of Go's protobuf: a bad request. */
export class ProtobufError extends StatusError {
  /** What the message around the broken one says it is; undefined when that one itself is broken. */
  readonly inside: { readonly apiVersion: string; readonly kind: string } | undefined
  constructor(message: string, inside?: ProtobufError['inside']) {
    super(400, 'BadRequest', message)
    this.inside = inside
  }
}

export type Writer = ReturnType<typeof createWriter>

/** A writer that is used again does not hold on to more. */
const MAX_KEPT = 1024 * 1024

/** Everything is written back to front: a field's content first, then its length and tag. */
export function createWriter(size = 4096) {
  let buffer = Buffer.allocUnsafe(size)
  let at = size

  const reserve = (bytes: number) => {
    if (at >= bytes) return
    const used = buffer.length - at
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + bytes + 64))
    buffer.copy(larger, larger.length - used, at)
    at = larger.length - used
    buffer = larger
  }

  /** Of a non-negative integer below 2^53. */
  const varint = (value: number) => {
    reserve(10)
    if (value < 0x80) {
      buffer[--at] = value
      return
    }
    let bytes = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++
    at -= bytes
    let rest = value
    for (let i = 0; i < bytes - 1; i++) {
      buffer[at + i] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    buffer[at + bytes - 1] = rest
  }

  const wideVarint = (value: bigint) => {
    reserve(10)
    let rest = BigInt.asUintN(64, value)
    const bytes: number[] = []
    do {
      bytes.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    } while (rest > 0n)
    bytes[bytes.length - 1]! &= 0x7f
    at -= bytes.length
    for (const [i, byte] of bytes.entries()) buffer[at + i] = byte
  }

  const lengthTag = (number: number, length: number) => {
    varint(length)
    varint(number * 8 + 2)
  }

  const content = (value: string): number => {
    const length = value.length
    reserve(length * 3)
    if (length < 64) {
      const start = at - length
      let i = 0
      for (; i < length; i++) {
        const code = value.charCodeAt(i)
        if (code >= 0x80) break
        buffer[start + i] = code
      }
      if (i === length) {
        at = start
        return length
      }
    }
    const bytes = Buffer.byteLength(value)
    at -= bytes
    buffer.write(value, at, bytes, 'utf8')
    return bytes
  }

  const raw = (bytes: Uint8Array) => {
    reserve(bytes.length)
    at -= bytes.length
    buffer.set(bytes, at)
  }

  return {
    /** Bytes written so far. */
    length: () => buffer.length - at,
    lengthTag,
    raw,
    text(number: number, value: string) {
      lengthTag(number, content(value))
    },
    bytes(number: number, value: Uint8Array) {
      raw(value)
      lengthTag(number, value.length)
    },
    /** An integer as Go's int64 goes: negative ones take ten bytes. */
    integer(number: number, value: number | bigint) {
      if (typeof value === 'bigint' || value < 0 || value > Number.MAX_SAFE_INTEGER) wideVarint(BigInt(value))
      else varint(value)
      varint(number * 8)
    },
    double(number: number, value: number) {
      reserve(8)
      at -= 8
      buffer.writeDoubleLE(value, at)
      varint(number * 8 + 1)
    },
    /** What was written; a view, good until the next reset. */
    finish: (): Uint8Array => buffer.subarray(at),
    reset(): void {
      if (buffer.length > MAX_KEPT) buffer = Buffer.allocUnsafe(size)
      at = buffer.length
    },
  }
}

export interface Tag {
  readonly number: number
  readonly wire: number
}

export interface Reader {
  more(): boolean
  tag(): Tag
  /** An int64: a bigint where a number would lose digits. */
  integer(): number | bigint
  double(): number
  text(): string
  bytes(): Uint8Array
  /** A reader of the message that follows. */
  message(): Reader
  skip(wire: number): void
}

const utf8 = new TextDecoder()

/** Reads `bytes` from `start` to `end`; never beyond. */
export function createReader(bytes: Uint8Array, start: number, end: number): Reader {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = start

  const truncated = () => new ProtobufError('unexpected EOF')

  const varint = (): number | bigint => {
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      if (at >= end) throw truncated()
      const byte = buffer[at++]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    let wide = BigInt(value)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      if (at >= end) throw truncated()
      const byte = buffer[at++]!
      wide |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) {
        const signed = BigInt.asIntN(64, wide)
        const plain = Number(signed)
        return Number.isSafeInteger(plain) ? plain : signed
      }
    }
    throw new ProtobufError('proto: integer overflow')
  }

  const length = (): number => {
    const value = varint()
    if (typeof value === 'bigint' || value < 0)
      throw new ProtobufError('proto: negative length found during unmarshaling')
    if (value > end - at) throw truncated()
    return value
  }

  /** Groups are of an older time: skipped with what is in them, however deep. */
  const skipGroup = (): void => {
    for (let depth = 1; depth > 0; ) {
      if (at >= end) throw truncated()
      const wire = Number(varint()) & 7
      if (wire === 3) depth++
      else if (wire === 4) depth--
      else skip(wire)
    }
  }

  const skip = (wire: number): void => {
    switch (wire) {
      case 0:
        varint()
        return
      case 1:
        if (end - at < 8) throw truncated()
        at += 8
        return
      case 2: {
        const size = length()
        at += size
        return
      }
      case 3:
        skipGroup()
        return
      case 5:
        if (end - at < 4) throw truncated()
        at += 4
        return
      default:
        throw new ProtobufError(`proto: illegal wireType ${wire}`)
    }
  }

  return {
    more: () => at < end,
    tag(): Tag {
      const value = varint()
      if (typeof value === 'bigint' || value > 0xffffffff) throw new ProtobufError('proto: integer overflow')
      const number = Math.floor(value / 8)
      if (number === 0) throw new ProtobufError(`proto: illegal tag ${number} (wire type ${value & 7})`)
      return { number, wire: value & 7 }
    },
    integer: varint,
    double(): number {
      if (end - at < 8) throw truncated()
      at += 8
      return buffer.readDoubleLE(at - 8)
    },
    text(): string {
      const size = length()
      at += size
      if (size < 32) {
        let text = ''
        let i = at - size
        for (; i < at; i++) {
          const byte = buffer[i]!
          if (byte >= 0x80) break
          text += String.fromCharCode(byte)
        }
        if (i === at) return text
      }
      return utf8.decode(buffer.subarray(at - size, at))
    },
    bytes(): Uint8Array {
      const size = length()
      at += size
      return buffer.subarray(at - size, at)
    },
    message(): Reader {
      const size = length()
      at += size
      return createReader(buffer, at - size, at)
    },
    skip,
  }
}
