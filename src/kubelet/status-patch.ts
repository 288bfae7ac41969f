/**
 * The strategic merge patch that turns one pod status into another: what changed, null for what went, conditions and
 * addresses item by item with the order of the whole list (API concept: strategic merge patch).
 */
import type { PodStatus } from '../api/generated/types.ts'
import type { JsonObject } from '../api/object.ts'
import { sameJson } from '../api/same.ts'

/** Lists of a pod status that are merged, by their merge key; all others are replaced. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', podIPs: 'ip', resourceClaimStatuses: 'name' }

type Item = { readonly [field: string]: unknown }
type Changes = Record<string, unknown>

/** Undefined when nothing differs. */
export function statusPatch(uid: string, from: PodStatus, to: PodStatus): JsonObject | undefined {
  const status = objectPatch(from as Item, to as Item)
  return status === undefined ? undefined : ({ metadata: { uid }, status } as JsonObject)
}

function objectPatch(from: Item, to: Item): Changes | undefined {
  const changes: Changes = {}
  for (const key in to) {
    const value = to[key]
    const old = from[key]
    if (value === undefined || sameJson(old ?? null, value)) continue
    const mergeKey = mergeKeys[key]
    if (mergeKey !== undefined && Array.isArray(old) && Array.isArray(value)) {
      const items = listPatch(old as readonly Item[], value as readonly Item[], mergeKey)
      const order = (list: readonly Item[]) => list.map((item) => ({ [mergeKey]: item[mergeKey] }))
      if (items.length === 0 && sameJson(order(old), order(value))) continue
      changes[`$setElementOrder/${key}`] = order(value)
      if (items.length > 0) changes[key] = items
    } else changes[key] = value
  }
  for (const key in from)
    if (from[key] !== undefined && from[key] !== null && (to[key] === undefined || to[key] === null))
      changes[key] = null
  return Object.keys(changes).length === 0 ? undefined : changes
}

function listPatch(from: readonly Item[], to: readonly Item[], mergeKey: string): Changes[] {
  const items: Changes[] = []
  const before = new Map(from.map((item) => [item[mergeKey], item]))
  for (const item of to) {
    const old = before.get(item[mergeKey])
    if (old === undefined) items.push(item as Changes)
    else {
      const changes = objectPatch(old, item)
      if (changes !== undefined) items.push({ ...changes, [mergeKey]: item[mergeKey] })
    }
    before.delete(item[mergeKey])
  }
  for (const gone of before.keys()) items.push({ $patch: 'delete', [mergeKey]: gone })
  return items
}
