/**
 * Values as Kubernetes' messages print them when it holds them in its internal types: Go field names, every field of the
 * struct, nil for what is not there.
 */
import type { Fields, Json } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { asGiven, zeroValue } from '../schema/canonical.ts'
import type { Field, Schema, StructSchema } from '../schema/schema.ts'

/** The internal form of a value of this definition (`io.k8s.api.core.v1.ServicePort`). */
export function internalForm(definition: string, value: Fields | undefined | null): Json {
  return structForm(schemaOf(definition), value ?? {})
}

function structForm(schema: StructSchema, value: Fields): Json {
  const out: { [key: string]: Json } = {}
  for (const field of schema.fields) {
    if (field.goName === 'ObjectMeta' || field.name === 'metadata') {
      Object.assign(out, metadataForm(value[field.name]))
      continue
    }
    // Embedded, like metadata: under its JSON name, and only when it says something.
    if (schema.byName.has('metadata') && (field.name === 'kind' || field.name === 'apiVersion')) {
      if (value[field.name]) out[field.name] = value[field.name]
      continue
    }
    out[field.goName] = fieldForm(field, givenValue(value, field))
  }
  return out
}

/** An empty list or map is told from none, where it was given. */
function givenValue(value: Fields, { name, schema }: Field): Json {
  return asGiven(value, name, schema.type === 'list' ? [] : {})
}

/** Embedded metadata keeps its JSON names and leaves out what is empty. */
function metadataForm(metadata: Fields | undefined): { [key: string]: Json } {
  const out: { [key: string]: Json } = {}
  for (const [key, value] of Object.entries(metadata ?? {}))
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })
  return out
}

function fieldForm(field: Field, value: Json | undefined): Json {
  if (value !== undefined && value !== null) return valueForm(field.schema, value)
  if (field.pointer || field.schema.type === 'bytes') return null
  return field.schema.type === 'struct' ? zeroStructForm(field.schema) : zeroValue(field.schema)
}

const zeroStructForm = (schema: StructSchema): Json =>
  schema.definition.startsWith('io.k8s.apimachinery.') ? {} : structForm(schema, {})

function valueForm(schema: Schema, value: Json): Json {
  if (schema.type === 'struct') {
    if (schema.definition.startsWith('io.k8s.apimachinery.')) return value
    return structForm(schema, value as Fields)
  }
  if (schema.type === 'list') return (value as readonly Json[]).map((item) => valueForm(schema.items, item))
  if (schema.type === 'map') {
    const out: { [key: string]: Json } = {}
    for (const key of Object.keys(value as Fields).sort())
      Object.defineProperty(out, key, {
        value: valueForm(schema.values, (value as Fields)[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return out
  }
  return value
}
