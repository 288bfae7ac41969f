/** Messages of protobuf that every expression can make: durations and times by their seconds and nanoseconds. */
import { typeName } from './functions.ts'
import { DURATION, INT, TIMESTAMP, type Type } from './types.ts'
import { CelDuration, CelError, Timestamp, type Value } from './values.ts'

interface ProtobufMessage {
  /** What its fields are checked by. */
  readonly fields: Type & { readonly kind: 'object' }
  /** What is made of them. */
  readonly type: Type
  /** @throws CelError for a field of another type, or with more than it holds */
  make(fields: ReadonlyMap<string, Value>): Value
}

const SECOND = 1_000_000_000n

function message(name: string, type: Type, made: (nanos: bigint) => Value): ProtobufMessage {
  const fields = new Map(['seconds', 'nanos'].map((field) => [field, { name: field, type: INT }]))
  const read = (given: ReadonlyMap<string, Value>, field: string, bits: 32 | 64): bigint => {
    const value = given.get(field) ?? 0n
    const wrong = (why: string) => new CelError(`field type conversion error for ${name}.${field} value type: ${why}`)
    if (typeof value !== 'bigint') throw wrong(`unsupported native conversion from ${typeName(value)} to 'int${bits}'`)
    if (BigInt.asIntN(bits, value) !== value) throw wrong('integer overflow')
    return value
  }
  return {
    fields: { kind: 'object', name, fields },
    type,
    make: (given) => made(read(given, 'seconds', 64) * SECOND + read(given, 'nanos', 32)),
  }
}

const MOST = 2n ** 63n - 1n

/** What is longer than 64 bits of nanoseconds is as long as they are. */
const saturated = (nanos: bigint) => new CelDuration(nanos > MOST ? MOST : nanos < -MOST ? -MOST - 1n : nanos)

/** By name. */
export const protobufMessages: Readonly<Record<string, ProtobufMessage>> = Object.assign(Object.create(null), {
  'google.protobuf.Duration': message('google.protobuf.Duration', DURATION, saturated),
  'google.protobuf.Timestamp': message('google.protobuf.Timestamp', TIMESTAMP, (nanos) => new Timestamp(nanos)),
})
