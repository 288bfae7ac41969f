/**
 * A strategic merge patch's result goes into Go types by reflection, not through JSON: its type errors have words of their
 * own, without a path. Unknown fields are not looked at here.
 */

import { jsonNodeOf } from '../codec/json.ts'
import { problemOfValue } from '../decode-problem.ts'
import { goKindOf } from '../fields/go-types.ts'
import { isList, isMap } from '../fields/values.ts'
import type { Json, JsonObject } from '../object.ts'
import { problemOfDecoding } from '../schema/field-validation.ts'
import type { Schema, StructSchema } from '../schema/schema.ts'

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
  // Go converts numbers to numbers, and integers to strings, by type; the API does not want it.
  const convertible = (from === 'float64' && numeric) || (from === 'int64' && kind === 'string')
  return convertible ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${kind}`
}
