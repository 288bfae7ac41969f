/**
 * The one walk of every body, patch result and in-process object over its Schema (docs/architecture.md). This is the quick
 * half: it makes the canonical form of a value in which nothing is wrong, and gives up at the first doubt; what is wrong,
 * and in which words, field-validation.ts finds out.
 *
 * A tree that the caller owns (JSON.parse has just made it) is made canonical in place, and what is canonical already, as
 * most of what clients send back is, stays as it is. Of a tree that is shared what has to change is copied; the rest is given
 * back as it is, so that a comparison with what it was made from finds the same parts.
 */
import { namedField } from '../../base/named-field.ts'
import type { Json } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import {
  base64Text,
  isWritten,
  keepsEmpty,
  noteEmpty,
  quantityText,
  setKey,
  type Writable,
  zeroOf,
  zeroStruct,
  zeroValue,
} from './canonical.ts'
import type { Field, ScalarSchema, Schema, StructSchema } from './schema.ts'
import { canonicalTime } from './time.ts'

/** Thrown by the quick walk to itself, without a stack trace: it costs little. */
const doubt: unique symbol = Symbol('doubt')

interface Walk {
  /** Keys seen so far, to be compared with the keys there are. */
  keys: number
  depth: number
  readonly owned: boolean
  /** A part of the value that is canonical already. */
  readonly known: KnownPart | undefined
  readonly parts: Parts
}

export interface KnownPart {
  readonly part: object
  /** Keys in it as it was written. */
  readonly keys: number
}

export interface WalkOptions {
  /** The tree may be changed, also when the answer is undefined. Not so where `known` is. */
  readonly owned?: boolean
  readonly known?: KnownPart
  /** What is remembered of parts of such objects. */
  readonly parts?: Parts
}

/** Objects may nest as deep as this, whatever the schema. */
export const MAX_DEPTH = 1000

/**
 * The canonical form of `value`, a tree from JSON.parse or of the same make; undefined when something in it may be wrong:
 * a wrong type, an unknown field, a number that is not plain, a key more or less than `keys` (a duplicate; undefined for what
 * never was text).
 */
export function walkQuickly(
  value: unknown,
  schema: StructSchema,
  keys: number | undefined,
  { owned = false, known, parts = noParts }: WalkOptions = {},
): Writable | undefined {
  const walk: Walk = { keys: 0, depth: 0, owned, known, parts }
  try {
    const made = struct(value, planOf(schema), walk)
    return keys === undefined || walk.keys === keys ? made : undefined
  } catch (error) {
    if (error === doubt) return undefined
    throw error
  }
}

/**
 * The keys of a tree of plain data, for a value that never was text; NaN when it nests too deep. Keys whose value is
 * undefined do not count.
 */
export function countKeys(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > MAX_DEPTH) return Number.NaN
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item, depth + 1)
    return count
  }
  for (const key in value) {
    const inner = namedField(value as Writable, key)
    if (inner === undefined) continue
    count++
    if (typeof inner === 'object') count += countKeys(inner, depth + 1)
  }
  return count
}

/** What the walk wants to know of a struct, found once. */
interface StructPlan {
  readonly schema: StructSchema
  readonly fields: readonly FieldPlan[]
  readonly byName: ReadonlyMap<string, FieldPlan>
  /** How many fields are written even if they are absent. */
  readonly always: number
  /** The canonical form of a part with this schema. @throws doubt */
  readonly canonical: (part: object) => object
}

interface FieldPlan {
  readonly name: string
  readonly index: number
  readonly field: Field
  readonly always: boolean
  /** Whether null, '', 0 and false are all that is not written; other rules are isWritten's. */
  readonly simple: boolean
  readonly keepsEmpty: boolean
  readonly value: ValuePlan
}

interface ValuePlan {
  readonly schema: Schema
  /** Made at first use: schemas refer to themselves. */
  struct?: StructPlan
  inner?: ValuePlan
}

const plans = new WeakMap<StructSchema, StructPlan>()

function planOf(schema: StructSchema): StructPlan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    const fields = schema.fields.map((field, index): FieldPlan => {
      const { type } = field.schema
      const simple =
        field.omitEmpty &&
        !field.pointer &&
        ['string', 'boolean', 'int32', 'int64', 'number', 'list', 'map', 'bytes'].includes(type)
      return {
        name: field.name,
        index,
        field,
        always: isWritten(field, zeroOf(field)),
        simple,
        keepsEmpty: keepsEmpty(field),
        value: { schema: field.schema },
      }
    })
    plan = {
      schema,
      fields,
      byName: new Map(fields.map((field) => [field.name, field])),
      always: fields.filter((field) => field.always).length,
      canonical: (part) => walkQuickly(part, schema, undefined) ?? giveUp(),
    }
    plans.set(schema, plan)
  }
  return plan
}

