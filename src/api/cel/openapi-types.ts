/** CEL types of the schemas that a server publishes as OpenAPI v3: what is known of any kind, built in or custom. */
import type { Fields } from '../object.ts'
import { escapeName } from './schema-types.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapOf,
  type ObjectField,
  STRING,
  TIMESTAMP,
  type Type,
} from './types.ts'

const prefix = '#/components/schemas/'
/** Custom resources nest their own schemas as deep as they like. */
const deepest = 64

/**
 * Of the named schema; undefined for one that is not there or of which an expression can see nothing. Schemas may refer to
 * each other in circles.
 */
export function typeOfOpenApi(schemas: Readonly<Record<string, Fields>>, name: string): Type | undefined {
  const known = new Map<string, Type | undefined>()

  function named(reference: string): Type | undefined {
    if (known.has(reference)) return known.get(reference)
    const schema = Object.hasOwn(schemas, reference) ? schemas[reference] : undefined
    if (schema === undefined) return undefined
    if (schema['properties'] === undefined) {
      known.set(reference, undefined)
      const type = build(schema, reference, 0)
      known.set(reference, type)
      return type
    }
    const fields = new Map<string, ObjectField>()
    known.set(reference, { kind: 'object', name: reference, fields })
    fill(fields, schema, reference, 0)
    return known.get(reference)
  }

  function fill(fields: Map<string, ObjectField>, schema: Fields, path: string, depth: number): void {
    for (const [key, property] of Object.entries(schema['properties'] as Fields)) {
      const escaped = escapeName(key)
      const type = escaped === undefined ? undefined : build(property, `${path}.${key}`, depth + 1)
      if (escaped !== undefined && type !== undefined) fields.set(escaped, { name: key, type })
    }
  }

  function build(schema: Fields, path: string, depth: number): Type | undefined {
    if (depth > deepest) return undefined
    const reference: string | undefined = schema['$ref'] ?? schema['allOf']?.[0]?.$ref
    if (reference !== undefined) return named(reference.slice(prefix.length))
    if (schema['x-kubernetes-int-or-string'] || schema['format'] === 'int-or-string') return DYN
    switch (schema['type']) {
      case 'array': {
        const items = schema['items'] === undefined ? undefined : build(schema['items'], `${path}.@idx`, depth + 1)
        return items && listType(items)
      }
      case 'object':
        return objectType(schema, path, depth)
      case 'string':
        return stringType(schema['format'])
      case 'boolean':
        return BOOL
      case 'number':
        return DOUBLE
      case 'integer':
        return INT
      default:
        return schema['x-kubernetes-preserve-unknown-fields'] ? DYN : undefined
    }
  }

  function objectType(schema: Fields, path: string, depth: number): Type | undefined {
    const additional: Fields | boolean | undefined = schema['additionalProperties']
    if (typeof additional === 'object') {
      const value = build(additional, `${path}.@elem`, depth + 1)
      return value && mapOf(STRING, value)
    }
    if (schema['properties'] === undefined) return schema['x-kubernetes-preserve-unknown-fields'] ? DYN : undefined
    const fields = new Map<string, ObjectField>()
    fill(fields, schema, path, depth)
    return { kind: 'object', name: path, fields }
  }

  return named(name)
}

function stringType(format: string | undefined): Type {
  switch (format) {
    case 'byte':
      return BYTES
    case 'duration':
      return DURATION
    case 'date':
    case 'date-time':
      return TIMESTAMP
    default:
      return STRING
  }
}
