/** Functions over lists, and over lists of optionals (cel-go's lists and optional extensions). */

import { CALL_COST_LIMIT, OVER_LIMIT } from './cost-limits.ts'
import { compare, define, fn, method } from './functions.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  optionalOf,
  param,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from './types.ts'
import { CelError, equals, Optional, type Value } from './values.ts'

const T = param('T')
const LIST = listType(T)
const SORTABLE: readonly Type[] = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, TIMESTAMP, DURATION]

type Values = readonly Value[]

function range(length: bigint): Values {
  // Each item costs at least as much: no evaluation may make a longer one.
  if (length > CALL_COST_LIMIT) throw new CelError(OVER_LIMIT)
  return Array.from({ length: Math.max(0, Number(length)) }, (_, i) => BigInt(i))
}

function slice(list: Values, start: bigint, end: bigint): Values {
  const call = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) throw new CelError(`${call}, negative indexes not supported`)
  if (start > end) throw new CelError(`${call}, start index must be less than or equal to end index`)
  if (end > BigInt(list.length)) throw new CelError(`${call}, list is length ${list.length}`)
  return list.slice(Number(start), Number(end))
}

function flatten(list: Values, depth = 1n): Values {
  if (depth < 0n) throw new CelError('level must be non-negative')
  if (depth === 0n) return list
  return list.flatMap((item) => (Array.isArray(item) ? flatten(item, depth - 1n) : [item]))
}

/** @throws CelError for values that have no order */
export const sortedValues = (list: Values, keys: Values = list): Values => {
  const first = keys[0]
  if (keys.some((key) => typeof key !== typeof first)) throw new CelError('list elements must have the same type')
  return list
    .map((item, i): readonly [Value, Value] => [keys[i] as Value, item])
    .sort(([a], [b]) => compare(a, b))
    .map(([, item]) => item)
}

const distinct = (list: Values): Values =>
  list.filter((item, i) => list.findIndex((other) => equals(other, item)) === i)

const unwrap = (list: Values): Values =>
  list.flatMap((item) => (item instanceof Optional && item.value !== undefined ? [item.value] : []))

export const lists = define({
  'lists.range': [fn([INT], listType(INT), range)],
  slice: [method([LIST, INT, INT], LIST, slice)],
  flatten: [
    method([listType(LIST)], LIST, (list: Values) => flatten(list)),
    method([listType(DYN), INT], listType(DYN), flatten),
  ],
  sort: SORTABLE.map((type) => method([listType(type)], listType(type), (list: Values) => sortedValues(list))),
  distinct: [method([LIST], LIST, distinct)],
  reverse: [method([LIST], LIST, (list: Values) => list.toReversed())],
  first: [method([LIST], optionalOf(T), (list: Values) => new Optional(list[0]))],
  last: [method([LIST], optionalOf(T), (list: Values) => new Optional(list.at(-1)))],
  'optional.unwrap': [fn([listType(optionalOf(T))], LIST, unwrap)],
  unwrapOpt: [method([listType(optionalOf(T))], LIST, unwrap)],
})
