/**
 * The spec of a body that has been read before, in these very words: it is not parsed and walked again, and is the same
 * value as then (parts.ts). Only what the quick walk found nothing wrong with is remembered.
 */
import type { Fields } from '../object.ts'
import { share } from '../parts.ts'
import type { StructSchema } from '../schema/schema.ts'

export interface RecurringPart {
  /** In canonical form, shared. */
  readonly part: Fields
  /** Of the object whose spec it is: the same words may mean another thing in another kind. */
  readonly schema: StructSchema
  /** Keys in it as it was written. */
  readonly keys: number
}

/** Texts remembered, the least recently read go; shorter ones are not worth it, longer ones rarely recur. */
const MOST = 512
const SHORTEST = 128
const LONGEST = 16_384

const known = new Map<string, RecurringPart>()

export const mayRecur = (text: string): boolean => text.length >= SHORTEST && text.length <= LONGEST

export function recall(text: string, schema: StructSchema): RecurringPart | undefined {
  const found = known.get(text)
  if (found === undefined || found.schema !== schema) return undefined
  known.delete(text)
  known.set(text, found)
  return found
}

export function remember(text: string, schema: StructSchema, part: Fields, keys: number): void {
  if (known.size >= MOST) known.delete(known.keys().next().value as string)
  known.set(text, { part: share(part), schema, keys })
}
