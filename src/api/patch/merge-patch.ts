/** Merge patch (RFC 7386). What the patch does not name keeps its identity. */
import type { Json, JsonObject } from '../object.ts'
import { isList, isMap, own, setOwn } from '../values/maps-and-lists.ts'
import type { Touched } from './patched-text.ts'

export function applyMergePatch(document: Json, patch: JsonObject): Json {
  if (!isMap(document)) return withoutNulls(patch)
  const merged: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(document)) {
    const change = own(patch, name)
    if (change === undefined) setOwn(merged, name, document[name])
    else if (change !== null) setOwn(merged, name, mergeField(document[name], change))
  }
  for (const name of Object.keys(patch)) {
    const change = patch[name]
    if (change === undefined || change === null || own(document, name) !== undefined) continue
    setOwn(merged, name, withoutNulls(change))
  }
  return merged as JsonObject
}

function mergeField(current: Json | undefined, change: Json): Json {
  if (!isMap(current)) return withoutNulls(change)
  return isMap(change) ? applyMergePatch(current, change) : change
}

/** A new value, of which nulls in objects mean nothing. */
export function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const kept: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (inner !== null && inner !== undefined) setOwn(kept, name, withoutNulls(inner))
  }
  return kept as JsonObject
}

/** The containers that both the document and the patch have. */
export function mergePatchPaths(document: Json, patch: Json): Touched {
  const touched: Touched = new Map()
  if (!isMap(document) || !isMap(patch)) return touched
  for (const name of Object.keys(patch)) {
    const change = patch[name]
    const current = own(document, name)
    if (isMap(change)) touched.set(name, isMap(current) ? mergePatchPaths(current, change) : everyPath(change))
    else if (isList(change) && !isMap(current)) touched.set(name, everyPath(change))
  }
  return touched
}

/** What is new is looked through for nulls, all the way down. */
function everyPath(value: readonly Json[] | JsonObject): Touched {
  const inner: readonly (readonly [string, Json | undefined])[] = isList(value)
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value)
  return new Map(inner.flatMap(([key, item]) => (isList(item) || isMap(item) ? [[key, everyPath(item)] as const] : [])))
}
