/**
 * Equality of JSON values. The order of an object's fields does not count, a field that is undefined is absent, and parts of one
 * identity are equal at no cost. (Kubernetes' semantic equality, for which empty and absent are one, is validation/common.ts.)
 */
import { namedField } from '../base/named-field.ts'

interface Fields {
  readonly [field: string]: unknown
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    for (let at = 0; at < a.length; at++) if (!sameJson(a[at], b[at])) return false
    return true
  }
  let fields = 0
  for (const key in a) {
    const value = namedField(a as Fields, key)
    if (value === undefined) continue
    fields++
    // Never one of Object.prototype.
    if (!Object.hasOwn(b, key) || !sameJson(value, namedField(b as Fields, key))) return false
  }
  for (const key in b) if (namedField(b as Fields, key) !== undefined) fields--
  return fields === 0
}
