/** A patched object as error messages show it. */

import { compareText } from '../fields/pathelement.ts'
import type { Json, JsonObject } from '../object.ts'
import type { Schema } from '../schema/schema.ts'
import { jsonText } from '../values/json.ts'
import { isList, isMap, setOwn } from '../values/maps-and-lists.ts'
import { withoutNulls } from './merge-patch.ts'

/** The containers a patch went through, by key. */
export type Touched = Map<string, Touched>

/** The text of what `inGoOrder` gives, also of keys that look like indexes. */
export function sortedText(value: Json, touched: Touched | undefined): string {
  if (touched === undefined) return jsonText(value)
  if (isList(value)) return `[${value.map((item, index) => sortedText(item, touched.get(String(index)))).join(',')}]`
  if (!isMap(value)) return jsonText(value)
  const parts: string[] = []
  for (const name of Object.keys(value).sort(compareText)) {
    const inner = value[name]
    if (inner !== undefined) parts.push(`${JSON.stringify(name)}:${sortedText(inner, touched.get(name))}`)
  }
  return `{${parts.join(',')}}`
}

/** The containers a patch went through have sorted keys, as Go writes maps; the rest is left as it was. */
export function inGoOrder(value: Json, touched: Touched | undefined): Json {
  if (touched === undefined) return value
  if (isList(value)) return value.map((item, index) => inGoOrder(item, touched.get(String(index))))
  if (!isMap(value)) return value
  const sorted: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(value).sort(compareText)) {
    const inner = value[name]
    if (inner !== undefined) setOwn(sorted, name, inGoOrder(inner, touched.get(name)))
  }
  return sorted as JsonObject
}

/** A patch as messages show it after it was merged, which takes nulls out of what is new. */
export function asMerged(patch: Json, live: Json | undefined, schema: Schema | undefined): Json {
  if (isMap(patch) && isMap(live)) {
    const shown: { [name: string]: Json | undefined } = {}
    for (const name of Object.keys(patch)) {
      const below =
        schema?.type === 'struct' ? schema.byName.get(name)?.schema : schema?.type === 'map' ? schema.values : undefined
      setOwn(shown, name, asMerged(patch[name] ?? null, live[name], below))
    }
    return shown as JsonObject
  }
  if (
    isList(patch) &&
    isList(live) &&
    schema?.type === 'list' &&
    schema.patchMergeKey &&
    schema.patchStrategy.includes('merge')
  ) {
    const key = schema.patchMergeKey
    const liveByKey = new Map<Json | undefined, JsonObject>()
    for (const one of live) if (isMap(one) && !liveByKey.has(one[key])) liveByKey.set(one[key], one)
    return patch.map((item) => (isMap(item) ? asMerged(item, liveByKey.get(item[key]) ?? {}, schema.items) : item))
  }
  return withoutNulls(patch)
}
