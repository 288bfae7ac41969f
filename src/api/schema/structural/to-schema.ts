/** From a structural schema to the Schema that patches, managedFields and server-side apply know. */
import { schemaOf } from '../builtin.ts'
import type { Field, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from '../schema.ts'
import type { Structural } from './structural.ts'

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const text: ScalarSchema = { type: 'string', goType: 'string' }
/** Any JSON, divided into fields where it is a map. */
const untyped: ScalarSchema = { type: 'any', goType: 'interface {}', deduced: true }
/** Of a text with a format field management knows only that it is no list and no map. */
const formatted: ScalarSchema = { type: 'intOrString', goType: 'string' }

function field(name: string, schema: Schema, required: boolean, fallback?: Field['default']): Field {
  return {
    name,
    goStruct: '',
    goName: name,
    schema,
    pointer: true,
    omitEmpty: true,
    omitZero: false,
    required,
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}

function struct(fields: readonly Field[], options: { preserve: boolean; atomic: boolean }): StructSchema {
  return {
    type: 'struct',
    goType: 'map[string]interface {}',
    definition: '',
    fields,
    byName: new Map(fields.map((one) => [one.name, one])),
    structType: options.atomic ? 'atomic' : 'granular',
    ...(options.preserve ? { preserveUnknown: true } : {}),
  }
}

function metaFields(): readonly Field[] {
  return [field('kind', text, false), field('apiVersion', text, false), field('metadata', schemaOf(OBJECT_META), false)]
}

/** The schema of a whole custom resource; without a structural schema anything goes. */
export function customResourceSchema(schema: Structural | undefined): StructSchema {
  const preserve = schema === undefined || schema.preserveUnknown
  const own = schema === undefined ? [] : fieldsOf(schema, preserve)
  const fields = [...metaFields(), ...own.filter(({ name }) => !isMeta(name))]
  return struct(fields, { preserve, atomic: false })
}

const isMeta = (name: string) => name === 'kind' || name === 'apiVersion' || name === 'metadata'

function fieldsOf(schema: Structural, preserve: boolean): readonly Field[] {
  const required = new Set(schema.props.required ?? [])
  return [...schema.properties]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => field(name, toSchema(inner, preserve), required.has(name), inner.default))
}

/** `preserved`: it stands somewhere in what keeps unknown fields, and for field management keeps them too. */
export function toSchema(schema: Structural, preserved = false): Schema {
  if (schema.intOrString) return untyped
  switch (schema.type) {
    case 'object':
      return objectSchema(schema, preserved)
    case 'array':
      return listSchema(schema, preserved)
    case 'string':
      return [undefined, '', 'byte'].includes(schema.props.format) ? text : formatted
    case 'integer':
      return { type: 'int64', goType: 'int64' }
    case 'number':
      return { type: 'number', goType: 'float64' }
    case 'boolean':
      return { type: 'boolean', goType: 'bool' }
    default:
      return untyped
  }
}

function objectSchema(schema: Structural, preserved: boolean): Schema {
  const preserve = preserved || schema.preserveUnknown
  const atomic = schema.mapType === 'atomic'
  if (schema.additional !== undefined && schema.additional !== false && schema.properties.size === 0) {
    const values = typeof schema.additional === 'object' ? toSchema(schema.additional, preserve) : untyped
    const map: MapSchema = {
      type: 'map',
      goType: 'map[string]interface {}',
      values,
      mapType: atomic ? 'atomic' : 'granular',
    }
    return map
  }
  const own = fieldsOf(schema, preserve)
  const fields = schema.embedded ? [...metaFields(), ...own.filter(({ name }) => !isMeta(name))] : own
  return struct(fields, { preserve, atomic })
}

function listSchema(schema: Structural, preserved: boolean): ListSchema {
  return {
    type: 'list',
    goType: '[]interface {}',
    items: schema.items === undefined ? untyped : toSchema(schema.items, preserved || schema.preserveUnknown),
    listType: schema.listType ?? 'atomic',
    listMapKeys: schema.mapKeys,
    patchStrategy: [],
  }
}
