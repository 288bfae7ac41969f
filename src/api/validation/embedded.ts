/** Validation of embedded resources (x-kubernetes-embedded-resource): their type, and metadata as of any object. */
import { type FieldError, invalid, required } from '../errors/field-errors.ts'
import { dns1035Label, pathName } from '../names/name-formats.ts'
import type { JsonObject, ObjectMeta } from '../object.ts'
import { eachEmbedded } from '../schema/structural/embedded.ts'
import { isObject, type Structural } from '../schema/structural/structural.ts'
import { validateObjectMeta } from './meta.ts'

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
