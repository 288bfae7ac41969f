/** Reading JSON values whose shape is known by a schema only. */
import type { Json, JsonObject } from '../object.ts'
import { heedKey } from './json.ts'

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
  heedKey(name)
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
  else target[name] = value
}
