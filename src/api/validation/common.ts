/**
 * Small rules that many types share, beside those of rules.ts: a name format said by every one of its messages, one-of
 * unions, immutability. Called by the rule tables of this folder.
 */
import { type FieldError, invalid } from '../errors/field-errors.ts'
import type { Json } from '../object.ts'
import type { Rule } from './rules.ts'

/** A format check as names.ts gives it: what is wrong with the text, empty when nothing is. */
export type Format = (value: string) => readonly string[]

/** One `Invalid value` per message of the format. An absent value is the empty text, as Kubernetes sees it. */
export function says(format: Format): Rule {
  return (value, path, errors) => {
    const text = value ?? ''
    for (const message of format(text)) errors.push(invalid(path, text, message))
  }
}

/** The rules only where the value is there and is not empty (text, list, map, or number other than 0). */
export function ifSet(...rules: readonly Rule[]): Rule {
  return (value, path, errors, context) => {
    if (isEmpty(value)) return
    for (const rule of rules) rule(value, path, errors, context)
  }
}

/** `*` stands for everything, so nothing may stand beside it. */
export function starAlone(list: readonly string[], path: string, what: string, errors: FieldError[]): void {
  if (list.length > 1 && list.includes('*'))
    errors.push(invalid(path, list, `if '*' is present, must not specify other ${what}`))
}

export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/**
 * Deep equality of plain JSON as in Kubernetes' semantic equality: absent, null and empty lists are one. Empty maps are left out of
 * every object that was decoded, so that `{}` is a struct, which is told from none.
 */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNothing(a) && isNothing(b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]))
  const left = a as { [key: string]: unknown }
  const right = b as { [key: string]: unknown }
  for (const key of Object.keys(left)) if (!same(left[key], right[key])) return false
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key) && !same(undefined, right[key])) return false
  return true
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

export const IMMUTABLE = 'field is immutable'

/** Reports the new value when it differs from the old one. */
export function immutable(path: string, value: unknown, old: unknown, errors: FieldError[]): void {
  if (!same(value, old)) errors.push(invalid(path, (value ?? null) as Json, IMMUTABLE))
}

/** `a`, `a` or `b` … in Go's sorted order, for enums that print sorted. */
export function sorted(...values: readonly string[]): readonly string[] {
  return [...values].sort()
}

/** Keys of a map in the order in which Kubernetes would be free to report them; we choose sorted, so answers are stable. */
export function entries(map: { readonly [key: string]: unknown } | undefined | null): readonly [string, unknown][] {
  return map ? Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) : []
}
