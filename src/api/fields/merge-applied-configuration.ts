/** Merging an applied configuration into an object, and taking fields out of one. What does not change keeps its identity. */
import type { Json, JsonObject } from '../object.ts'
import { sameJson } from '../same.ts'
import { isList, isMap, own, setOwn } from '../values/maps-and-lists.ts'
import { isBare } from './compare.ts'
import { type FieldSet, isMember, MEMBER, type MutableFieldSet, sortedElements, union } from './fieldset.ts'
import { elementOf } from './list-item-keys.ts'
import { deduced, type Shape } from './shape.ts'

type Value = Json | undefined
type ListShape = Shape & { kind: 'set' | 'keyed' }

/** `live` with what `applied` says: maps and keyed lists are merged, everything else is replaced. */
export function merge(shape: Shape, live: Value, applied: Value): Value {
  if (applied === undefined || live === applied) return live
  if (live === undefined) return applied
  switch (shape.kind) {
    case 'leaf':
      return sameJson(live, applied) ? live : applied
    case 'set':
    case 'keyed':
      if (isBare(applied)) return isBare(live) ? applied : live
      return isList(live) && live.length > 0 && isList(applied) ? mergeLists(shape, live, applied) : applied
    case 'deduced':
      if (!isMap(applied) || !isMap(live)) return sameJson(live, applied) ? live : applied
      break
    default:
      break
  }
  if (isBare(applied)) return isBare(live) ? applied : live
  return isMap(live) && isMap(applied) ? mergeMaps(shape, live, applied) : applied
}

function mergeMaps(shape: Shape, live: JsonObject, applied: JsonObject): JsonObject {
  let changed = false
  const merged: { [name: string]: Value } = {}
  for (const name of Object.keys(live)) {
    const value = merge(shapeBelow(shape, name), live[name], own(applied, name))
    if (value !== live[name]) changed = true
    setOwn(merged, name, value)
  }
  for (const name of Object.keys(applied)) {
    if (own(live, name) !== undefined || applied[name] === undefined) continue
    changed = true
    setOwn(merged, name, applied[name])
  }
  return changed ? (merged as JsonObject) : live
}

export function shapeBelow(shape: Shape, name: string): Shape {
  if (shape.kind === 'map') return shape.values
  if (shape.kind === 'struct') return shape.byName.get(name)?.shape ?? shape.others ?? deduced
  return deduced
}

/**
 * Items stand in the order of `applied`; items that only `live` has stay where they were among those both have. The
 * order is structured merge's: a live item stands behind what stood before it, unless the applied order says otherwise.
 */
function mergeLists(shape: ListShape, live: readonly Json[], applied: readonly Json[]): readonly Json[] {
  const liveKeys = live.map((item) => elementOf(shape, item))
  const appliedKeys = applied.map((item) => elementOf(shape, item))
  const liveItems = new Map<string, Value>()
  // Which of several live items with one key an applied one belongs to cannot be told.
  for (const [i, key] of liveKeys.entries()) liveItems.set(key, liveItems.has(key) ? undefined : live[i])
  const appliedItems = new Map(appliedKeys.map((key, i) => [key, applied[i]!]))
  const shared = appliedKeys.filter((key) => liveItems.has(key))
  const taken = new Set<string>()
  const merged: Json[] = []
  const take = (key: string) => {
    taken.add(key)
    merged.push(merge(shape.items, liveItems.get(key), appliedItems.get(key))!)
    if (shared[0] === key) shared.shift()
  }
  let l = 0
  let a = 0
  while (l < liveKeys.length || a < appliedKeys.length) {
    const liveKey = liveKeys[l]
    const appliedKey = appliedKeys[a]
    if (liveKey !== undefined && appliedKey !== undefined) {
      if (liveKey === appliedKey) {
        take(liveKey)
        l++
        a++
        continue
      }
      if (appliedItems.has(liveKey) && shared.length > 0 && shared[0] !== liveKey) {
        // Both have it, but its turn comes later.
        l++
        continue
      }
    }
    if (liveKey !== undefined) {
      if (!appliedItems.has(liveKey)) {
        merged.push(live[l]!)
        l++
        continue
      }
      if (taken.has(liveKey)) l++
    }
    if (appliedKey !== undefined) {
      take(appliedKey)
      a++
    }
  }
  return merged.length === live.length && merged.every((item, i) => item === live[i]) ? live : merged
}

