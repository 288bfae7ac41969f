/** Values of CEL: what an expression computes with. Integers are bigints, doubles numbers; JSON is wrapped by its type. */

import { GoDurationError, parseGoDuration } from '../../base/go-duration.ts'
import { parseRfc3339 } from '../../base/rfc3339.ts'
import type { Json, JsonObject } from '../object.ts'
import { dateTimeProblem, nanosOfDateTime, nanosOfDuration } from '../schema/structural/times-of-formats.ts'
import { goTypeOf } from '../values/go-types.ts'
import { base64Problem } from './base64.ts'
import { DYN, fieldNamed, type Type } from './types.ts'

export class CelError extends Error {}

/** A map or message has no such key or field. The value is optional, but none is there: optional selection gives none. */
export class NoSuchKey extends CelError {
  constructor(key: string) {
    super(`no such key: ${key}`)
  }
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}
export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint
  /** How far its clock is ahead of UTC, in minutes: its text says so, and nothing else of it. */
  readonly offset: number
  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos
    this.offset = offset
  }
}

/** The offset that a time's text ends with, in minutes. */
export function offsetIn(text: string): number {
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? []
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
}
export class CelDuration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}
export class Optional {
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}
/** A value of one of Kubernetes' libraries. */
export class Opaque {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: what is inside is known to the library of its type
  readonly data: any
  readonly text: string
  /** What it is equal by, to others of its type; null for what can be compared with nothing. */
  readonly identity: string | null
  // biome-ignore lint/suspicious/noExplicitAny: as above
  constructor(type: string, data: any, text: string, identity: string | null = text) {
    this.type = type
    this.data = data
    this.text = text
    this.identity = identity
  }
}
/** A type as a value. */
export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
/** An object of a schema, wrapped field by field as it is asked for, each once: a loop may ask for a long list at every turn. */
export class ObjectValue {
  readonly json: JsonObject
  readonly type: Type & { readonly kind: 'object' }
  private wrapped: Map<string, Value> | undefined
  constructor(json: JsonObject, type: Type & { readonly kind: 'object' }) {
    this.json = json
    this.type = type
  }

  /** undefined when it is not set. @throws CelError when it is not what its type says */
  field(name: string): Value | undefined {
    const known = this.wrapped?.get(name)
    if (known !== undefined) return known
    const field = fieldNamed(this.type, name)
    if (field === undefined || !Object.hasOwn(this.json, field.name)) return undefined
    const json = this.json[field.name]
    if (json === undefined) return undefined
    const value = wrap(json, field.type)
    if (typeof value === 'object' && value !== null) {
      this.wrapped ??= new Map()
      this.wrapped.set(name, value)
    }
    return value
  }
}
/** An object that an expression makes (`Object.spec{…}`). */
export class MessageValue {
  readonly type: Type & { readonly kind: 'object' }
  readonly fields: ReadonlyMap<string, Value>
  constructor(type: Type & { readonly kind: 'object' }, fields: ReadonlyMap<string, Value>) {
    this.type = type
    this.fields = fields
  }
}
/** Keys are told apart by type and value. */
export class MapValue {
  readonly entries: ReadonlyMap<string, readonly [key: Value, value: Value]>
  /** What it was made of; undefined for what an expression made. */
  readonly json: JsonObject | undefined
  /** No expression made it: it can be compared with maps alone. */
  readonly given: boolean
  constructor(
    entries: ReadonlyMap<string, readonly [key: Value, value: Value]>,
    json?: JsonObject,
    given = json !== undefined,
  ) {
    this.entries = entries
    this.json = json
    this.given = given
  }
}

const SOURCE = Symbol('json')

/** The JSON that a list or map was made of, if it was. */
export const sourceOf = (value: Value): Json | undefined =>
  value instanceof MapValue ? value.json : Array.isArray(value) ? (value as { [SOURCE]?: Json })[SOURCE] : undefined

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | CelDuration
  | Optional
  | Opaque
  | TypeValue
  | ObjectValue
  | MessageValue
  | MapValue
  | readonly Value[]