function structPlan(value: ValuePlan): StructPlan {
  value.struct ??= planOf(value.schema as StructSchema)
  return value.struct
}

function innerPlan(value: ValuePlan): ValuePlan {
  const { schema } = value
  value.inner ??= { schema: schema.type === 'list' ? schema.items : (schema as Schema & { type: 'map' }).values }
  return value.inner
}

function struct(value: unknown, plan: StructPlan, walk: Walk): Writable {
  if (value === null) return zeroStruct(plan.schema)
  if (typeof value !== 'object' || Array.isArray(value)) throw doubt
  if (walk.known !== undefined && value === walk.known.part) {
    walk.keys += walk.known.keys
    return value as Writable
  }
  if (walk.depth === 1) {
    const made = walk.parts.fromKnown(value, plan.canonical)
    if (made !== undefined) return made as Writable
  }
  if (++walk.depth > MAX_DEPTH) throw doubt
  const made = walk.owned ? structInPlace(value as Writable, plan, walk) : structShared(value as Writable, plan, walk)
  walk.depth--
  return made
}

/** The canonical form of a part that recurs, which recurs too; any other, and one in which something may be wrong, stays as it is. */
export function canonicalPart<P>(part: P, schema: StructSchema, parts: Parts): P {
  try {
    return (parts.fromKnown(part, planOf(schema).canonical) as P | undefined) ?? part
  } catch (error) {
    if (error === doubt) return part
    throw error
  }
}

function giveUp(): never {
  throw doubt
}

function structInPlace(source: Writable, plan: StructPlan, walk: Walk): Writable {
  let always = 0
  let last = -1
  let canonical = true
  let empties: string[] | undefined
  for (const key in source) {
    const entry = plan.byName.get(key)
    if (entry === undefined) throw doubt
    walk.keys++
    if (entry.index < last) canonical = false
    last = entry.index
    const inner = namedField(source, key)
    const made = fieldValue(inner, entry, walk)
    if (!written(entry, made)) {
      if (isEmpty(inner)) empties = [...(empties ?? []), key]
      source[key] = undefined
      canonical = false
      continue
    }
    if (entry.always) always++
    if (made !== inner) source[key] = made
  }
  if (canonical && always === plan.always) return source
  const out: Writable = {}
  for (const entry of plan.fields) {
    const inner = source[entry.name]
    if (inner !== undefined) out[entry.name] = inner
    else if (entry.always) out[entry.name] = zeroOf(entry.field)
  }
  if (empties !== undefined) noteEmpty(out, empties)
  return out
}

/** An empty list or map, of which nothing was made. */
const isEmpty = (inner: Json | undefined): boolean => typeof inner === 'object' && inner !== null

function structShared(source: Writable, plan: StructPlan, walk: Walk): Writable {
  let always = 0
  let last = -1
  let canonical = true
  let changed: Map<string, Json | undefined> | undefined
  let empties: string[] | undefined
  for (const key in source) {
    const inner = namedField(source, key)
    if (inner === undefined) {
      canonical = false
      continue
    }
    const entry = plan.byName.get(key)
    if (entry === undefined) throw doubt
    walk.keys++
    if (entry.index < last) canonical = false
    last = entry.index
    const made = fieldValue(inner, entry, walk)
    const isThere = written(entry, made)
    if (isThere && entry.always) always++
    if (isThere && made === inner) continue
    canonical = false
    changed ??= new Map()
    changed.set(key, isThere ? made : undefined)
    if (!isThere && isEmpty(inner)) empties = [...(empties ?? []), key]
  }
  if (canonical && always === plan.always) return source
  const out: Writable = {}
  for (const entry of plan.fields) {
    const { name } = entry
    const inner = changed?.has(name) ? changed.get(name) : source[name]
    if (inner !== undefined) out[name] = inner
    else if (entry.always) out[name] = zeroOf(entry.field)
  }
  if (empties !== undefined) noteEmpty(out, empties)
  return out
}

function fieldValue(value: unknown, entry: FieldPlan, walk: Walk): Json {
  if (value === null) return zeroOf(entry.field)
  const made = quick(value, entry.value, walk)
  // Of an empty list or map nothing is made.
  return made === null && entry.keepsEmpty ? (value as Json) : made
}

function written(entry: FieldPlan, value: Json): boolean {
  if (entry.simple) return value !== null && value !== '' && value !== 0 && value !== false
  return entry.field.pointer ? value !== null || entry.always : isWritten(entry.field, value)
}