/** `value` without the members of `set`; null when nothing of a container is left. */
export function removeItems(shape: Shape, value: Json, set: FieldSet): Json {
  switch (shape.kind) {
    case 'leaf':
      return typeof value === 'object' ? null : value
    case 'set':
    case 'keyed':
      return isList(value) ? removeFromList(shape, value, set) : null
    default:
      if (isMap(value)) return removeFromMap(shape, value, set)
      return shape.kind === 'deduced' && !isList(value) ? value : null
  }
}

function removeFromList(shape: ListShape, list: readonly Json[], set: FieldSet): Json {
  let changed = false
  const kept: Json[] = []
  for (const item of list) {
    const below = set[elementOf(shape, item)]
    if (isMember(below)) {
      changed = true
      continue
    }
    const rest = below === undefined ? item : removeItems(shape.items, item, below)
    if (rest !== item) changed = true
    kept.push(rest)
  }
  if (kept.length === 0) return null
  return changed ? kept : list
}

function removeFromMap(shape: Shape, map: JsonObject, set: FieldSet): Json {
  let changed = false
  let any = false
  const kept: { [name: string]: Value } = {}
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (value === undefined) continue
    const below = set[`f:${name}`]
    if (isMember(below)) {
      changed = true
      continue
    }
    const rest = below === undefined ? value : removeItems(shapeBelow(shape, name), value, below)
    if (rest !== value) changed = true
    any = true
    setOwn(kept, name, rest)
  }
  if (!any) return null
  return changed ? (kept as JsonObject) : map
}

/** The fields that a configuration sets: leaves, items and map keys, but not the structs around them. */
export function fieldSetOf(shape: Shape, value: Json): FieldSet | undefined {
  switch (shape.kind) {
    case 'leaf':
      return MEMBER
    case 'set':
    case 'keyed': {
      if (!isList(value)) return undefined
      const set: MutableFieldSet = {}
      for (const item of value) {
        const element = elementOf(shape, item)
        const below = asMember(fieldSetOf(shape.items, item))
        set[element] = set[element] === undefined ? below : union(set[element], below)!
      }
      return nonEmpty(set)
    }
    default:
      if (!isMap(value)) return shape.kind === 'deduced' ? MEMBER : undefined
      return mapFieldSet(shape, value)
  }
}

function mapFieldSet(shape: Shape, value: JsonObject): FieldSet | undefined {
  const set: MutableFieldSet = {}
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (inner === undefined) continue
    const below = fieldSetOf(shapeBelow(shape, name), inner)
    const declared = shape.kind === 'struct' && shape.byName.has(name)
    const member = !declared || inner === null || (isMap(inner) && isBare(inner))
    const node = member ? asMember(below) : below
    if (node !== undefined) set[`f:${name}`] = node
  }
  return nonEmpty(set)
}

function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return MEMBER
  return isMember(node) ? node : { '.': MEMBER, ...node }
}

function nonEmpty(set: MutableFieldSet): FieldSet | undefined {
  for (const _ in set) return sortedElements(set)
  return undefined
}

/** The set with every declared field on the way to its members as a member too. */
export function withNamedFields(shape: Shape, set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined) return undefined
  const made: MutableFieldSet = {}
  for (const element in set) {
    const node = set[element]!
    if (element === '.') {
      made[element] = node
      continue
    }
    const name = element.slice(2)
    const named = element.startsWith('f:') && shape.kind === 'struct' && shape.byName.has(name)
    const shapeOfItem = shape.kind === 'set' || shape.kind === 'keyed' ? shape.items : shapeBelow(shape, name)
    const below = withNamedFields(shapeOfItem, node)!
    made[element] = named ? asMember(below) : below
  }
  return made
}
