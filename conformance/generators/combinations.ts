/**
 * What users write, one thing at a time (features.jsonl: a kind's least object, then pieces that its users add), put together
 * by chance: rules that look at two fields at once are met where each alone is right.
 */
import { readFileSync } from 'node:fs'
import type { Case } from '../recording.ts'
import { POST } from './hostile-requests.ts'
import type { Chance } from './random.ts'

type Value = null | boolean | number | string | readonly Value[] | Piece
interface Piece {
  readonly [field: string]: Value
}
interface Kind {
  readonly path: string
  readonly base: Piece
  readonly pieces: readonly Piece[]
}

/** Kinds whose errors come in the order of a map. */
const IN_NO_ORDER = ['Secret', 'ResourceQuota', 'LimitRange']

const isPiece = (value: Value | undefined): value is Piece =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

function together(one: Value | undefined, other: Value): Value {
  if (isList(one) && isList(other)) return listsTogether(one, other)
  if (!isPiece(one) || !isPiece(other)) return other
  const result: Record<string, Value> = { ...one }
  for (const [field, value] of Object.entries(other)) result[field] = together(one[field], value)
  return result
}

/** Entries of one name are one entry. */
function listsTogether(one: readonly Value[], other: readonly Value[]): readonly Value[] {
  const result = [...one]
  for (const entry of other) {
    const at = isPiece(entry) ? result.findIndex((known) => isPiece(known) && sameName(known, entry)) : -1
    if (at < 0) result.push(entry)
    else result[at] = together(result[at], entry)
  }
  return result
}

const sameName = (one: Piece, other: Piece) => one['name'] !== undefined && one['name'] === other['name']

/** A piece takes something away by giving null. */
function withoutNulls(value: Value): Value {
  if (isList(value)) return value.map(withoutNulls)
  if (!isPiece(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, inner]) => (inner === null ? [] : [[field, withoutNulls(inner)]])),
  )
}

function readKinds(): readonly Kind[] {
  const kinds: { path: string; base: Piece; pieces: Piece[] }[] = []
  for (const line of readFileSync(new URL('features.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')) {
    const value = JSON.parse(line)
    if (value.path === undefined) kinds.at(-1)?.pieces.push(value)
    else kinds.push({ ...value, pieces: [] })
  }
  return kinds
}

const SIZES = [1, 2, 2, 2, 3, 3, 4]
const IN_A_CASE = 10

/** `count` objects of kinds in turn, asked for without being made. */
export function combinations(rand: Chance, count: number): readonly Case[] {
  const kinds = readKinds()
  const cases: Case[] = []
  for (let made = 0; made < count; made += IN_A_CASE) {
    const kind = kinds[(made / IN_A_CASE) % kinds.length]!
    const steps = Array.from({ length: Math.min(IN_A_CASE, count - made) }, () => {
      let object: Value = kind.base
      for (let left = rand.pick(SIZES); left > 0; left--) object = together(object, rand.pick(kind.pieces))
      return POST(`${kind.path}?dryRun=All`, withoutNulls(object))
    })
    const name = String(kind.base['kind'])
    cases.push({
      name: `${name}: combinations ${made}`,
      steps,
      ...(IN_NO_ORDER.includes(name) ? { anyOrder: true } : {}),
    })
  }
  return cases
}