function quick(value: unknown, plan: ValuePlan, walk: Walk): Json {
  const { schema } = plan
  switch (schema.type) {
    case 'string':
      if (typeof value === 'string') return value
      break
    case 'struct':
      return struct(value, structPlan(plan), walk)
    case 'list':
      return value === null ? null : list(value, innerPlan(plan), walk)
    case 'map':
      return value === null ? null : map(value, innerPlan(plan), walk)
    case 'boolean':
      if (typeof value === 'boolean') return value
      break
    case 'int32':
      if (typeof value === 'number' && (value | 0) === value) return value
      break
    default:
      return value === null ? zeroValue(schema) : other(value, schema, walk)
  }
  if (value === null) return zeroValue(schema)
  throw doubt
}

function other(value: unknown, schema: ScalarSchema, walk: Walk): Json {
  switch (schema.type) {
    case 'int64':
      if (Number.isSafeInteger(value)) return value as number
      if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value as unknown as Json
      throw doubt
    case 'number':
      if (typeof value === 'number' && Number.isFinite(value)) return value
      throw doubt
    case 'intOrString':
      if (typeof value === 'string' || (typeof value === 'number' && (value | 0) === value)) return value
      throw doubt
    case 'any':
      return schema.union === undefined ? anything(value, walk) : union(value, schema.union, walk)
  }
  if (typeof value !== 'string') throw doubt
  try {
    if (schema.type === 'quantity') return quantityText(value)
    if (schema.type === 'time' || schema.type === 'microTime') return canonicalTime(value, schema.type)
  } catch {
    throw doubt
  }
  const text = schema.type === 'bytes' ? base64Text(value) : undefined
  if (text === undefined) throw doubt
  return text
}

function list(value: unknown, items: ValuePlan, walk: Walk): Json {
  if (!Array.isArray(value)) throw doubt
  if (value.length === 0) return null
  let out: Json[] = value
  for (let i = 0; i < value.length; i++) {
    const made = quick(value[i] ?? null, items, walk)
    if (value[i] === made) continue
    if (out === value && !walk.owned) out = [...value]
    out[i] = made
  }
  return out
}

function map(value: unknown, values: ValuePlan, walk: Walk): Json {
  if (typeof value !== 'object' || Array.isArray(value)) throw doubt
  const source = value as Writable
  const keys = Object.keys(source)
  if (keys.length === 0) return null
  let canonical = true
  for (let i = 1; canonical && i < keys.length; i++) canonical = keys[i - 1]! < keys[i]!
  if (!canonical) keys.sort(byBytes)
  const made: (Json | undefined)[] = []
  let same = canonical
  for (const key of keys) {
    const inner = source[key]
    if (inner === undefined) {
      made.push(undefined)
      same = false
      continue
    }
    walk.keys++
    // An empty list or map, of which nothing is made, is a value as any.
    const one = quick(inner, values, walk) ?? inner
    made.push(one)
    if (one !== inner) same = false
  }
  if (same) return source
  const out: Writable = {}
  for (const [i, key] of keys.entries()) {
    const one = made[i]
    if (one !== undefined) setKey(out, key, one)
  }
  return out
}

/** Go sorts map keys by their bytes, which for all but rare characters is the order of UTF-16 units. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function union(value: unknown, { other, object }: { other: string; object: StructSchema }, walk: Walk): Json {
  if (Array.isArray(value)) {
    if (other === 'list') return value.map((item) => struct(item, planOf(object), walk))
    if (other === 'strings' && value.every((item) => typeof item === 'string')) return [...value]
    throw doubt
  }
  if (typeof value === 'boolean' && other === 'boolean') return value
  return struct(value, planOf(object), walk)
}

/** Any JSON, as it is. */
function anything(value: unknown, walk: Walk): Json {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) throw doubt
    return value as Json
  }
  if (++walk.depth > MAX_DEPTH) throw doubt
  const out = Array.isArray(value) ? anyItems(value, walk) : anyFields(value as Writable, walk)
  walk.depth--
  return out
}

function anyItems(value: Json[], walk: Walk): Json {
  let out = value
  for (let i = 0; i < value.length; i++) {
    const item = value[i]
    const made = anything(item ?? null, walk)
    if (made === item) continue
    if (out === value && !walk.owned) out = [...value]
    out[i] = made
  }
  return out
}

function anyFields(source: Writable, walk: Walk): Json {
  let changed: Map<string, Json | undefined> | undefined
  for (const key in source) {
    const inner = namedField(source, key)
    let made: Json | undefined
    if (inner !== undefined) {
      walk.keys++
      made = anything(inner, walk)
      if (made === inner) continue
    }
    changed ??= new Map()
    changed.set(key, made)
  }
  if (changed === undefined) return source
  const out: Writable = {}
  for (const key of Object.keys(source)) {
    const made = changed.has(key) ? changed.get(key) : source[key]
    if (made !== undefined) setKey(out, key, made)
  }
  return out
}
