/**
 * The canonical form of values: what Kubernetes serves after an object went through its Go types and its store. Struct
 * fields in their order, zero values as omitempty and omitzero have it, empty lists and maps only where the field is written
 * without content too, quantities and times in one spelling. Shared by the quick walk (walk.ts) and the exact one (field-validation.ts).
 */

import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { setBounded } from '../../base/set-bounded.ts'
import type { Json } from '../object.ts'
import { sameJson } from '../same.ts'
import { canonicalQuantity } from '../values/quantity.ts'
import type { Field, Schema, StructSchema } from './schema.ts'

/** While it is being made, and only then, an object may be written. Values may be bigints, which Json does not name. */
export type Writable = { [key: string]: Json | undefined }

/** Sets a key that a user chose: `__proto__` is a key like any other. */
export function setKey(target: Writable, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  else target[key] = value
}

const alwaysWritten = new WeakMap<StructSchema, readonly Field[]>()

/** The fields that are written though absent: those without omitempty, and structs that are not pointers. */
function writtenWhenAbsent(schema: StructSchema): readonly Field[] {
  return getOrInsertComputed(alwaysWritten, schema, () =>
    schema.fields.filter((field) => isWritten(field, zeroOf(field))),
  )
}

export function zeroStruct(schema: StructSchema): Writable {
  const out: Writable = {}
  for (const field of writtenWhenAbsent(schema)) out[field.name] = zeroOf(field)
  return out
}

/** Whether an empty list or map differs from an absent one in this field: [] and null, {} and null. The store forgets it. */
export function keepsEmpty(field: Field): boolean {
  return !field.omitEmpty && !field.pointer && (field.schema.type === 'list' || field.schema.type === 'map')
}

/** The names of an object's fields that were given as an empty list or map and are not written: messages tell them from absent ones. */
const given: unique symbol = Symbol('given empty')

type Noted = { [given]?: readonly string[] }

export function noteEmpty(target: object, names: readonly string[]): void {
  Object.defineProperty(target, given, { value: names, enumerable: true, writable: true, configurable: true })
}

/** A list or map as a message shows it: [] or {} where it was given empty, null where it was not given. */
export function asGiven(parent: object | undefined, name: string, empty: Json): Json {
  const value = (parent as Writable | undefined)?.[name]
  if (value !== undefined && value !== null) return value
  return (parent as Noted | undefined)?.[given]?.includes(name) ? empty : null
}

/**
 * Whether a field is as it was stored, where an empty list or map that was given, here or further down, is not: the store keeps
 * none. Some kinds of Kubernetes compare so (reflect.DeepEqual), most take empty and absent for one.
 */
export function sameAsGiven(object: object, stored: object, name: string): boolean {
  const [value, before] = [(object as Writable)[name], (stored as Writable)[name]]
  if (value === before) return value !== undefined || asGiven(object, name, true) === null
  return sameJson(value, before) && !holdsGivenEmpty(value, before)
}

/** Of equal values. Parts of one identity are the stored ones, whatever they were given as. */
function holdsGivenEmpty(value: unknown, before: unknown): boolean {
  if (value === before || typeof value !== 'object' || value === null) return false
  // A default may have come in its place.
  if ((value as Noted)[given]?.some((name) => (value as Writable)[name] === undefined)) return true
  for (const key in value) if (holdsGivenEmpty((value as Writable)[key], (before as Writable)[key])) return true
  return false
}

/** The value without any mark of what was given empty: so it is once it went through JSON anew. The given one stays as it is. */
export function withoutGivenEmpty<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  let made = value as Writable
  const copied = () => {
    if (made === value) made = Array.isArray(value) ? ([...value] as never) : { ...(value as Writable) }
    return made
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Writable)[key]
    const kept = withoutGivenEmpty(inner)
    if (kept !== inner) setKey(copied(), key, kept as Json)
  }
  if ((value as Noted)[given] !== undefined) delete (copied() as Noted)[given]
  return made as T
}

/** What an absent field holds: null for Go's nil. */
export function zeroOf(field: Field): Json {
  return field.pointer || field.schema.type === 'bytes' ? null : zeroValue(field.schema)
}

export function zeroValue(schema: Schema): Json {
  switch (schema.type) {
    case 'struct':
      return zeroStruct(schema)
    case 'list':
    case 'map':
    case 'any':
    case 'time':
    case 'microTime':
      return null
    case 'boolean':
      return false
    case 'int32':
    case 'int64':
    case 'number':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'duration':
      return '0s'
    case 'bytes':
    case 'string':
      return ''
  }
}

/** Whether a field with this value (canonical, null for nil) is written at all. */
export function isWritten(field: Field, value: Json): boolean {
  if (!field.omitEmpty && !field.omitZero) return true
  if (field.pointer) return value !== null
  switch (field.schema.type) {
    case 'struct':
      return !(field.omitZero && isZeroStruct(field.schema, value))
    case 'any':
      // RawExtension and FieldsV1 are structs, which omitempty never omits; an interface or a list of bytes is not.
      return value !== null || (!field.omitZero && field.schema.goType.includes('.'))
    case 'time':
    case 'microTime':
      return value !== null || !field.omitZero
    case 'quantity':
      return !(field.omitZero && value === '0')
    case 'intOrString':
      return !(field.omitZero && value === 0)
    case 'duration':
      return value !== '0s' || (!field.omitZero && field.schema.goType === 'v1.Duration')
    default:
      return value !== null && value !== '' && value !== 0 && value !== false
  }
}

function isZeroStruct(schema: StructSchema, value: Json): boolean {
  if (value === null) return true
  const object = value as Writable
  const zero = zeroStruct(schema)
  for (const key of Object.keys(object)) {
    const field = schema.byName.get(key)
    if (field === undefined) return false
    const inner = object[key]!
    if (field.pointer) return inner === null
    if (field.schema.type === 'struct' ? !isZeroStruct(field.schema, inner) : inner !== zero[key]) return false
  }
  return true
}

const quantities = new Map<string, string>()

/** canonicalQuantity, remembering the few spellings that clusters use. */
export function quantityText(text: string): string {
  let found = quantities.get(text)
  if (found === undefined) {
    found = canonicalQuantity(text)
    if (text.length <= 24) setBounded(quantities, 2000, text, found)
  }
  return found
}

/** The canonical base64 of a text that decodes without error, or undefined. */
export function base64Text(text: string): string | undefined {
  return Buffer.from(text, 'base64').toString('base64') === text ? text : undefined
}
