/** The functions of jq that selectors of stages may call, by name: those without an argument, and those with one. */
import { RE2JS } from 're2js'
import type { Json } from '../../api/object.ts'
import {
  canonical,
  flatMapped,
  isJsonObject,
  isTruthy,
  itemAt,
  iterate,
  JqError,
  type JqFilter,
  light,
  order,
  typeOf,
} from './jq-filters.ts'
import { characterWeight } from './weight.ts'

const ofText =
  (join: (text: string) => Json): JqFilter =>
  (value) => {
    if (typeof value !== 'string') throw new JqError(`${typeOf(value)} is no string`)
    return [join(value)]
  }

const textOf = (value: Json): string => (typeof value === 'string' ? value : canonical(value))

function lengthOf(value: Json): number {
  if (value === null) return 0
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value === 'string') return [...value].length
  if (typeof value === 'boolean') throw new JqError('boolean has no length')
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

const ordered = (value: Json): Json[] => [...iterate(value)].sort(order)

export const PLAIN: Readonly<Record<string, JqFilter>> = {
  not: (value) => [!isTruthy(value)],
  empty: () => [],
  length: (value) => [lengthOf(value)],
  keys: (value) => [
    Array.isArray(value) ? [...value.keys()] : isJsonObject(value) ? Object.keys(value).sort() : [...iterate(value)],
  ],
  values: (value) => (value === null ? [] : [value]),
  type: (value) => [typeOf(value)],
  any: (value) => [iterate(value).some(isTruthy)],
  all: (value) => [iterate(value).every(isTruthy)],
  first: (value) => itemAt(value, 0),
  last: (value) => itemAt(value, -1),
  sort: (value) => [ordered(value)],
  unique: (value) => [ordered(value).filter((one, i, all) => i === 0 || order(one, all[i - 1] ?? null) !== 0)],
  reverse: (value) => [[...iterate(value)].reverse()],
  tostring: (value) => [light(textOf(value))],
  tonumber: (value) => {
    const made =
      typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
    if (Number.isNaN(made)) throw new JqError(`${textOf(value)} is no number`)
    return [made]
  },
  ascii_downcase: ofText((text) => text.toLowerCase()),
  ascii_upcase: ofText((text) => text.toUpperCase()),
  to_entries: (value) => [
    light(isJsonObject(value) ? Object.entries(value).map(([key, one]) => ({ key, value: one })) : [...iterate(value)]),
  ],
}

/** Of each value that the argument gives. */
const withEach =
  (join: (value: Json, argument: Json) => Json) =>
  (argument: JqFilter): JqFilter =>
  (value) =>
    argument(value).map((one) => join(value, one))

const twoTexts = (join: (text: string, other: string) => Json) =>
  withEach((value, other) => {
    if (typeof value !== 'string' || typeof other !== 'string') throw new JqError('two strings are wanted')
    return join(value, other)
  })

function has(value: Json, key: Json): boolean {
  if (isJsonObject(value) && typeof key === 'string') return Object.hasOwn(value, key)
  if (Array.isArray(value) && typeof key === 'number') return key >= 0 && key < value.length
  throw new JqError(`${typeOf(value)} has no ${typeOf(key)} as a key`)
}

function contains(value: Json, other: Json): boolean {
  if (typeof value === 'string' && typeof other === 'string') return value.includes(other)
  if (Array.isArray(value) && Array.isArray(other)) return other.every((one) => value.some((own) => contains(own, one)))
  if (isJsonObject(value) && isJsonObject(other))
    return Object.entries(other).every(([key, one]) => Object.hasOwn(value, key) && contains(value[key] ?? null, one))
  return order(value, other) === 0
}

function test(text: string, source: string): boolean {
  try {
    return RE2JS.compile(source).matcher(text).find()
  } catch (cause) {
    throw new JqError(`${source} is no regular expression`, { cause })
  }
}

export const WITH_FILTER: Readonly<Record<string, (argument: JqFilter) => JqFilter>> = {
  select: (wanted) => (value) => flatMapped(wanted(value), (one) => (isTruthy(one) ? [value] : [])),
  map: (filter) => (value) => [light(flatMapped(iterate(value), filter))],
  any: (wanted) => (value) => [iterate(value).some((one) => wanted(one).some(isTruthy))],
  all: (wanted) => (value) => [iterate(value).every((one) => wanted(one).every(isTruthy))],
  first: (filter) => (value) => filter(value).slice(0, 1),
  last: (filter) => (value) => filter(value).slice(-1),
  has: withEach(has),
  contains: withEach(contains),
  startswith: twoTexts((text, prefix) => text.startsWith(prefix)),
  endswith: twoTexts((text, suffix) => text.endsWith(suffix)),
  test: twoTexts(test),
  split: twoTexts((text, between) => text.split(between)),
  join: withEach((value, between) => {
    const items = iterate(value)
    light(null, characterWeight(value) + items.length * characterWeight(between))
    return items.map((one) => (one === null ? '' : textOf(one))).join(textOf(between))
  }),
}
