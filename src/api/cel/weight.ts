/**
 * How much a value is when all of it is looked at. Expressions may put one list twice into another, and that twice into a
 * third: a hundred characters make a value that would take years. The cost of a call counts the first level.
 */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Json } from '../object.ts'
import { MapValue, MessageValue, ObjectValue, Optional, sizeOfValue, type Value } from './values.ts'

/** Of a text, this many characters count as one part. */
const CHARACTERS = 256

const known = new WeakMap<object, number>()

/** Parts of a value, those that are in it twice twice. */
export function weightOf(value: Value): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / CHARACTERS)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof ObjectValue) return weightOfJson(value.json)
  const inner = partsOf(value)
  if (inner === undefined) return 1
  return remembered(value, () => {
    let sum = 1
    for (const part of inner) sum += weightOf(part)
    return sum
  })
}

function partsOf(value: Value): Iterable<Value> | undefined {
  if (Array.isArray(value)) return value as readonly Value[]
  if (value instanceof MapValue) return [...value.entries.values()].map(([, inner]) => inner)
  if (value instanceof MessageValue) return value.fields.values()
  return value instanceof Optional && value.value !== undefined ? [value.value] : undefined
}

function weightOfJson(json: Json | undefined): number {
  if (typeof json === 'string') return 1 + Math.floor(json.length / CHARACTERS)
  if (typeof json !== 'object' || json === null) return 1
  return remembered(json, () => {
    let sum = 1
    for (const inner of Object.values(json) as Json[]) sum += weightOfJson(inner)
    return sum
  })
}

function remembered(key: object, count: () => number): number {
  return getOrInsertComputed(known, key, () => count())
}

/** The parts that a function looks at; 0 for one that looks at no more than its cost says. */
export function partsSeen(name: string, values: readonly Value[]): number {
  const [a = null, b = null] = values
  switch (name) {
    case '_==_':
    case '_!=_':
      return Math.min(weightOf(a), weightOf(b))
    case '@in':
      return Array.isArray(b) ? Math.min(weightOf(b), b.length * weightOf(a)) : 0
    case 'indexOf':
    case 'lastIndexOf':
      return Array.isArray(a) ? Math.min(weightOf(a), a.length * weightOf(b)) : 0
    case 'sets.contains':
    case 'sets.intersects':
      return Math.min(sizeOfValue(a) * weightOf(b), sizeOfValue(b) * weightOf(a))
    case 'sets.equivalent':
      return 2 * Math.min(sizeOfValue(a) * weightOf(b), sizeOfValue(b) * weightOf(a))
    case 'distinct':
      return sizeOfValue(a) * weightOf(a)
    case 'flatten':
      return weightOf(a)
    default:
      return 0
  }
}
