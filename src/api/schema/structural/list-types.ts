/** What x-kubernetes-list-type promises: sets and keyed lists hold no item twice. */
import { duplicate, type FieldError, invalid } from '../../errors/field-errors.ts'
import type { Json } from '../../object.ts'
import { sortedKeys } from './prune-and-default.ts'
import { additionalSchema, isObject, ownValue, type Structural } from './structural.ts'
import { stableText } from './validate-value.ts'

/** Whether lists below are held to anything; found once per schema. */
const known = new WeakMap<Structural, boolean>()

function promises(schema: Structural): boolean {
  let found = known.get(schema)
  if (found === undefined) {
    const additional = additionalSchema(schema)
    found =
      schema.listType === 'set' ||
      schema.listType === 'map' ||
      (schema.items !== undefined && promises(schema.items)) ||
      (additional !== undefined && promises(additional)) ||
      [...schema.properties.values()].some(promises)
    known.set(schema, found)
  }
  return found
}

export function validateListTypes(value: Json | undefined, schema: Structural, path = ''): readonly FieldError[] {
  const errors: FieldError[] = []
  walk(value, schema, path, errors)
  return errors
}

function walk(value: Json | undefined, schema: Structural, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (schema.listType === 'set') checkSet(value, path, errors)
    if (schema.listType === 'map') checkMap(value, schema, path, errors)
    const { items } = schema
    if (items !== undefined && promises(items))
      for (const [i, item] of value.entries()) walk(item, items, `${path}[${i}]`, errors)
    return
  }
  if (!isObject(value) || !promises(schema)) return
  const additional = additionalSchema(schema)
  for (const key in value) {
    const property = schema.properties.get(key)
    const below = property ?? additional
    if (below === undefined || !promises(below)) continue
    walk(value[key], below, property === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, errors)
  }
}

function checkSet(list: readonly Json[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  const told = new Set<string>()
  list.forEach((item, i) => {
    const text = stableText(item)
    if (seen.has(text) && !told.has(text)) {
      told.add(text)
      errors.push(duplicate(`${path}[${i}]`, sortedKeys(item)))
    }
    seen.add(text)
  })
}

function checkMap(list: readonly Json[], schema: Structural, path: string, errors: FieldError[]): void {
  const other = list.findIndex((item) => item !== null && !isObject(item))
  if (other >= 0) {
    // Of such a list nothing more is told.
    errors.push(invalid(`${path}[${other}]`, list[other], 'must be an object for an array of list-type map'))
    return
  }
  const seen = new Set<string>()
  const told = new Set<string>()
  list.forEach((item, i) => {
    if (!isObject(item)) return
    const key: Record<string, Json> = {}
    for (const name of schema.mapKeys) {
      const value = ownValue(item, name) ?? schema.items?.properties.get(name)?.default
      if (value !== undefined) key[name] = value
    }
    const text = stableText(key)
    if (seen.has(text) && !told.has(text)) {
      told.add(text)
      errors.push(duplicate(`${path}[${i}]`, sortedKeys(key)))
    }
    seen.add(text)
  })
}
