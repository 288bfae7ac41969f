/** CEL types of structural schemas: what `self` is, and how much of it there can be in one request. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { additionalSchema, type Structural } from '../schema/structural/structural.ts'
import { BOOL, listType, type ObjectField, STRING, type Type } from './types.ts'
import { isReserved } from './words.ts'

/** No request is bigger, so nothing in one is. */
const MOST_BYTES = 3 * 1024 * 1024

const made = new WeakMap<Structural, { readonly type: Type | undefined }>()
const META_FIELDS: readonly [string, Type][] = [
  ['name', bounded(STRING, MOST_BYTES)],
  ['generateName', bounded(STRING, MOST_BYTES)],
]

function bounded(type: Type, maxElements: number): Type {
  return { ...type, maxElements } as Type
}

/** undefined for what no expression can see: fields of which the schema says nothing. */
export function typeOfSchema(schema: Structural, resource = false): Type | undefined {
  if (resource) return build(schema, true, '')
  const known = getOrInsertComputed(made, schema, () => ({ type: build(schema, schema.embedded, '') }))
  return known.type
}

/** The smallest JSON of a value, by which the number of values in a request is bounded. */
function minSize(type: Type): number {
  if (type.kind === 'object' || type.kind === 'list' || type.kind === 'map') return type.minSize ?? 2
  if (type.kind !== 'simple') return 1
  return type.minSize ?? (type.name === 'string' || type.name === 'bytes' ? 2 : type.name === 'bool' ? 4 : 1)
}

/** How many values of the type one request can hold. */
export function maxCardinality(type: Type): number {
  return Math.floor(MOST_BYTES / (minSize(type) + 1))
}

function build(schema: Structural, resource: boolean, name: string): Type | undefined {
  if (schema.intOrString)
    return {
      kind: 'simple',
      name: 'dyn',
      maxElements: schema.props.maxLength ?? MOST_BYTES - 2,
      minSize: 1,
      intOrString: true,
    }
  switch (schema.type) {
    case 'array':
      return arrayType(schema, name)
    case 'object':
      return objectType(schema, resource, name)
    case 'string':
      return stringType(schema)
    case 'boolean':
      return { ...BOOL, minSize: 4 } as Type
    case 'number':
      return { kind: 'simple', name: 'double', minSize: 1 }
    case 'integer':
      return { kind: 'simple', name: 'int', minSize: 1 }
    default:
      return undefined
  }
}

function arrayType(schema: Structural, name: string): Type | undefined {
  const items = schema.items === undefined ? undefined : build(schema.items, schema.items.embedded, `${name}.@idx`)
  if (items === undefined) return undefined
  return {
    ...listType(items),
    maxElements: schema.props.maxItems ?? Math.floor(MOST_BYTES / (minSize(items) + 1)),
    minSize: 2,
  } as Type
}

function objectType(schema: Structural, resource: boolean, name: string): Type | undefined {
  const additional = additionalSchema(schema)
  if (additional !== undefined) {
    const value = build(additional, additional.embedded, `${name}.@elem`)
    if (value === undefined) return undefined
    // A key takes its quotes, a colon and a letter at the least.
    const most = schema.props.maxProperties ?? Math.floor(MOST_BYTES / (minSize(value) + 6))
    // Kubernetes counts a key as empty when it estimates what a rule may cost, and so must we, or rules it takes are refused.
    return { kind: 'map', key: bounded(STRING, 0), value, maxElements: most, minSize: 2 }
  }
  const fields = new Map<string, ObjectField>()
  let size = 2
  const required = new Set(schema.props.required ?? [])
  for (const [key, property] of schema.properties) {
    const escaped = escapeName(key)
    if (escaped === undefined || (resource && key === 'metadata')) continue
    const type = build(property, property.embedded, `${name}.${escaped}`)
    if (type === undefined) continue
    fields.set(escaped, { name: key, type })
    if (required.has(key) && property.default === undefined) size += minSize(type) + key.length + 4
  }
  if (resource) addResourceFields(fields)
  return { kind: 'object', name: 'object', fields, minSize: size }
}

function addResourceFields(fields: Map<string, ObjectField>): void {
  const text = bounded(STRING, MOST_BYTES)
  fields.set('apiVersion', { name: 'apiVersion', type: text })
  fields.set('kind', { name: 'kind', type: text })
  const meta = new Map(META_FIELDS.map(([name, type]): [string, ObjectField] => [name, { name, type }]))
  fields.set('metadata', { name: 'metadata', type: { kind: 'object', name: 'object', fields: meta, minSize: 2 } })
}

function stringType(schema: Structural): Type {
  const { format, maxLength, enum: allowed } = schema.props
  const most = MOST_BYTES - 2
  switch (format) {
    case 'byte':
      return { kind: 'simple', name: 'bytes', maxElements: maxLength ?? most, minSize: 2 }
    case 'duration':
      return { kind: 'simple', name: 'google.protobuf.Duration', maxElements: 32, minSize: 2 }
    case 'date':
    case 'date-time':
      return format === 'date'
        ? { kind: 'simple', name: 'google.protobuf.Timestamp', maxElements: 12, minSize: 12 }
        : { kind: 'simple', name: 'google.protobuf.Timestamp', maxElements: 37, minSize: 22 }
  }
  // A character may take four bytes.
  if (maxLength !== undefined) return { ...STRING, maxElements: Math.max(0, maxLength) * 4, minSize: 2 } as Type
  if (allowed !== undefined && allowed.length > 0)
    return bounded(STRING, Math.max(...allowed.map((one) => (typeof one === 'string' ? one.length : 0))))
  return bounded(STRING, most)
}

/** A property's name as expressions write it; undefined when they cannot. */
export function escapeName(name: string): string | undefined {
  if (isReserved(name)) return `__${name}__`
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}
