/**
 * The spec of a body that has been read before, in these very words: it is not parsed and walked again, and is the same
 * value as then (parts.ts). Only what the quick walk found nothing wrong with is remembered.
 */
import { createLruMap } from '../../base/lru.ts'
import type { Fields } from '../object.ts'
import { share } from '../parts.ts'
import type { StructSchema } from '../schema/schema.ts'

export interface RecurringPart {
  /** In canonical form, shared. */
  readonly part: Fields
  /** Keys in it as it was written. */
  readonly keys: number
}

interface Known {
  /** Of the object whose spec it is: the same words may mean another thing in another kind. */
  readonly schema: StructSchema
  /** Of what has been read once nothing is kept: most of it never comes again. */
  readonly recurring: RecurringPart | undefined
}

/** Texts remembered, the least recently read go; shorter ones are not worth it, longer ones rarely recur. */
const MOST = 512
const SHORTEST = 64
const LONGEST = 16_384

const known = createLruMap<string, Known>(MOST)

export const mayRecur = (text: string): boolean => text.length >= SHORTEST && text.length <= LONGEST

export function recall(text: string, schema: StructSchema): RecurringPart | undefined {
  const found = known.get(text)
  return found?.schema === schema ? found.recurring : undefined
}

/** Of the object with this schema, `text` is the spec `part`. */
export function remember(text: string, schema: StructSchema, part: Fields, keys: number): void {
  const isSecond = known.get(text)?.schema === schema
  known.set(ownCopy(text), { schema, recurring: isSecond ? { part: share(part), keys } : undefined })
}

/** A piece of a longer text holds all of it. */
const ownCopy = (text: string): string => Buffer.from(text).toString()
