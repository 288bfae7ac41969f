/**
 * Whether a schema is structural (KEP-1979 and the API concept of that name): every part has a type, and what stands in
 * allOf, anyOf, oneOf and not judges values without describing them. Errors come sorted, as Kubernetes gives them.
 */

import { type FieldError, forbiddenField, invalid, required } from '../../errors/field-errors.ts'
import { sameJson } from '../../same.ts'
import type { JSONSchemaProps } from './structural.ts'

/** Whether the schema can be looked at as a structural one at all; what hinders it, its other checks say. */
export function isConvertible(schema: JSONSchemaProps): boolean {
  if (
    (Array.isArray(schema.items) && schema.items.length > 0) ||
    schema.additionalItems !== undefined ||
    (schema.$ref ?? '') !== '' ||
    schema['x-kubernetes-preserve-unknown-fields'] === false
  )
    return false
  for (const field of ['patternProperties', 'definitions', 'dependencies'] as const)
    if (Object.keys(schema[field] ?? {}).length > 0) return false
  const { additionalProperties: additional, items } = schema
  return (
    (!isSchema(items) || isConvertible(items)) &&
    (typeof additional !== 'object' || additional === null || isConvertible(additional)) &&
    Object.values(schema.properties ?? {}).every(isConvertible)
  )
}

export function structureErrors(schema: JSONSchemaProps, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  node(schema, path, 'root', errors)
  if (schema.type !== undefined && schema.type !== '' && schema.type !== 'object')
    errors.push(invalid(`${path}.type`, schema.type, 'must be object at the root'))
  return errors
    .map((error, i) => ({ error, i, key: `${error.field}: ${error.message}` }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.i - b.i))
    .map(({ error }) => error)
}

type Level = 'root' | 'property' | 'item'

const ABSENT: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  property: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
}

function node(schema: JSONSchemaProps, path: string, level: Level, errors: FieldError[]): void {
  const { type = '' } = schema
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  if (type === '' && !intOrString && !preserve) errors.push(required(`${path}.type`, ABSENT[level]))
  if (type === 'array' && !isSchema(schema.items)) errors.push(required(`${path}.items`, 'must be specified'))
  if (schema.nullable === true && level === 'root')
    errors.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'))
  if (embedded) embeddedErrors(schema, path, preserve, intOrString, errors)
  const { properties } = schema
  for (const [name, inner] of Object.entries(properties ?? {}))
    node(inner, `${path}.properties[${name}]`, 'property', errors)
  if (isSchema(schema.items)) node(schema.items, `${path}.items`, 'item', errors)
  const { additionalProperties: additional } = schema
  if (typeof additional === 'object' && additional !== null)
    node(additional, `${path}.additionalProperties`, 'property', errors)
  if (level === 'root' || embedded) metaErrors(schema, path, level === 'root', errors)
  alternatives(schema, path, errors)
}

function isSchema(items: JSONSchemaProps['items']): items is JSONSchemaProps {
  return typeof items === 'object' && items !== null && !Array.isArray(items)
}

function embeddedErrors(
  schema: JSONSchemaProps,
  path: string,
  preserve: boolean,
  intOrString: boolean,
  errors: FieldError[],
): void {
  const { type = '', properties, additionalProperties } = schema
  if (type === '') errors.push(required(`${path}.type`, 'must be object if x-kubernetes-embedded-resource is true'))
  else if (type !== 'object')
    errors.push(invalid(`${path}.type`, type, 'must be object if x-kubernetes-embedded-resource is true'))
  if (intOrString)
    errors.push(
      invalid(`${path}.x-kubernetes-embedded-resource`, true, 'must be false if x-kubernetes-int-or-string is true'),
    )
  if (!preserve && Object.keys(properties ?? {}).length === 0)
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  if (additionalProperties !== undefined)
    errors.push(
      forbiddenField(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    )
}

function metaErrors({ properties = {} }: JSONSchemaProps, path: string, root: boolean, errors: FieldError[]): void {
  const wrong = (name: string, wanted: string) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property !== undefined && property.type !== wanted)
      errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', `must be ${wanted}`))
  }
  wrong('kind', 'string')
  wrong('apiVersion', 'string')
  const metadata = Object.hasOwn(properties, 'metadata') ? properties['metadata'] : undefined
  wrong('metadata', 'object')
  if (metadata === undefined || !root) return
  const { type: _t, description: _d, properties: inner = {}, ...rest } = metadata
  const more = Object.keys(inner).some((name) => name !== 'name' && name !== 'generateName')
  if (more || Object.keys(rest).length > 0)
    errors.push(
      forbiddenField(
        `${path}.properties[metadata]`,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    )
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }] as const

function alternatives(schema: JSONSchemaProps, path: string, errors: FieldError[]): void {
  const either = (anyOf: readonly JSONSchemaProps[] | undefined) =>
    anyOf !== undefined && sameJson(anyOf as never, INT_OR_STRING as never)
  schema.allOf?.forEach((inner, i) => {
    const skip = i === 0 && schema.anyOf === undefined && either(inner.anyOf)
    valueOnly(skip ? { ...inner, anyOf: [] } : inner, `${path}.allOf[${i}]`, errors)
  })
  if (!either(schema.anyOf))
    for (const [i, inner] of (schema.anyOf ?? []).entries()) valueOnly(inner, `${path}.anyOf[${i}]`, errors)
  for (const [i, inner] of (schema.oneOf ?? []).entries()) valueOnly(inner, `${path}.oneOf[${i}]`, errors)
  if (schema.not !== undefined && schema.not !== null) valueOnly(schema.not, `${path}.not`, errors)
}

/** A schema that only judges values: it may not say what there is. */
function valueOnly(schema: JSONSchemaProps, path: string, errors: FieldError[]): void {
  const deny = (present: boolean, field: string, must: string) => {
    if (present) errors.push(forbiddenField(`${path}.${field}`, `must be ${must} to be structural`))
  }
  const has = (value: unknown) => value !== undefined && value !== null
  deny((schema.description ?? '') !== '', 'description', 'empty')
  deny((schema.type ?? '') !== '', 'type', 'empty')
  deny((schema.title ?? '') !== '', 'title', 'empty')
  deny(has(schema.default), 'default', 'undefined')
  deny(has(schema.additionalProperties), 'additionalProperties', 'undefined')
  deny(schema.nullable === true, 'nullable', 'false')
  deny(schema['x-kubernetes-preserve-unknown-fields'] === true, 'x-kubernetes-preserve-unknown-fields', 'false')
  deny(schema['x-kubernetes-embedded-resource'] === true, 'x-kubernetes-embedded-resource', 'false')
  deny(schema['x-kubernetes-int-or-string'] === true, 'x-kubernetes-int-or-string', 'false')
  deny((schema['x-kubernetes-list-map-keys'] ?? []).length > 0, 'x-kubernetes-list-map-keys', 'empty')
  deny(has(schema['x-kubernetes-list-type']), 'x-kubernetes-list-type', 'undefined')
  deny(has(schema['x-kubernetes-map-type']), 'x-kubernetes-map-type', 'undefined')
  deny((schema['x-kubernetes-validations'] ?? []).length > 0, 'x-kubernetes-validations', 'empty')
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    valueOnly(inner, `${path}.properties[${name}]`, errors)
  if (isSchema(schema.items)) valueOnly(schema.items, `${path}.items`, errors)
  for (const field of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [i, inner] of (schema[field] ?? []).entries()) valueOnly(inner, `${path}.${field}[${i}]`, errors)
  if (schema.not !== undefined && schema.not !== null) valueOnly(schema.not, `${path}.not`, errors)
}
