/**
 * JSON that came from outside and that nothing has checked, read as what it should be: a value of another type counts as one that is
 * not there. For what is only looked into; what is stored is decoded by its Schema.
 */
import type { Json, JsonObject } from './object.ts'

/** `{}` for what is no object. */
export const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

/** Empty for what is no list. */
export const asList = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : [])

/** Empty for what is no string. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The strings of a list. */
export const asTexts = (value: unknown): readonly string[] => asList(value).filter((one) => typeof one === 'string')
