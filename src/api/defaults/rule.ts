/** What a rule is, apart from what runs it: the tables of rules and their runner both need it. */
import type { Fields } from '../object.ts'
import type { Parts } from '../parts.ts'

/** The fields to set on a value of the type; undefined when there is nothing to do. `parts`: what is remembered of the value's. */
export type Defaulter = (value: Fields, parts?: Parts) => Fields | undefined

/** As `missing`, for fields that are pointers in Kubernetes' types: an empty text there is a value. */
export function unset(value: Fields, wanted: Fields): Fields | undefined {
  let added: Record<string, unknown> | undefined
  for (const name in wanted) {
    if (value[name] !== undefined && value[name] !== null) continue
    added ??= {}
    added[name] = wanted[name]
  }
  return added
}

/** The missing ones of `wanted` (absent, null; '' counts as absent for texts): the usual body of a rule. */
export function missing(value: Fields, wanted: Fields): Fields | undefined {
  let added: Record<string, unknown> | undefined
  for (const name in wanted) {
    const present = value[name]
    if (
      present === undefined ||
      present === null ||
      (present === '' && wanted[name] !== '' && typeof wanted[name] === 'string')
    ) {
      added ??= {}
      added[name] = wanted[name]
    }
  }
  return added
}

/** What was added, undefined when that is nothing. */
export const whenAny = (added: Fields): Fields | undefined => (Object.keys(added).length === 0 ? undefined : added)
