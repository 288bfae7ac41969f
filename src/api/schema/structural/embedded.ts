/**
 * Embedded resources (x-kubernetes-embedded-resource): objects inside an object, with a type and metadata of their own.
 * Their metadata is made canonical when a body is read and validated like any object's.
 */
import type { Json, JsonObject, ObjectMeta } from '../../object.ts'
import { type FieldError, invalid, required } from '../../validation/errors.ts'
import { validateObjectMeta } from '../../validation/meta.ts'
import { dns1035Label, pathName } from '../../validation/names.ts'
import { additionalSchema, isObject, type Structural } from './structural.ts'

/** Whether anything below can be an embedded resource; found once per schema. */
const embeds = new WeakMap<Structural, boolean>()

export function hasEmbedded(schema: Structural): boolean {
  let known = embeds.get(schema)
  if (known === undefined) {
    const additional = additionalSchema(schema)
    known =
      schema.embedded ||
      [...schema.properties.values()].some(hasEmbedded) ||
      (schema.items !== undefined && hasEmbedded(schema.items)) ||
      (additional !== undefined && hasEmbedded(additional))
    embeds.set(schema, known)
  }
  return known
}

/** Calls `visit` with every embedded resource, the resource itself left out, and its path. */
export function eachEmbedded(
  value: Json | undefined,
  schema: Structural,
  path: string,
  visit: (object: JsonObject, path: string) => void,
): void {
  if (!hasEmbedded(schema)) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined) for (const [i, item] of value.entries()) eachEmbedded(item, items, `${path}[${i}]`, visit)
    return
  }
  if (!isObject(value)) return
  if (schema.embedded) visit(value as JsonObject, path)
  const additional = additionalSchema(schema)
  for (const key of Object.keys(value)) {
    const property = schema.properties.get(key)
    if (property !== undefined) eachEmbedded(value[key], property, path === '' ? key : `${path}.${key}`, visit)
    else if (additional !== undefined) eachEmbedded(value[key], additional, `${path}[${key}]`, visit)
  }
}

export function validateEmbedded(object: JsonObject, schema: Structural): readonly FieldError[] {
  const errors: FieldError[] = []
  eachEmbedded(object, schema, '', (inner, path) => errors.push(...embeddedErrors(inner, path)))
  return errors
}

function embeddedErrors(object: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  const { apiVersion, kind, metadata } = object
  if (apiVersion === undefined) errors.push(required(`${path}.apiVersion`))
  else if (typeof apiVersion !== 'string') errors.push(invalid(`${path}.apiVersion`, apiVersion, 'must be a string'))
  else if (apiVersion === '') errors.push(invalid(`${path}.apiVersion`, apiVersion, 'must not be empty'))
  else if (apiVersion.split('/').length > 2)
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  if (kind === undefined) errors.push(required(`${path}.kind`))
  else if (typeof kind !== 'string') errors.push(invalid(`${path}.kind`, kind, 'must be a string'))
  else if (kind === '') errors.push(invalid(`${path}.kind`, kind, 'must not be empty'))
  else
    for (const message of dns1035Label(kind.toLowerCase()))
      errors.push(invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${message}`))
  if (!isObject(metadata)) return errors
  const given = metadata as ObjectMeta
  // An embedded resource may be nameless: it is no object of the cluster.
  const meta: ObjectMeta = (given.name ?? '') === '' ? { ...given, name: 'fakename' } : given
  const namespaced = (meta.namespace ?? '') !== ''
  for (const error of validateObjectMeta(meta, { namespaced, nameRule: pathName, standardFinalizersOnly: false }))
    errors.push({ ...error, field: `${path}.${error.field}` })
  return errors
}
