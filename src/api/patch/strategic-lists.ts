/** How a strategic merge patch merges lists: of objects by merge key, of scalars as sets; and in which order they end up. */

import { goText } from '../fields/go-text.ts'
import type { Json, JsonObject } from '../object.ts'
import type { Schema } from '../schema/schema.ts'
import { badRequest } from '../status.ts'
import { goKindOf } from '../values/go-types.ts'
import { isList, isMap, own, setOwn } from '../values/maps-and-lists.ts'
import { badArgument, contradiction, unknownDirective } from './strategic-errors.ts'
import { mergeMaps } from './strategic-merge-patch.ts'

export interface ListRules {
  /** `merge`, `replace`, or undefined, which replaces too. */
  readonly strategy: string | undefined
  /** '' for lists of scalars. */
  readonly mergeKey: string
  readonly items: Schema
}

const noMergeKey = (item: JsonObject, key: string) =>
  contradiction(`map: ${goText(item)} does not contain declared merge key: ${key}`)

/** @throws StatusError */
export function mergeList(
  original: readonly Json[],
  patch: readonly Json[],
  rules: ListRules,
  isDeleteList: boolean,
): readonly Json[] {
  if (isDeleteList && (original.length > 0 || patch.length > 0) && elementKind(original, patch) !== 'map') {
    return original.filter((item) => !patch.includes(item))
  }
  return merging(original, patch, rules).merged
}

/** `serverOrder`: the order of the original, in which new items have taken the room that deletions made at its end. */
function merging(original: readonly Json[], patch: readonly Json[], rules: ListRules) {
  if (original.length === 0 && patch.length === 0) return { merged: original, serverOrder: original }
  if (elementKind(original, patch) !== 'map') {
    return { merged: orderMerged([...new Set([...original, ...patch])], patch, original, ''), serverOrder: original }
  }
  const { mergeKey } = rules
  if (mergeKey === '') throw contradiction(`cannot merge lists without merge key for ${goNameOf(rules.items)}`)
  const { kept, changes, replaced } = applyItemDirectives(original, patch as readonly JsonObject[], mergeKey)
  const merged = replaced ? changes : mergeItems(kept, changes, rules)
  const patchOrder = replaced ? changes : patch.filter((item) => directiveOf(item) !== 'delete')
  return {
    merged: orderMerged(merged, patchOrder, original, mergeKey),
    serverOrder: replaced ? kept : merged.slice(0, original.length),
  }
}

/** Merges two lists, either of which may be missing, not both, and puts what came of them in the order that a patch gives by $setElementOrder. */
export function mergeInOrder(
  original: readonly Json[] | undefined,
  patch: readonly Json[] | undefined,
  order: readonly Json[],
  rules: ListRules,
): readonly Json[] {
  const { mergeKey } = rules
  const current = original ?? []
  const { merged, serverOrder } =
    original !== undefined && patch !== undefined && rules.strategy === 'merge'
      ? merging(original, patch, rules)
      : { merged: original !== undefined ? (patch ?? original) : broughtItems(patch!), serverOrder: current }
  if (mergeKey !== '') checkLookedUp(merged, order, mergeKey)
  if (elementKind(current, patch ?? []) === undefined) throw contradiction('no elements in any of the given slices')
  return orderMerged(merged, order, serverOrder, mergeKey)
}

const broughtItems = (patch: readonly Json[]) => withoutNestedNulls(withoutDirectives(patch)!) as readonly Json[]

/** Items are looked up in an order one by one: one of its elements that is no map matters if an item does not stand before it. */
function checkLookedUp(items: readonly Json[], order: readonly Json[], mergeKey: string): void {
  const wrong = order.findIndex((place) => !isMap(place))
  if (wrong < 0) return
  const before = new Set(order.slice(0, wrong).map((place) => own(place as JsonObject, mergeKey)))
  for (const item of items) {
    if (!before.has(identityOf(item, mergeKey))) throw contradiction(`value for key ${wrong} is not a map`)
  }
}

function goNameOf(schema: Schema): string {
  return schema.goType.slice(schema.goType.lastIndexOf('.') + 1)
}

/** Undefined of no elements. */
function elementKind(...lists: readonly (readonly Json[])[]): string | undefined {
  let kind: string | undefined
  for (const item of lists.flat()) {
    const found = goKindOf(item)
    if (kind !== undefined && found !== kind) throw differentKinds(lists)
    kind = found
  }
  if (kind === 'slice') throw badRequest('lists of lists are not supported')
  return kind
}

const differentKinds = (lists: readonly (readonly Json[])[]) =>
  contradiction(`list element types are not identical: ${goText(lists)}`)

/** Carries out deletions; `replaced` when the patch's items are the whole list. */
function applyItemDirectives(original: readonly Json[], patch: readonly JsonObject[], mergeKey: string) {
  let kept = original
  let replaced = false
  const changes: JsonObject[] = []
  for (const item of patch) {
    const directive = own(item, '$patch')
    if (directive === undefined) changes.push(item)
    else if (directive === 'replace') replaced = true
    else if (directive === 'delete') {
      const key = own(item, mergeKey)
      if (key === undefined) throw noMergeKey(item, mergeKey)
      kept = kept.filter((other) => !isMap(other) || own(other, mergeKey) !== key)
    } else if (directive === 'merge') throw contradiction('merging lists cannot yet be specified in the patch')
    else throw unknownDirective(directive, item)
  }
  return { kept, changes, replaced }
}

