/**
 * Embedded resources (x-kubernetes-embedded-resource): objects inside an object, with a type and metadata of their own.
 * Their metadata is made canonical when a body is read and validated like any object's (validation/embedded.ts).
 */
import type { Json, JsonObject } from '../../object.ts'
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
