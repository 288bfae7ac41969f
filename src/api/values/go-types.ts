/** How Go names the types of decoded JSON. */
import type { Json } from '../object.ts'
import { isList } from './maps-and-lists.ts'

/** `%T` of a decoded value. */
export function goTypeOf(value: Json): string {
  if (value === null) return 'nil'
  if (isList(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return goKindOf(value)
}

/** The kind of a decoded value, as reflection names it. */
export function goKindOf(value: Json): string {
  if (isList(value)) return 'slice'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return fitsInt64(value) ? 'int64' : 'float64'
    case 'object':
      return value === null ? 'invalid' : 'map'
    default:
      return fitsInt64(value) ? 'int64' : 'float64'
  }
}

/** Of decoded JSON any number else is a float64. */
export function fitsInt64(value: number | bigint): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}
