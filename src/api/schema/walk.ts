/**
 * The one walk of every body, patch result and in-process object over its Schema (DESIGN.md, decision 3). This is the quick
 * half: it makes the canonical form of a value in which nothing is wrong, and gives up at the first doubt; what is wrong,
 * and in which words, exact.ts finds out.
 */
import type { Json } from '../object.ts'
import {
  base64Text,
  isWritten,
  quantityText,
  setKey,
  type Writable,
  zeroOf,
  zeroStruct,
  zeroValue,
} from './canonical.ts'
import type { Field, Schema, StructSchema } from './schema.ts'
import { canonicalTime } from './time.ts'

/** Thrown by the quick walk to itself, without a stack trace: it costs little. */
const doubt: unique symbol = Symbol('doubt')

interface Walk {
  /** Keys seen so far, to be compared with the keys there are. */
  keys: number
  depth: number
}

/** Objects may nest as deep as this, whatever the schema. */
export const MAX_DEPTH = 1000

/**
 * The canonical form of `value`, a tree from JSON.parse or of the same make; undefined when something in it may be wrong:
 * a wrong type, an unknown field, a number that is not plain, a key more or less than `keys` (a duplicate).
 */
export function walkQuickly(value: unknown, schema: StructSchema, keys: number): Writable | undefined {
  const walk: Walk = { keys: 0, depth: 0 }
  try {
    const made = struct(value, schema, walk)
    return walk.keys === keys ? made : undefined
  } catch (error) {
    if (error === doubt) return undefined
    throw error
  }
}

/** The keys of a tree of plain data, for a value that never was text. Keys whose value is undefined do not count. */
export function countKeys(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > MAX_DEPTH) return -1e9
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item, depth + 1)
    return count
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Writable)[key]
    if (inner !== undefined) count += 1 + countKeys(inner, depth + 1)
  }
  return count
}

function struct(value: unknown, schema: StructSchema, walk: Walk): Writable {
  if (value === null) return zeroStruct(schema)
  if (typeof value !== 'object' || Array.isArray(value)) throw doubt
  if (++walk.depth > MAX_DEPTH) throw doubt
  const source = value as { readonly [key: string]: unknown }
  const out: Writable = {}
  for (const field of schema.fields) {
    const inner = source[field.name]
    if (inner === undefined) {
      // The common case first: an absent field that stays absent.
      if (field.omitEmpty && (field.pointer || field.schema.type !== 'struct')) {
        if (field.pointer || isPlain(field.schema)) continue
      }
      const zero = zeroOf(field)
      if (isWritten(field, zero)) out[field.name] = zero
      continue
    }
    walk.keys++
    const made = fieldValue(inner, field, walk)
    if (isWritten(field, made)) out[field.name] = made
  }
  walk.depth--
  return out
}

/** Whether omitempty drops the type's zero value. */
function isPlain({ type }: Schema): boolean {
  return (
    type === 'string' || type === 'list' || type === 'map' || type === 'boolean' || type === 'int32' || type === 'int64'
  )
}

function fieldValue(value: unknown, field: Field, walk: Walk): Json {
  return value === null ? zeroOf(field) : quick(value, field.schema, walk)
}

function quick(value: unknown, schema: Schema, walk: Walk): Json {
  if (value === null) return zeroValue(schema)
  switch (schema.type) {
    case 'string':
      if (typeof value !== 'string') throw doubt
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw doubt
      return value
    case 'int32':
      if (typeof value !== 'number' || (value | 0) !== value) throw doubt
      return value
    case 'int64':
      if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value as unknown as Json
      if (!Number.isSafeInteger(value)) throw doubt
      return value as number
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) throw doubt
      return value
    case 'struct':
      return struct(value, schema, walk)
    case 'list':
      return list(value, schema.items, walk)
    case 'map':
      return map(value, schema.values, walk)
    case 'any':
      if (schema.union !== undefined) return union(value, schema.union, walk)
      return anything(value, walk)
    case 'quantity':
      if (typeof value !== 'string') throw doubt
      return orDoubt(() => quantityText(value))
    case 'intOrString':
      if (typeof value === 'string' || (typeof value === 'number' && (value | 0) === value)) return value
      throw doubt
    case 'time':
    case 'microTime':
      if (typeof value !== 'string') throw doubt
      return orDoubt(() => canonicalTime(value, schema.type as 'time' | 'microTime'))
    case 'bytes': {
      if (typeof value !== 'string') throw doubt
      const text = base64Text(value)
      if (text === undefined) throw doubt
      return text
    }
    case 'duration':
      throw doubt
  }
}

function orDoubt(make: () => string): string {
  try {
    return make()
  } catch {
    throw doubt
  }
}

function list(value: unknown, items: Schema, walk: Walk): Json {
  if (!Array.isArray(value)) throw doubt
  if (value.length === 0) return null
  const out = new Array<Json>(value.length)
  for (let i = 0; i < value.length; i++) out[i] = quick(value[i] ?? null, items, walk)
  return out
}

function map(value: unknown, values: Schema, walk: Walk): Json {
  if (typeof value !== 'object' || Array.isArray(value)) throw doubt
  const source = value as { readonly [key: string]: unknown }
  const keys = Object.keys(source)
  if (keys.length === 0) return null
  if (keys.length > 1) keys.sort(byBytes)
  const out: Writable = {}
  for (const key of keys) {
    const inner = source[key]
    if (inner === undefined) continue
    walk.keys++
    setKey(out, key, quick(inner, values, walk))
  }
  return out
}

/** Go sorts map keys by their bytes, which for all but rare characters is the order of UTF-16 units. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function union(value: unknown, { other, object }: { other: string; object: StructSchema }, walk: Walk): Json {
  if (Array.isArray(value)) {
    if (other === 'list') return value.map((item) => struct(item, object, walk))
    if (other === 'strings' && value.every((item) => typeof item === 'string')) return [...value]
    throw doubt
  }
  if (typeof value === 'boolean' && other === 'boolean') return value
  return struct(value, object, walk)
}

/** Any JSON, as it is (a copy: what was given stays the giver's). */
function anything(value: unknown, walk: Walk): Json {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) throw doubt
    return value as Json
  }
  if (++walk.depth > MAX_DEPTH) throw doubt
  let out: Json
  if (Array.isArray(value)) out = value.map((item) => anything(item ?? null, walk))
  else {
    const copy: Writable = {}
    for (const key of Object.keys(value)) {
      const inner = (value as Writable)[key]
      if (inner === undefined) continue
      walk.keys++
      setKey(copy, key, anything(inner, walk))
    }
    out = copy
  }
  walk.depth--
  return out
}
