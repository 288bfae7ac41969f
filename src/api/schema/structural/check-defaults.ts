/** Defaults must be what the schema would accept, with nothing that pruning takes away. */
import type { Json, JsonObject } from '../../object.ts'
import { type FieldError, invalid, required } from '../../validation/errors.ts'
import { validateListTypes } from './list-types.ts'
import { prune } from './prune.ts'
import { additionalSchema, isObject, type Structural } from './structural.ts'
import { deepEqual, validateValue } from './validate-value.ts'

export function defaultErrors(schema: Structural, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  walk(schema, path, true, errors)
  return errors
}

function walk(schema: Structural, path: string, root: boolean, errors: FieldError[]): void {
  if (schema.default !== undefined) check(schema, schema.default, `${path}.default`, root, errors)
  for (const [name, property] of schema.properties) {
    if (root && name === 'metadata') continue
    walk(property, `${path}.properties[${name}]`, false, errors)
  }
  if (schema.items !== undefined) walk(schema.items, `${path}.items`, false, errors)
  const additional = additionalSchema(schema)
  if (additional !== undefined) walk(additional, `${path}.additionalProperties`, false, errors)
}

function check(schema: Structural, value: Json, path: string, root: boolean, errors: FieldError[]): void {
  if (root || schema.embedded) {
    const given = isObject(value) ? value : {}
    const missing = ['apiVersion', 'kind'].filter((name) => given[name] === undefined)
    if (missing.length > 0) {
      for (const name of missing) errors.push(required(`${path}.${name}`))
      return
    }
  }
  const pruned = pruneDefault(value, schema)
  if (!deepEqual(pruned, value)) {
    errors.push(invalid(path, value, 'must not have unknown fields'))
    return
  }
  errors.push(...validateValue(value, schema.props, path))
  errors.push(...validateListTypes(value, schema, path))
}

/** A default may stand at any place: as a property of an object it is pruned like one. */
function pruneDefault(value: Json, schema: Structural): Json {
  const holder: Structural = {
    ...schema,
    properties: new Map([['value', schema]]),
    additional: undefined,
    preserveUnknown: false,
    embedded: false,
  }
  return (prune({ value } as JsonObject, holder) as { value: Json }).value
}