function mergeItems(original: readonly Json[], changes: readonly JsonObject[], rules: ListRules): Json[] {
  const merged = [...original]
  const places = new Map<Json | undefined, number>()
  for (const [at, item] of merged.entries()) {
    if (!isMap(item)) continue
    const key = own(item, rules.mergeKey)
    if (!places.has(key)) places.set(key, at)
  }
  for (const change of changes) {
    const key = own(change, rules.mergeKey)
    if (key === undefined) throw noMergeKey(change, rules.mergeKey)
    const at = places.get(key)
    if (at === undefined) places.set(key, merged.push(change) - 1)
    else merged[at] = mergeMaps(merged[at] as JsonObject, change, rules.items)
  }
  return merged
}

/** Of a list's item, which must be a map. */
function directiveOf(item: Json): Json | undefined {
  if (!isMap(item)) throw badArgument('map[string]interface {}', item)
  return own(item, '$patch')
}

/** What orders an item: its merge key, or the scalar itself. */
function identityOf(item: Json, mergeKey: string): Json | undefined {
  if (mergeKey === '') return item
  if (!isMap(item)) throw badArgument('map[string]interface {}', item)
  const key = own(item, mergeKey)
  if (key === undefined) throw noMergeKey(item, mergeKey)
  return key
}

function placesOf(list: readonly Json[], mergeKey: string): Map<Json | undefined, number> {
  const places = new Map<Json | undefined, number>()
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, mergeKey)
    if (!places.has(identity)) places.set(identity, index)
  }
  return places
}

/**
 * Puts a merged list in order: what `patchOrder` names stands as there; the other items stand as in `serverOrder`, each
 * before the first of the named ones that followed it there.
 */
function orderMerged(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  serverOrder: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  const patchPlaces = placesOf(patchOrder, mergeKey)
  const serverPlaces = placesOf(serverOrder, mergeKey)
  const place = (places: Map<Json | undefined, number>, item: Json) => places.get(identityOf(item, mergeKey)) ?? -1
  const inPatch: Json[] = []
  const inServer: Json[] = []
  for (const item of merged) (place(patchPlaces, item) >= 0 ? inPatch : inServer).push(item)
  const named = sortByPlace(inPatch, (item) => place(patchPlaces, item))
  const others = sortByPlace(inServer, (item) => place(serverPlaces, item))
  const ordered: Json[] = []
  let next = 0
  for (const item of others) {
    const mine = place(serverPlaces, item)
    while (next < named.length) {
      const theirs = place(serverPlaces, named[next]!)
      if (mine >= 0 && theirs >= 0 && mine < theirs) break
      ordered.push(named[next++]!)
    }
    ordered.push(item)
  }
  // Joined, and so of no more room than it has items: it is kept as long as the object.
  return ordered.length === 0 ? named.slice(next) : ordered.concat(named.slice(next))
}

/**
 * Sorts by places, -1 for none. What has no place stands before the first in place of those that it followed, behind all
 * if it followed none, the later ones first: so Kubernetes' sort takes "before anything" for what it cannot compare.
 */
function sortByPlace(items: readonly Json[], placeOf: (item: Json) => number): readonly Json[] {
  const sorted: { readonly item: Json; readonly place: number; readonly later: number }[] = []
  let first = Number.POSITIVE_INFINITY
  for (const [index, item] of items.entries()) {
    const place = placeOf(item)
    if (place < 0) sorted.push({ item, place: first, later: -index - 1 })
    else {
      sorted.push({ item, place, later: index })
      first = Math.min(first, place)
    }
  }
  // Infinity less Infinity is not a number, so equal places are told first.
  sorted.sort((a, b) => (a.place === b.place ? a.later - b.later : a.place - b.place))
  return sorted.map(({ item }) => item)
}

/**
 * The patch's items must come in the order that its $setElementOrder gives, if that names any. Deletions stand anywhere,
 * other directives before the last item of the order at the latest.
 */
export function validateOrderList(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0) return
  const items = mergeKey === '' ? patch : patch.filter((item) => directiveOf(item) !== 'delete')
  let at = 0
  for (const place of order) {
    while (at < items.length && isMap(items[at]) && own(items[at] as JsonObject, '$patch') !== undefined) at++
    if (at === items.length) break
    if (identityOf(items[at]!, mergeKey) === identityOf(place, mergeKey)) at++
  }
  if (at < items.length) {
    throw contradiction(
      `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
    )
  }
}

/** A value that the original does not have: objects with a $patch directive in it are left out. */
export function withoutDirectives(value: Json): Json | undefined {
  if (isList(value)) {
    const items = value.map(withoutDirectives)
    return items.includes(undefined) ? items.filter((item) => item !== undefined) : (items as Json[])
  }
  if (!isMap(value)) return value
  if (own(value, '$patch') !== undefined) return undefined
  const kept: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(value)) {
    const inner = value[name] === undefined ? undefined : withoutDirectives(value[name]!)
    if (inner !== undefined) setOwn(kept, name, inner)
  }
  return kept as JsonObject
}

/** In a value that the original does not have, null means nothing, also in maps that stand in a list. */
export function withoutNestedNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNestedNulls)
  if (!isMap(value)) return value
  const kept: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (inner !== null && inner !== undefined) setOwn(kept, name, withoutNestedNulls(inner))
  }
  return kept as JsonObject
}
