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
  if (original.length === 0 && patch.length === 0) return original
  if (elementKind(original, patch) !== 'map') {
    if (isDeleteList) return original.filter((item) => !patch.includes(item))
    return orderMerged([...new Set([...original, ...patch])], patch, original, '')
  }
  const { mergeKey } = rules
  if (mergeKey === '') throw contradiction(`cannot merge lists without merge key for ${goNameOf(rules.items)}`)
  const { kept, changes, replaced } = applyItemDirectives(original, patch as readonly JsonObject[], mergeKey)
  const merged = replaced ? changes : mergeItems(kept, changes, rules)
  return orderMerged(merged, replaced ? changes : patch.filter((item) => !isDeletion(item)), original, mergeKey)
}

function goNameOf(schema: Schema): string {
  return schema.goType.slice(schema.goType.lastIndexOf('.') + 1)
}

function elementKind(...lists: readonly (readonly Json[])[]): string {
  let kind: string | undefined
  for (const item of lists.flat()) {
    const found = goKindOf(item)
    if (kind !== undefined && found !== kind) throw differentKinds(lists)
    kind = found
  }
  if (kind === 'slice') throw badRequest('lists of lists are not supported')
  return kind ?? 'invalid'
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

const isDeletion = (item: Json) => isMap(item) && own(item, '$patch') === 'delete'

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
export function orderMerged(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  serverOrder: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  const patchPlaces = placesOf(patchOrder, mergeKey)
  const serverPlaces = placesOf(serverOrder, mergeKey)
  const named: Json[] = []
  const others: Json[] = []
  for (const item of merged) (patchPlaces.has(identityOf(item, mergeKey)) ? named : others).push(item)
  const place = (places: Map<Json | undefined, number>, item: Json) => places.get(identityOf(item, mergeKey)) ?? -1
  named.sort((a, b) => place(patchPlaces, a) - place(patchPlaces, b))
  others.sort((a, b) => place(serverPlaces, a) - place(serverPlaces, b))
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

function isDirective(item: Json): boolean {
  if (!isMap(item)) throw badArgument('map[string]interface {}', item)
  return own(item, '$patch') !== undefined
}

/** The patch's items, its directives aside, must come in the order that its $setElementOrder gives, if that names any. */
export function validateOrderList(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0) return
  const items = mergeKey === '' ? patch : patch.filter((item) => !isDirective(item))
  let at = 0
  for (let i = 0; at < items.length && i < order.length; i++) {
    if (identityOf(items[at]!, mergeKey) === identityOf(order[i]!, mergeKey)) at++
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
