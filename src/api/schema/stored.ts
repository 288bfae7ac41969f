/**
 * What the store forgets: Kubernetes keeps its objects in protobuf, where an empty list or map is the same as none. So what
 * is read, or answered after a write (a dry one too), has null where the request said [] or {}. Up to there they are told
 * apart: managedFields own what is empty, and messages show it.
 */
import type { Json } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import { keepsEmpty, type Writable } from './canonical.ts'
import type { Schema, StructSchema } from './schema.ts'

/** The fields in which an empty list or map may stand, directly or further down; all others are passed over. */
type Plan = readonly {
  readonly name: string
  readonly keeps: boolean
  readonly schema: Schema
  /** The field's value, an object, as it is after the store. */
  readonly storedPart: (part: object) => object
}[]

const plans = new WeakMap<StructSchema, Plan>()

/** The object as it is after the store; the same object when nothing in it is empty. */
export function storedForm<T extends object>(object: T, schema: StructSchema, parts: Parts = noParts): T {
  return struct(object as Writable, schema, parts) as T
}

/** `parts` are those of the object itself: further down there are none. */
function struct(value: Writable, schema: StructSchema, parts?: Parts): Writable {
  let changed: Writable | undefined
  for (const { name, keeps, schema: inner, storedPart } of planOf(schema)) {
    const before = value[name]
    if (before === undefined || before === null) continue
    let after: Json
    if (keeps && isEmpty(before)) after = null
    else after = (parts?.fromKnown(before, storedPart) as Json | undefined) ?? stored(before, inner)
    if (after === before) continue
    changed ??= { ...value }
    changed[name] = after
  }
  return changed ?? value
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value as object).length === 0
}

function stored(value: Json, schema: Schema): Json {
  if (typeof value !== 'object' || value === null) return value
  if (schema.type === 'struct') return struct(value as Writable, schema)
  if (schema.type === 'list') {
    let out: Json[] | undefined
    for (const [i, item] of (value as readonly Json[]).entries()) {
      const after = stored(item, schema.items)
      if (after === item) continue
      out ??= [...(value as readonly Json[])]
      out[i] = after
    }
    return out ?? value
  }
  return value
}

function planOf(schema: StructSchema): Plan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    plan = schema.fields.flatMap((field) => {
      const keeps = keepsEmpty(field)
      return keeps || leadsTo(field.schema, new Set([schema]))
        ? [
            {
              name: field.name,
              keeps,
              schema: field.schema,
              storedPart: (part: object) => stored(part as Json, field.schema) as object,
            },
          ]
        : []
    })
    plans.set(schema, plan)
  }
  return plan
}

/** Whether somewhere below this schema there is a field that keeps what is empty. */
function leadsTo(schema: Schema, seen: Set<Schema>): boolean {
  if (schema.type === 'list') return leadsTo(schema.items, seen)
  if (schema.type !== 'struct' || seen.has(schema)) return false
  seen.add(schema)
  return schema.fields.some((field) => keepsEmpty(field) || leadsTo(field.schema, seen))
}
