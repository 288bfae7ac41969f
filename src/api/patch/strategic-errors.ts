/** What a strategic merge patch may be refused with, beside malformed directives. */

import { goText } from '../fields/go-text.ts'
import type { Json, JsonObject } from '../object.ts'
import { StatusError } from '../status.ts'
import { goTypeOf } from '../values/go-types.ts'

/** Kubernetes answers a patch that contradicts its schema with 500 and no reason. */
export const contradiction = (message: string) => new StatusError(500, '', message)
export const badArgument = (wanted: string, got: Json) =>
  contradiction(`expected a ${wanted}, but received a ${got === null ? asText(got) : goTypeOf(got)}`)
export const unknownDirective = (directive: Json | undefined, patch: JsonObject) =>
  contradiction(`unknown patch type: ${asText(directive)} in map: ${goText(patch)}`)

/** `%s`: what is no text is said to be none. */
function asText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return `%!s(bool=${value})`
  if (typeof value === 'number') return `%!s(${Number.isInteger(value) ? 'int64' : 'float64'}=${goText(value)})`
  return value === null || value === undefined ? '%!s(<nil>)' : goText(value)
}
