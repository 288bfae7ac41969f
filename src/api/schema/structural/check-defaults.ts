/** Defaults must be what the schema would accept, with nothing that pruning takes away. */
import { type FieldError, invalid, required } from '../../errors/field-errors.ts'
import type { Json, JsonObject } from '../../object.ts'
import { sameJson } from '../../same.ts'
import { prune } from './prune-and-default.ts'
import { additionalSchema, isObject, type Structural } from './structural.ts'
import { validateDefault } from './validate-value.ts'

/** What a schema's rules say of a value that stands at `path`. */
export type DefaultRules = (value: Json, schema: Structural, path: string, root: boolean) => readonly FieldError[]

export function defaultErrors(schema: Structural, path: string, rules: DefaultRules): readonly FieldError[] {
  const errors: FieldError[] = []
  walk(schema, path, true, { errors, rules })
  return errors
}

interface Run {
  readonly errors: FieldError[]
  readonly rules: DefaultRules
}

function walk(schema: Structural, path: string, root: boolean, run: Run): void {
  if (schema.default !== undefined) check(schema, schema.default, `${path}.default`, root, run)
  for (const [name, property] of schema.properties) {
    if (root && name === 'metadata') continue
    walk(property, `${path}.properties[${name}]`, false, run)
  }
  if (schema.items !== undefined) walk(schema.items, `${path}.items`, false, run)
  const additional = additionalSchema(schema)
  if (additional !== undefined) walk(additional, `${path}.additionalProperties`, false, run)
}

function check(schema: Structural, value: Json, path: string, root: boolean, { errors, rules }: Run): void {
  if (!sameJson(pruneDefault(value, schema), value)) errors.push(invalid(path, value, 'must not have unknown fields'))
  const wrong = [
    ...(root || schema.embedded ? missingOfResource(value, path) : []),
    ...validateDefault(value, schema.props, path),
  ]
  errors.push(...wrong)
  if (wrong.length === 0) errors.push(...rules(value, schema, path, root))
}

function missingOfResource(value: Json, path: string): readonly FieldError[] {
  if (!isObject(value)) return []
  return ['apiVersion', 'kind'].filter((name) => value[name] === undefined).map((name) => required(`${path}.${name}`))
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
