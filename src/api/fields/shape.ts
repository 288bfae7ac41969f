/**
 * What field management needs of a Schema, compiled once per schema: how a value is divided into fields. A recursive
 * schema is compiled as deep as an object asks for.
 */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Json, JsonObject } from '../object.ts'
import { zeroStruct, zeroValue } from '../schema/canonical.ts'
import type { Field, ScalarSchema, Schema, StructSchema } from '../schema/schema.ts'
import { compareText } from './pathelement.ts'

export interface FieldShape {
  readonly name: string
  /** `f:<name>`. */
  readonly element: string
  readonly shape: Shape
  /** The place in order of name among the declared fields. */
  readonly rank?: number
}

export type Shape =
  /** Owned whole: a scalar, or an atomic list, map or struct. */
  | { readonly kind: 'leaf'; readonly schema: Schema }
  | {
      readonly kind: 'struct'
      readonly schema: StructSchema
      readonly byName: ReadonlyMap<string, FieldShape>
      /** The shape of fields that the schema does not declare; undefined when it allows none. */
      readonly others: Shape | undefined
    }
  | { readonly kind: 'map'; readonly values: Shape }
  | { readonly kind: 'set'; readonly items: Shape }
  | { readonly kind: 'keyed'; readonly keys: readonly ListKey[]; readonly items: Shape }
  /** No schema: maps are divided into fields, lists are owned whole. */
  | { readonly kind: 'deduced' }

export interface ListKey {
  readonly name: string
  /** `"name":`, the key's part of a path element. */
  readonly prefix: string
  /** What an absent key counts as. */
  readonly default: Json | undefined
}

export const deduced: Shape = { kind: 'deduced' }

const compiled = new WeakMap<Schema, Shape>()

export function shapeOf(schema: Schema): Shape {
  return getOrInsertComputed(compiled, schema, compile)
}

function compile(schema: Schema): Shape {
  switch (schema.type) {
    case 'struct':
      return schema.structType === 'atomic' ? { kind: 'leaf', schema } : structShape(schema)
    case 'map':
      return schema.mapType === 'atomic'
        ? { kind: 'leaf', schema }
        : {
            kind: 'map',
            get values() {
              return shapeOf(schema.values)
            },
          }
    case 'list':
      if (schema.listType === 'atomic') return { kind: 'leaf', schema }
      if (schema.listType === 'set') return { kind: 'set', items: shapeOf(schema.items) }
      return {
        kind: 'keyed',
        keys: schema.listMapKeys.toSorted(compareText).map((name) => listKey(schema.items, name)),
        get items() {
          return shapeOf(schema.items)
        },
      }
    default:
      return schema.deduced ? deduced : { kind: 'leaf', schema: schema satisfies ScalarSchema }
  }
}

function listKey(items: Schema, name: string): ListKey {
  const field = items.type === 'struct' ? items.byName.get(name) : undefined
  const known = items.type === 'struct' ? NAMELESS[items.definition] : undefined
  return { name, prefix: `${JSON.stringify(name)}:`, default: field?.default ?? known ?? zeroKey(items, field) }
}

/** Types whose key may be left out and is then the empty name. */
const NAMELESS: Readonly<Record<string, string>> = { 'io.k8s.api.core.v1.LocalObjectReference': '' }

/** A field of Kubernetes' own types that is always written has its zero value where it is left out. */
function zeroKey(items: Schema, field: Field | undefined): Json | undefined {
  if (items.type !== 'struct' || !items.definition.startsWith('io.k8s.')) return undefined
  if (field === undefined || field.pointer || field.omitEmpty || field.omitZero) return undefined
  return zeroValue(field.schema)
}

function structShape(schema: StructSchema): Shape {
  const byName = new Map<string, FieldShape>()
  const inOrder = schema.fields.toSorted((a, b) => compareText(a.name, b.name))
  for (const [rank, field] of inOrder.entries()) {
    let shape: Shape | undefined
    byName.set(field.name, {
      name: field.name,
      element: `f:${field.name}`,
      rank,
      get shape() {
        shape ??= shapeOf(field.schema)
        return shape
      },
    })
  }
  return { kind: 'struct', schema, byName, others: schema.preserveUnknown ? deduced : undefined }
}

const empties = new WeakMap<StructSchema, JsonObject>()

/**
 * What Kubernetes compares a new object with: a Go value of its type without content. Fields that are written even when
 * they are empty are there, so a create does not own them by their mere presence.
 */
export function emptyObject(schema: StructSchema): JsonObject {
  let empty = empties.get(schema)
  if (empty === undefined) {
    empty = zeroStruct(schema) as JsonObject
    empties.set(schema, empty)
    for (const part of Object.values(empty)) if (typeof part === 'object' && part !== null) emptyParts.add(part)
  }
  return empty
}

const emptyParts = new WeakSet<object>()

/** Whether the value is what an empty object has for a field: a part of it, or nothing. */
export const isOfEmptyObject = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && emptyParts.has(value))
