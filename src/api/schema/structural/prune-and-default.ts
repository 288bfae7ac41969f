/**
 * Pruning and defaulting by a structural schema, each one pass that keeps the identity of what it does not change. Fields
 * named apiVersion, kind and metadata at the root of a resource, embedded or not, are none of the schema's.
 */
import { getOrInsertComputed } from '../../../base/get-or-insert.ts'
import type { Json, JsonObject } from '../../object.ts'
import { setKey, type Writable } from '../canonical.ts'
import { additionalSchema, type Structural } from './structural.ts'

const META = new Set(['apiVersion', 'kind', 'metadata'])

/** Paths of fields that were taken away (`spec.parts[0].bogus`). */
type Unknown = { paths: string[] } | undefined

/** The object without the fields its schema does not name. `unknown`, when given, collects their paths, unsorted. */
export function prune(object: JsonObject, schema: Structural, unknown?: { paths: string[] }): JsonObject {
  return pruneValue(object, schema, '', true, unknown) as JsonObject
}

/** Whether the two schemas take the same fields away from any object. */
export function prunesAlike(a: Structural | undefined, b: Structural | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  if (a.preserveUnknown !== b.preserveUnknown || a.embedded !== b.embedded) return false
  if (!prunesAlike(a.items, b.items)) return false
  if (a.additional !== b.additional && !prunesAlike(additionalSchema(a), additionalSchema(b))) return false
  if ((a.additional === undefined) !== (b.additional === undefined)) return false
  if (a.properties.size !== b.properties.size) return false
  for (const [name, property] of a.properties)
    if (!b.properties.has(name) || !prunesAlike(property, b.properties.get(name))) return false
  return true
}

function pruneValue(value: Json, schema: Structural | undefined, path: string, root: boolean, unknown: Unknown): Json {
  if (typeof value !== 'object' || value === null) return value
  if (schema?.preserveUnknown) return keepUnknown(value, schema, path, root, unknown)
  if (Array.isArray(value))
    return mapItems(value, (item, i) => pruneValue(item, schema?.items, `${path}[${i}]`, false, unknown))
  const meta = root || schema?.embedded === true
  return mapFields(value as JsonObject, (inner, key) => {
    if (schema !== undefined && meta && META.has(key)) return inner
    const at = path === '' ? key : `${path}.${key}`
    const property = schema?.properties.get(key)
    if (property !== undefined) return pruneValue(inner, property, at, false, unknown)
    if (schema !== undefined && schema.additional !== undefined)
      return pruneValue(inner, additionalSchema(schema), at, false, unknown)
    unknown?.paths.push(at)
    return undefined
  })
}

/** Inside x-kubernetes-preserve-unknown-fields only what the schema names is looked into. */
function keepUnknown(value: Json, schema: Structural, path: string, root: boolean, unknown: Unknown): Json {
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    return mapItems(value, (item, i) =>
      typeof item === 'object' && item !== null ? keepUnknown(item, items, `${path}[${i}]`, false, unknown) : item,
    )
  }
  const meta = root || schema.embedded
  return mapFields(value as JsonObject, (inner, key) => {
    if (meta && META.has(key)) return inner
    const at = path === '' ? key : `${path}.${key}`
    const property = schema.properties.get(key)
    if (property !== undefined) return pruneValue(inner, property, at, false, unknown)
    const additional = additionalSchema(schema)
    return additional === undefined ? inner : pruneValue(inner, additional, at, false, unknown)
  })
}

function mapItems(list: readonly Json[], make: (item: Json, index: number) => Json): readonly Json[] {
  let copy: Json[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as Json
    const made = make(item, i)
    if (made !== item) {
      copy ??= [...list]
      copy[i] = made
    }
  }
  return copy ?? list
}

function mapFields(object: JsonObject, make: (value: Json, key: string) => Json | undefined): JsonObject {
  const keys = Object.keys(object)
  let copy: Writable | undefined
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = object[key]
    if (value === undefined) continue
    const next = make(value, key)
    if (copy === undefined) {
      if (next === value) continue
      copy = {}
      for (let j = 0; j < i; j++) {
        const before = keys[j] as string
        if (object[before] !== undefined) setKey(copy, before, object[before])
      }
    }
    if (next !== undefined) setKey(copy, key, next)
  }
  return copy ?? object
}

