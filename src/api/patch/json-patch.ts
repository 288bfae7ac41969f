/** JSON patch (RFC 6902), with the leniencies of the library Kubernetes uses. Rebuilds only what lies on an operation's path. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { wrongForm } from '../fields/go-text.ts'
import type { Json, JsonObject } from '../object.ts'
import { sameJson } from '../same.ts'
import type { StrictProblem } from '../schema/strict-problem.ts'
import { badRequest, StatusError } from '../status.ts'
import { jsonText } from '../values/json.ts'
import { isList, isMap, own, setOwn } from '../values/maps-and-lists.ts'
import type { Touched } from './patched-text.ts'

export interface JsonPatchOperation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  /** undefined when the operation has none. */
  readonly value: Json | undefined
}

const MAX_OPERATIONS = 10_000
/** What copies may add up to, in characters of JSON. */
const MAX_COPIED = 3 * 1024 * 1024

const known = new Set(['op', 'path', 'from', 'value'])

/** Kubernetes gives no detail about an operation that does not apply. */
const doesNotApply = () =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/** @throws StatusError 400 for a wrong form, 413 for too many operations */
export function decodeJsonPatch(patch: Json): {
  readonly operations: readonly JsonPatchOperation[]
  readonly strictErrors: readonly StrictProblem[]
} {
  if (patch === null) return { operations: [], strictErrors: [] }
  if (!isList(patch)) throw badRequest(`error decoding patch: ${wrongForm(patch, '[]handlers.jsonPatchOp')}`)
  const strictErrors: StrictProblem[] = []
  const operations = patch.map((operation, index): JsonPatchOperation => {
    if (operation === null) return { op: '', path: undefined, from: undefined, value: undefined }
    if (!isMap(operation)) throw badRequest(`error decoding patch: ${wrongForm(operation, 'handlers.jsonPatchOp')}`)
    for (const name of Object.keys(operation)) {
      if (!known.has(name)) strictErrors.push({ kind: 'json patch unknown', path: `[${index}].${name}` })
    }
    const text = (name: string): string | undefined => {
      const value = own(operation, name)
      if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
      throw badRequest(`error decoding patch: ${wrongForm(value, 'string', `Go struct field jsonPatchOp.${name}`)}`)
    }
    return { op: text('op') ?? '', path: text('path'), from: text('from'), value: own(operation, 'value') }
  })
  if (operations.length > MAX_OPERATIONS) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  }
  return { operations, strictErrors }
}

/** What the copies of one patch add up to so far. */
export interface Copies {
  characters: number
}

/**
 * @param copies of a caller that gives a patch's operations one after the other
 * @throws StatusError 422 when an operation does not apply
 */
export function applyJsonPatch(
  document: Json,
  operations: readonly JsonPatchOperation[],
  copies: Copies = { characters: 0 },
): Json {
  let current = document
  for (const { op, path, from, value } of operations) {
    if (path === undefined) throw doesNotApply()
    const keys = keysOf(path)
    switch (op) {
      case 'add':
        current = change(current, keys, add(value ?? null))
        break
      case 'replace':
        current = path === '' ? (value ?? null) : change(current, keys, replace(value ?? null))
        break
      case 'remove':
        current = change(current, keys, remove)
        break
      case 'test':
        if (!sameJson(find(current, keys) ?? null, value ?? null)) throw doesNotApply()
        break
      case 'move': {
        const source = keysOf(from)
        const moved = find(current, source)
        if (moved === undefined || source.length === 0) throw doesNotApply()
        current = change(change(current, source, remove), keys, add(moved))
        break
      }
      case 'copy': {
        const source = find(current, keysOf(from)) ?? null
        copies.characters += jsonText(source).length
        if (copies.characters > MAX_COPIED) throw doesNotApply()
        current = change(current, keys, add(source))
        break
      }
      default:
        throw doesNotApply()
    }
  }
  return current
}

/** What stands before the first slash does not count. */
function keysOf(pointer: string | undefined): string[] {
  if (pointer === undefined) throw doesNotApply()
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replace(/~[01]/g, (found) => (found === '~1' ? '/' : '~')))
}

function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d{1,9}$/.test(key)) throw doesNotApply()
  const index = Number(key)
  if (index >= length || index < -length) throw doesNotApply()
  return index < 0 ? index + length : index
}

/** The value at a path; undefined when its parent has no such field. Throws when there is no parent. */
function find(document: Json, keys: readonly string[]): Json | undefined {
  let current: Json | undefined = document
  for (const key of keys) {
    if (isList(current)) current = current[indexOf(key, current.length)]
    else if (isMap(current)) current = own(current, key)
    else throw doesNotApply()
  }
  return current
}

type Change = (parent: JsonObject | readonly Json[], key: string) => Json

/** Rebuilds the containers on the way to a path's parent, which `how` changes. */
function change(current: Json | undefined, keys: readonly string[], how: Change, depth = 0): Json {
  const key = keys[depth]
  if (key === undefined) throw doesNotApply()
  if (!isList(current) && !isMap(current)) throw doesNotApply()
  if (depth === keys.length - 1) return how(current, key)
  if (isList(current)) {
    const index = indexOf(key, current.length)
    return current.with(index, change(current[index], keys, how, depth + 1))
  }
  return withField(current, key, change(own(current, key), keys, how, depth + 1))
}

function withField(parent: JsonObject, key: string, value: Json): JsonObject {
  const made = { ...parent }
  setOwn(made, key, value)
  return made
}

const add =
  (value: Json): Change =>
  (parent, key) => {
    if (isMap(parent as Json)) return withField(parent as JsonObject, key, value)
    const list = parent as readonly Json[]
    if (key === '-') return [...list, value]
    return list.toSpliced(indexOf(key, list.length + 1), 0, value)
  }

const replace =
  (value: Json): Change =>
  (parent, key) => {
    if (isMap(parent as Json)) return withField(parent as JsonObject, key, value)
    const list = parent as readonly Json[]
    return list.with(indexOf(key, list.length), value)
  }

const remove: Change = (parent, key) => {
  if (isList(parent as Json)) {
    const list = parent as readonly Json[]
    return list.toSpliced(indexOf(key, list.length), 1)
  }
  const map = parent as JsonObject
  if (own(map, key) === undefined) throw doesNotApply()
  const made: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(map)) if (name !== key) setOwn(made, name, map[name])
  return made as JsonObject
}

/** The containers that the operations look into. */
export function jsonPatchPaths(operations: readonly JsonPatchOperation[]): Touched {
  const root: Touched = new Map()
  for (const { path, from } of operations) {
    for (const pointer of [path, from]) {
      if (pointer === undefined) continue
      let level = root
      for (const key of keysOf(pointer).slice(0, -1)) {
        const below = getOrInsertComputed(level, key, () => new Map())
        level = below
      }
    }
  }
  return root
}
