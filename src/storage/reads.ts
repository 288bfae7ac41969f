/** Reads of the tables at a revision: along a key's changes back to the first one that is not newer. */
import { corrupt, type KeyValue, type RangeResult } from './storage.ts'
import type { KeyChange, KeyEntry, Tables } from './tables.ts'

export function valueAt(tables: Tables, key: string, entry: KeyEntry, revision: number): KeyValue | undefined {
  if (entry.deleted && entry.modRevision <= revision) return undefined
  for (let at = entry.modRevision; at > 0; ) {
    const change = at === entry.modRevision ? newestChange(tables, key, entry) : tables.change(at)
    if (!change) return undefined
    if (change.revision <= revision) {
      if (change.value === undefined) return undefined
      return { key, value: change.value, modRevision: change.revision, createRevision: change.createRevision }
    }
    at = change.previousRevision
  }
  return undefined
}

/** What the key's entry leads to. @throws StoreError when that is not the key's own */
function newestChange(tables: Tables, key: string, { modRevision, createRevision, deleted }: KeyEntry): KeyChange {
  const change = tables.change(modRevision)
  const isOwn =
    change?.key === key && change.createRevision === createRevision && (change.value === undefined) === deleted
  if (!isOwn) throw corrupt(`what it has of ${JSON.stringify(key)} at revision ${modRevision} is not that key's`)
  return change
}

function existsAt(tables: Tables, entry: KeyEntry, revision: number): boolean {
  if (entry.modRevision <= revision) return !entry.deleted
  if (!entry.deleted && entry.createRevision <= revision) return true
  for (let at = entry.modRevision; at > 0; ) {
    const change = tables.change(at)
    if (!change) return false
    if (change.revision <= revision) return change.value !== undefined
    at = change.previousRevision
  }
  return false
}

/** @param limit items at most; 0: all */
export function rangeAt(tables: Tables, start: string, end: string, revision: number, limit: number): RangeResult {
  const items: KeyValue[] = []
  let remaining = 0
  for (const [key, entry] of tables.entries(start, end)) {
    if (limit > 0 && items.length >= limit) {
      if (existsAt(tables, entry, revision)) remaining++
      continue
    }
    const item = valueAt(tables, key, entry, revision)
    if (item) items.push(item)
  }
  return { items, revision, more: remaining > 0, remaining }
}

/** How often the key was written since it was made, up to this item, as far as history is kept. */
export function versionOf(tables: Tables, item: KeyValue): number {
  let version = 1
  for (let at = item.modRevision; at > item.createRevision; version++) {
    const change = tables.change(at)
    if (change === undefined) break
    at = change.previousRevision
  }
  return version
}
