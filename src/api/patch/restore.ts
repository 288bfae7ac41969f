/**
 * A strategic merge patch's result goes into Go types by reflection, not through JSON: its type errors have words of their
 * own, without a path. Unknown fields are not looked at here.
 */

import { problemOfValue } from '../decode-problem.ts'
import type { Json, JsonObject } from '../object.ts'
import { problemOfDecoding } from '../schema/field-validation.ts'
import type { Schema, StructSchema } from '../schema/schema.ts'
import { goKindOf } from '../values/go-types.ts'
import { exactInteger, jsonNodeOf } from '../values/json.ts'
import { isList, isMap, setOwn } from '../values/maps-and-lists.ts'

/**
 * The first value, in the order of the Go types, that does not fit; undefined when all do. `live` is what was patched: what it shares with the
 * result is not looked at again.
 */
export function restoreError(value: Json | undefined, schema: Schema, live?: Json): string | undefined {
  if (value === undefined || value === null || value === live) return undefined
  switch (schema.type) {
    case 'struct':
      if (!isMap(value)) return `cannot restore struct from: ${goKindOf(value)}`
      return fieldError(value, schema, isMap(live) ? live : undefined)
    case 'map':
      if (!isMap(value)) return `cannot restore map from ${goKindOf(value)}`
      return firstError(Object.values(value), schema.values)
    case 'list':
      if (!isList(value)) return `cannot restore slice from ${goKindOf(value)}`
      return firstError(value, schema.items)
    case 'bytes':
      if (isList(value)) return firstItemError(value)
      return typeof value === 'string' ? ownError(value, schema) : `cannot restore slice from ${goKindOf(value)}`
    case 'string':
      return scalarError(value, 'string', schema.goType)
    case 'boolean':
      return scalarError(value, 'bool', schema.goType)
    case 'int32':
    case 'int64':
      return scalarError(value, schema.type, schema.goType)
    case 'number':
      return scalarError(value, 'float64', schema.goType)
    default:
      return ownError(value, schema)
  }
}

/** Quantities, times and the like read their JSON themselves. */
function ownError(value: Json, schema: Schema): string | undefined {
  const problem = problemOfDecoding(jsonNodeOf(value), schema)
  return problem && problemOfValue(problem)
}

/** Bytes one by one. */
function firstItemError(items: readonly Json[]): string | undefined {
  for (const item of items) {
    const wrong = item === null ? undefined : scalarError(item, 'uint8', 'uint8')
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function fieldError(value: JsonObject, { fields }: StructSchema, live: JsonObject | undefined): string | undefined {
  for (const { name, schema } of fields) {
    const inner = value[name]
    const wrong = inner === undefined ? undefined : restoreError(inner, schema, live?.[name])
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function firstError(values: readonly (Json | undefined)[], schema: Schema): string | undefined {
  for (const value of values) {
    const wrong = restoreError(value, schema)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function scalarError(value: Json, kind: string, goType: string): string | undefined {
  const from = goKindOf(value)
  const numeric = kind !== 'string' && kind !== 'bool'
  if (from === kind || (from === 'int64' && numeric)) return undefined
  if (numeric && isWhole(value)) return undefined
  // Go converts numbers to numbers, and integers to strings, by type; the API does not want it.
  const convertible = (from === 'float64' && numeric) || (from === 'int64' && kind === 'string')
  return convertible ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${kind}`
}

function isWhole(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}

/** Integers as Go's conversions to narrower types leave them: they wrap around, and what no int64 holds is the least there is. */
export function withIntegersWrapped(value: Json, schema: Schema, live?: Json): Json {
  if (value === null || value === live) return value
  switch (schema.type) {
    case 'struct':
      return isMap(value) ? wrappedFields(value, schema, live) : value
    case 'map':
      return isMap(value) ? mapped(value, (inner) => withIntegersWrapped(inner, schema.values)) : value
    case 'list': {
      if (!isList(value)) return value
      const items = value.map((item) => withIntegersWrapped(item, schema.items))
      return items.every((item, i) => item === value[i]) ? value : items
    }
    case 'int32':
    case 'int64':
      return wrapped(value, schema.type === 'int32' ? 32 : 64)
    default:
      return value
  }
}

function wrappedFields(value: JsonObject, { byName }: StructSchema, live: Json | undefined): Json {
  const before = isMap(live) ? live : undefined
  return mapped(value, (inner, name) => {
    const field = byName.get(name)
    return field === undefined ? inner : withIntegersWrapped(inner, field.schema, before?.[name])
  })
}

function mapped(value: JsonObject, change: (inner: Json, name: string) => Json): JsonObject {
  let made: { [name: string]: Json | undefined } | undefined
  for (const name of Object.keys(value)) {
    const inner = value[name]
    const other = inner === undefined ? undefined : change(inner, name)
    if (other === inner) continue
    made ??= { ...value }
    setOwn(made, name, other)
  }
  return made === undefined ? value : (made as JsonObject)
}

const LEAST = -(2n ** 63n)

function wrapped(value: Json, bits: 32 | 64): Json {
  const given: unknown = value
  if ((typeof given !== 'number' && typeof given !== 'bigint') || !isWhole(given)) return value
  if (bits === 32 && typeof given === 'number' && (given | 0) === given) return value
  if (bits === 64 && Number.isSafeInteger(given)) return value
  const whole = BigInt(given)
  const held = BigInt.asIntN(64, whole) === whole ? whole : LEAST
  return exactInteger(BigInt.asIntN(bits, held).toString()) as number
}