const isNullWithoutLeave = (value: Json | undefined, schema: Structural) => value === null && !schema.nullable

/** The object with the defaults of its schema; null counts as absent where it is not allowed. */
export function applyStructuralDefaults(value: Json, schema: Structural | undefined): Json {
  if (schema === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    return mapItems(value, (item) => applyStructuralDefaults(nullDefaulted(item, items), items))
  }
  let object = value as JsonObject
  for (const [name, property] of schema.properties) {
    if (property.default === undefined) continue
    const present = Object.hasOwn(object, name) ? object[name] : undefined
    if (present !== undefined && !isNullWithoutLeave(present, property)) continue
    const copy: Writable = { ...object }
    setKey(copy, name, property.default)
    object = copy
  }
  const additional = additionalSchema(schema)
  return mapFields(object, (inner, key) => {
    const property = schema.properties.get(key)
    if (property !== undefined) return applyStructuralDefaults(inner, property)
    if (additional === undefined) return inner
    return applyStructuralDefaults(nullDefaulted(inner, additional), additional)
  })
}

function nullDefaulted(value: Json, schema: Structural): Json {
  return isNullWithoutLeave(value, schema) && schema.default !== undefined ? schema.default : value
}

/** The value without nulls that its schema neither allows nor replaces by a default. */
export function dropNulls(value: Json, schema: Structural | undefined): Json {
  if (schema === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : mapItems(value, (item) => dropNulls(item, items))
  }
  const additional = additionalSchema(schema)
  return mapFields(value as JsonObject, (inner, key) => {
    const at = schema.properties.get(key) ?? additional
    if (at === undefined) return inner
    if (isNullWithoutLeave(inner, at) && at.default === undefined) return undefined
    return dropNulls(inner, at)
  })
}

/**
 * Whether nothing of a resource's fields would be dropped as null, defaulted or pruned: one pass instead of three, and nothing
 * is made. False where it is not sure.
 */
export function isSettled(fields: JsonObject, schema: Structural): boolean {
  return isSettledValue(fields, schema, true)
}

function isSettledValue(value: Json, schema: Structural, root: boolean): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    const { items } = schema
    for (const item of value as readonly Json[]) {
      if (typeof item !== 'object') continue
      if (items === undefined || item === null || !isSettledValue(item, items, false)) return false
    }
    return true
  }
  const object = value as JsonObject
  const { properties, preserveUnknown } = schema
  for (const name of defaultedNames(schema))
    if (!Object.hasOwn(object, name) || object[name] === undefined) return false
  const additional = additionalSchema(schema)
  for (const key in object) {
    const inner = object[key]
    if (inner === undefined) continue
    const below = properties.get(key) ?? additional
    if (below !== undefined) {
      if (inner === null ? !below.nullable : !isSettledValue(inner, below, false)) return false
    } else if (!preserveUnknown && !((root || schema.embedded) && META.has(key))) return false
  }
  return true
}

const defaulted = new WeakMap<Structural, readonly string[]>()

function defaultedNames(schema: Structural): readonly string[] {
  return getOrInsertComputed(defaulted, schema, () =>
    [...schema.properties].filter(([, property]) => property.default !== undefined).map(([name]) => name),
  )
}

/** Objects with their keys in order, as Go writes its maps. */
export function sortedKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return mapItems(value, sortedKeys)
  const object = value as JsonObject
  const keys = Object.keys(object)
  let inOrder = true
  for (let i = 1; inOrder && i < keys.length; i++) inOrder = keys[i - 1]! < keys[i]!
  if (inOrder) return mapFields(object, sortedKeys)
  const copy: Writable = {}
  for (const key of keys.sort()) if (object[key] !== undefined) setKey(copy, key, sortedKeys(object[key] as Json))
  return copy
}
