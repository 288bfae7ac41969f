/** What a jq filter is, the values it works on, and the filters that others are put together from. */
import type { Json } from '../../api/object.ts'
import { characterWeight, HEAVIEST } from './weight.ts'

export class JqError extends Error {}

/** @throws JqError where the value is not of the kind that it asks for */
export type JqFilter = (value: Json) => readonly Json[]

const MOST_VALUES = 100_000

export const unchanged: JqFilter = (value) => [value]
export const always =
  (value: Json): JqFilter =>
  () => [value]
export const isTruthy = (value: Json): boolean => value !== null && value !== false
export const isJsonObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** What is made of each value, one after the other. @throws JqError where that becomes too many */
export function flatMapped<T>(values: readonly T[], make: (value: T) => readonly Json[]): Json[] {
  const all: Json[] = []
  for (const value of values) {
    for (const one of make(value)) all.push(one)
    if (all.length > MOST_VALUES) throw new JqError(`it gives more than ${MOST_VALUES} values`)
  }
  return all
}

/** Of what is made here; what is given is as it is. @throws JqError for what is too large */
export function light<T extends Json>(value: T, weight = characterWeight(value)): T {
  if (weight > HEAVIEST) throw new JqError('it makes a value that is too large')
  return value
}

export const piped =
  (first: JqFilter, second: JqFilter): JqFilter =>
  (value) =>
    flatMapped(first(value), second)

export const quietly =
  (filter: JqFilter): JqFilter =>
  (value) => {
    try {
      return filter(value)
    } catch (error) {
      if (error instanceof JqError) return []
      throw error
    }
  }

export const choice =
  (test: JqFilter, yes: JqFilter, no: JqFilter): JqFilter =>
  (value) =>
    flatMapped(test(value), (one) => (isTruthy(one) ? yes(value) : no(value)))

export const logical =
  (left: JqFilter, right: JqFilter, decides: boolean): JqFilter =>
  (value) =>
    flatMapped(left(value), (one) => (isTruthy(one) === decides ? [decides] : right(value).map(isTruthy)))

export const pairs =
  (left: JqFilter, right: JqFilter, join: (one: Json, other: Json) => Json): JqFilter =>
  (value) =>
    flatMapped(right(value), (other) => left(value).map((one) => join(one, other)))

export const field = (name: string): JqFilter => {
  return (value) => {
    if (value === null) return [null]
    if (!isJsonObject(value)) throw new JqError(`${typeOf(value)} has no field ${name}`)
    return [Object.hasOwn(value, name) ? (value[name] ?? null) : null]
  }
}

export function itemAt(value: Json, key: Json): readonly Json[] {
  if (typeof key === 'string') return field(key)(value)
  if (value === null) return [null]
  if (typeof key !== 'number' || !Array.isArray(value))
    throw new JqError(`${typeOf(value)} cannot be indexed with ${typeOf(key)}`)
  return [value.at(Math.floor(key)) ?? null]
}

export const iterate: JqFilter = (value) => {
  if (Array.isArray(value)) return value
  if (isJsonObject(value))
    return Object.keys(value)
      .sort()
      .map((key) => value[key] ?? null)
  throw new JqError(`${typeOf(value)} cannot be iterated over`)
}

export function numberOf(value: Json): number {
  if (typeof value === 'number') return value
  throw new JqError(`${typeOf(value)} is no number`)
}

export const subtracted = (one: Json, other: Json): Json => numberOf(one) - numberOf(other)

export function added(one: Json, other: Json): Json {
  if (one === null) return other
  if (other === null) return one
  light(null, characterWeight(one) + characterWeight(other))
  if (typeof one === 'string' && typeof other === 'string') return one + other
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other]
  return numberOf(one) + numberOf(other)
}

const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** jq's order: by type, then by value. */
export function order(one: Json, other: Json): number {
  const [type, otherType] = [typeOf(one), typeOf(other)]
  if (type !== otherType) return TYPES.indexOf(type) - TYPES.indexOf(otherType)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'boolean') return Number(one) - Number(other)
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0
  const [text, otherText] = [canonical(one), canonical(other)]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}

export const canonical = (value: Json): string =>
  isJsonObject(value)
    ? `{${Object.keys(value)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`)
        .join(',')}}`
    : Array.isArray(value)
      ? `[${value.map(canonical).join(',')}]`
      : JSON.stringify(value)

export const COMPARISONS: Readonly<Record<string, (one: Json, other: Json) => boolean>> = {
  '==': (one, other) => order(one, other) === 0,
  '!=': (one, other) => order(one, other) !== 0,
  '<': (one, other) => order(one, other) < 0,
  '<=': (one, other) => order(one, other) <= 0,
  '>': (one, other) => order(one, other) > 0,
  '>=': (one, other) => order(one, other) >= 0,
}
