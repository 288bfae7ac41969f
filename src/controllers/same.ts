/** Equality of JSON values, whatever the order of their keys. */
import type { Fields } from '../api/object.ts'

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, at) => sameJson(item, b[at]))
  }
  const keys = Object.keys(a).filter((key) => (a as Fields)[key] !== undefined)
  const others = Object.keys(b).filter((key) => (b as Fields)[key] !== undefined)
  return keys.length === others.length && keys.every((key) => sameJson((a as Fields)[key], (b as Fields)[key]))
}
