/** JSON values in the words of Go's fmt package, as messages about strategic merge patches print them. */

import { goFloat } from '../../base/go-float.ts'
import type { Json, JsonObject } from '../object.ts'
import { fitsInt64 } from '../values/go-types.ts'
import { isList } from '../values/maps-and-lists.ts'
import { ForeignValue } from '../values/not-json.ts'
import { compareText } from './pathelement.ts'

/** `%v`: `map[a:1 b:[x y] c:<nil>]`. */
export function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (value instanceof ForeignValue) return value.text
  if (isList(value)) return `[${value.map(goText).join(' ')}]`
  if ((typeof value === 'number' || typeof value === 'bigint') && !fitsInt64(value)) return goFloat(Number(value))
  if (typeof value !== 'object') return String(value)
  const map = value as JsonObject
  const names = Object.keys(map).filter((name) => map[name] !== undefined)
  return `map[${names
    .sort(compareText)
    .map((name) => `${name}:${goText(map[name])}`)
    .join(' ')}]`
}

/** Go's words for JSON of the wrong form. */
export function wrongForm(value: Json, goType: string, place = 'Go value'): string {
  const form = Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : typeof value
  return `json: cannot unmarshal ${form === 'boolean' ? 'bool' : form} into ${place} of type ${goType}`
}
