/** Reading JSON values whose shape is known by a schema only. */
import type { Json, JsonObject } from '../object.ts'

export function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** A field that the object itself has: never one of Object.prototype. */
export function own(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** Sets a field whatever its name is: `__proto__` becomes plain data. */
export function setOwn(target: { [name: string]: Json | undefined }, name: string, value: Json | undefined): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
  else target[name] = value
}

/** Equal as JSON: the order of an object's fields does not count, an undefined field is an absent one. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false
    return true
  }
  if (isList(b)) return false
  const mine = a as JsonObject
  const theirs = b as JsonObject
  let fields = 0
  for (const name in mine) {
    const value = mine[name]
    if (value === undefined) continue
    fields++
    if (!Object.hasOwn(theirs, name) || !sameJson(value, theirs[name])) return false
  }
  for (const name in theirs) if (theirs[name] !== undefined) fields--
  return fields === 0
}
