/**
 * What field management needs of a Schema, compiled once per schema: how a value is divided into fields. A recursive
 * schema is compiled as deep as an object asks for.
 */
import type { Json, JsonObject } from '../object.ts'
import type { ScalarSchema, Schema, StructSchema } from '../schema/schema.ts'
import { compareText } from './pathelement.ts'

export interface FieldShape {
  readonly name: string
  /** `f:<name>`. */
  readonly element: string
  readonly shape: Shape
}

export type Shape =
  /** Owned whole: a scalar, or an atomic list, map or struct. */
  | { readonly kind: 'leaf'; readonly schema: Schema }
  | {
      readonly kind: 'struct'
      readonly schema: StructSchema
      /** In order of name. */
      readonly fields: readonly FieldShape[]
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
  let shape = compiled.get(schema)
  if (shape === undefined) {
    shape = compile(schema)
    compiled.set(schema, shape)
  }
  return shape
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
      return { kind: 'leaf', schema: schema satisfies ScalarSchema }
  }
}

function listKey(items: Schema, name: string): ListKey {
  const field = items.type === 'struct' ? items.byName.get(name) : undefined
  return { name, prefix: `${JSON.stringify(name)}:`, default: field?.default }
}

function structShape(schema: StructSchema): Shape {
  const fields = schema.fields
    .map((field): FieldShape => {
      let shape: Shape | undefined
      return {
        name: field.name,
        element: `f:${field.name}`,
        get shape() {
          shape ??= shapeOf(field.schema)
          return shape
        },
      }
    })
    .sort((a, b) => compareText(a.name, b.name))
  return {
    kind: 'struct',
    schema,
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
    others: schema.preserveUnknown ? deduced : undefined,
  }
}

const empties = new WeakMap<StructSchema, JsonObject>()

/**
 * What Kubernetes compares a new object with: a Go value of its type without content. Fields that are written even when
 * they are empty are there, so a create does not own them by their mere presence.
 */
export function emptyObject(schema: StructSchema): JsonObject {
  let empty = empties.get(schema)
  if (empty === undefined) {
    empty = buildEmpty(schema)
    empties.set(schema, empty)
  }
  return empty
}

/** Zero values as JSON shows them. */
const zero: { readonly [type: string]: Json } = {
  string: '',
  boolean: false,
  int32: 0,
  int64: 0,
  number: 0,
  quantity: '0',
  intOrString: 0,
  duration: '0s',
}
/** Go structs with a JSON form of their own. */
const structScalars = new Set<Schema['type']>(['time', 'microTime', 'quantity', 'intOrString', 'duration', 'any'])

function buildEmpty(schema: StructSchema): JsonObject {
  const empty: { [name: string]: Json } = {}
  for (const field of schema.fields) {
    if (field.pointer || field.omitZero) continue
    // Go's omitempty never leaves out a struct.
    if (field.schema.type === 'struct') empty[field.name] = emptyObject(field.schema)
    else if (!field.omitEmpty || structScalars.has(field.schema.type)) empty[field.name] = zero[field.schema.type] ?? null
  }
  return empty
}