export function mapKeyOf(key: Value): string {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  if (typeof key === 'number') return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`
  if (key === null) return 'null'
  throw new CelError('unsupported key type')
}

/** JSON as a value of the type. @throws CelError when it is of another kind */
export function wrap(json: Json | undefined, type: Type): Value {
  if (json === null || json === undefined) return null
  switch (type.kind) {
    case 'object':
      if (typeof json !== 'object' || Array.isArray(json))
        throw new CelError('invalid data, expected a map for the provided schema with type=object')
      return new ObjectValue(json as JsonObject, type)
    case 'list':
      if (!Array.isArray(json))
        throw new CelError('invalid data, expected an array for the provided schema with type=array')
      return json.map((item) => wrap(item, type.items))
    case 'map':
      if (typeof json !== 'object' || Array.isArray(json))
        throw new CelError('invalid data, expected a map for the provided schema with type=object')
      return mapFromJson(json as JsonObject, type.value)
    case 'simple':
      if (type.intOrString === true && !isIntOrString(json))
        throw new CelError('invalid data, expected XIntOrString value to be either a string or integer')
      return wrapSimple(json, type.name)
    default:
      return wrapSimple(json, 'dyn')
  }
}

function mapFromJson(json: JsonObject, of: Type): MapValue {
  const entries = new Map<string, readonly [Value, Value]>()
  for (const [key, value] of Object.entries(json))
    if (value !== undefined) entries.set(`s${key}`, [key, wrap(value, of)])
  return new MapValue(entries, json)
}

function wrapSimple(json: Json, name: string): Value {
  switch (name) {
    case 'int':
      if (typeof json === 'number' && Number.isInteger(json)) return BigInt(json)
      if (typeof json === 'bigint') return json
      throw notA('int', json)
    case 'double':
      if (typeof json === 'number') return json
      if (typeof json === 'bigint') return Number(json)
      throw notA('float', json)
    case 'bool':
      if (typeof json === 'boolean') return json
      throw notA('bool', json)
    case 'string':
      return textIn(json)
    case 'bytes':
      return bytesOfFormat(textIn(json))
    case 'google.protobuf.Timestamp':
      return timeOfFormat(textIn(json))
    case 'google.protobuf.Duration':
      return durationOfFormat(textIn(json))
    default:
      return wrapDynamic(json)
  }
}

const isIntOrString = (json: Json) => typeof json === 'string' || typeof json === 'bigint' || Number.isInteger(json)

const notA = (wanted: string, json: Json) => new CelError(`invalid data, expected ${wanted}, got ${goTypeOf(json)}`)

function textIn(json: Json): string {
  if (typeof json === 'string') return json
  throw notA('string', json)
}

function bytesOfFormat(text: string): Uint8Array {
  const problem = base64Problem(text)
  if (problem !== undefined) throw new CelError(`Invalid byte formatted string ${text}: ${problem}`)
  return Buffer.from(text, 'base64')
}

function durationOfFormat(text: string): CelDuration {
  const nanos = nanosOfDuration(text)
  if (nanos === undefined) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
  return new CelDuration(nanos)
}

function timeOfFormat(text: string): Timestamp {
  const nanos = nanosOfDateTime(text)
  if (nanos === undefined) throw new CelError(`Invalid date-time formatted string ${text}: ${dateTimeProblem(text)}`)
  return new Timestamp(nanos, offsetIn(text))
}

function wrapDynamic(json: Json): Value {
  if (json === null || typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'bigint') return json
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (Array.isArray(json)) return Object.assign(json.map(wrapDynamic), { [SOURCE]: json })
  return mapFromJson(json as JsonObject, DYN)
}

/** A value of the format `date-time`. @throws CelError */
export function parseTimestamp(text: string): Timestamp {
  const nanos = parseRfc3339(text, { lenient: true })
  if (nanos === undefined) throw new CelError(`invalid timestamp ${JSON.stringify(text)}`)
  return new Timestamp(nanos)
}

/** @throws CelError */
export function parseDuration(text: string): CelDuration {
  try {
    return new CelDuration(parseGoDuration(text))
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error
    throw new CelError(`time: invalid duration ${JSON.stringify(text)}`)
  }
}

/** Equality of CEL: numbers across types, lists and maps by content. What cannot be compared is not equal. */
export const equals = (a: Value, b: Value): boolean => compared(a, b) === true

/**
 * Whether values are equal; undefined when the first cannot be compared with what the second is. Inside of lists and maps only what is
 * known to differ makes a difference, as in Kubernetes.
 */
export function compared(a: Value, b: Value): boolean | undefined {
  if (a instanceof Opaque && a.identity === null) return undefined
  if (a === b) return true
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return orderOf(x, y) === 0
  if (a === null || b === null) return false
  if (a instanceof Opaque) return b instanceof Opaque && a.type === b.type ? a.identity === b.identity : undefined
  if (Array.isArray(a)) {
    if (!Array.isArray(b)) return sourceOf(a) === undefined ? false : undefined
    return a.length === b.length && a.every((item, i) => compared(item, b[i] as Value) !== false)
  }
  if (isMapLike(a)) {
    if (!isMapLike(b)) return a instanceof MapValue && !a.given ? false : undefined
    const [left, right] = [mapEntries(a), mapEntries(b)]
    if (left.size !== right.size) return false
    return [...left].every(([key, [, value]]) => {
      const other = right.get(key)
      return other !== undefined && compared(value, other[1]) !== false
    })
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos === b.nanos
  if (a instanceof CelDuration && b instanceof CelDuration) return a.nanos === b.nanos
  if (a instanceof Optional && b instanceof Optional)
    return a.value === undefined || b.value === undefined ? a.value === b.value : compared(a.value, b.value)
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name
  if (a instanceof MessageValue && b instanceof MessageValue)
    return (
      a.type.name === b.type.name &&
      a.fields.size === b.fields.size &&
      [...a.fields].every(([name, value]) => b.fields.has(name) && equals(value, b.fields.get(name) as Value))
    )
  return false
}

/** Which is less; NaN when one is none. Beside a double an integer counts as the double it is next to. */
export function orderOf(a: bigint | number, b: bigint | number): number {
  const [x, y] = typeof a === typeof b ? [a, b] : [Number(a), Number(b)]
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN
}

export function numeric(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  return value instanceof Uint ? value.value : undefined
}

export const isMapLike = (value: Value): value is MapValue | ObjectValue =>
  value instanceof MapValue || value instanceof ObjectValue

export function mapEntries(value: MapValue | ObjectValue): ReadonlyMap<string, readonly [Value, Value]> {
  if (value instanceof MapValue) return value.entries
  const entries = new Map<string, readonly [Value, Value]>()
  for (const name of value.type.fields.keys()) {
    const field = value.field(name)
    if (field !== undefined) entries.set(`s${name}`, [name, field])
  }
  return entries
}

export const sizeOfValue = (value: Value): number =>
  typeof value === 'string'
    ? value.length
    : value instanceof Uint8Array || Array.isArray(value)
      ? value.length
      : value instanceof MapValue
        ? value.entries.size
        : value instanceof ObjectValue
          ? Object.keys(value.json).length
          : 1
