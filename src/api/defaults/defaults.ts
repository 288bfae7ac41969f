/**
 * Defaults: what Kubernetes fills in before anything looks at an object, by schema TYPE, so a rule holds wherever its type
 * stands (a Container in a Pod, a Deployment, a CronJob). Called by the API server once per decoded object; knows nothing
 * of kinds beyond their Schema.
 *
 * A rule (Defaulter) is pure: it looks at a value and answers with the fields to set, or undefined. It runs before the
 * rules of the types within. Per schema the paths that lead to rules are compiled once, so a ConfigMap costs nothing.
 */
import type { Fields, KubeObject } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import type { Field, ListSchema, MapSchema, Schema, StructSchema } from '../schema/schema.ts'
import { defaulters, mapDefaulters } from './table.ts'

/** Gives the value with its defaults: the same one when nothing is missing, its untouched parts always the same. */
type Visit = (value: Fields, parts?: Parts) => Fields

const compiled = new WeakMap<Schema, Visit | null>()

/** Returns the object with every default of its version's types. Never mutates. */
export function applyDefaults<T extends KubeObject>(object: T, schema: StructSchema, parts: Parts = noParts): T {
  const visit = visitorOf(schema)
  return visit ? (visit(object, parts) as T) : object
}

function visitorOf(schema: Schema): Visit | null {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  // A custom resource has its own from its decoder.
  if (schema.type === 'struct' && schema.definition === '') return null
  if (!hasDefaults(schema, new Set())) {
    compiled.set(schema, null)
    return null
  }
  const visit = compile(schema)
  compiled.set(schema, visit)
  return visit
}

/** A type of a version before v1 has the rule of the type that it became, unless it has one of its own. */
const defaulterOf = ({ definition }: StructSchema) =>
  defaulters.get(definition) ?? defaulters.get(definition.replace(/\.v\d+(?:alpha|beta)\d+\./, '.v1.'))

/** Whether any rule can apply at or below the schema (which may contain itself). */
function hasDefaults(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false
  seen.add(schema)
  const known = compiled.get(schema)
  if (known !== undefined) return known !== null
  if (schema.type === 'struct')
    return (
      defaulterOf(schema) !== undefined ||
      schema.fields.some((field) => literalDefault(field) !== undefined || hasDefaults(field.schema, seen))
    )
  if (schema.type === 'list') return hasDefaults(schema.items, seen)
  if (schema.type === 'map') return mapDefaulters.has(schema.goType) || hasDefaults(schema.values, seen)
  return false
}

/** A default that stands on the field itself, where it says more than the zero value does. */
function literalDefault(field: Field): string | number | boolean | undefined {
  const value = field.default
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  return field.pointer || (value !== '' && value !== 0 && value !== false) ? value : undefined
}

function compile(schema: Schema): Visit {
  if (schema.type === 'struct') return compileStruct(schema)
  if (schema.type === 'list') return compileList(schema)
  if (schema.type === 'map') return compileMap(schema)
  return (value) => value
}

function compileStruct(schema: StructSchema): Visit {
  const own = defaulterOf(schema)
  const literals: [string, string | number | boolean, boolean][] = []
  for (const field of schema.fields) {
    const value = literalDefault(field)
    if (value !== undefined) literals.push([field.name, value, field.pointer])
  }
  // Resolved at first use: a schema may contain itself.
  let children: readonly [string, Visit][] | undefined
  const resolve = (): readonly [string, Visit][] => {
    const found: [string, Visit][] = []
    for (const field of schema.fields) {
      const visit = visitorOf(field.schema)
      if (visit) found.push([field.name, visit])
    }
    return found
  }
  // `parts` are those of the object itself: further down there are none.
  return (value, parts = noParts) => {
    let result = value
    const added = own?.(value, parts)
    if (added !== undefined) result = { ...value, ...added }
    for (const [name, literal, pointer] of literals) {
      const present = result[name]
      // An empty text is a value where the field is a pointer, and none where it is not.
      if (present === undefined || present === null || (present === '' && literal !== '' && !pointer))
        result = result === value ? { ...value, [name]: literal } : Object.assign(result, { [name]: literal })
    }
    children ??= resolve()
    for (const [name, visit] of children) {
      const inner = result[name]
      if (inner === undefined || inner === null || typeof inner !== 'object') continue
      const visited = parts.from<Fields>(inner, visit)
      if (visited === inner) continue
      if (result === value) result = { ...value }
      ;(result as Record<string, unknown>)[name] = visited
    }
    return result
  }
}

function compileList(schema: ListSchema): Visit {
  const visit = visitorOf(schema.items)!
  return (value) => {
    const list = value as unknown as readonly Fields[]
    let result: Fields[] | undefined
    for (let i = 0; i < list.length; i++) {
      const item = list[i]!
      if (item === null || typeof item !== 'object') continue
      const visited = visit(item)
      if (visited === item) continue
      result ??= [...list]
      result[i] = visited
    }
    return (result as Fields | undefined) ?? value
  }
}

function compileMap(schema: MapSchema): Visit {
  const own = mapDefaulters.get(schema.goType)
  const visit = visitorOf(schema.values)
  return (value) => {
    const added = own?.(value)
    let result = added === undefined ? value : { ...value, ...added }
    if (!visit) return result
    for (const key of Object.keys(result)) {
      const inner = result[key]
      if (inner === null || typeof inner !== 'object') continue
      const visited = visit(inner)
      if (visited === inner) continue
      if (result === value) result = { ...value }
      Object.defineProperty(result, key, { value: visited, enumerable: true, configurable: true, writable: true })
    }
    return result
  }
}
