/** Lookups by something other than the key. An index is built when first asked for, and kept from then on. */
import type { KubeObject } from '../../api/object.ts'
import type { CacheEntry } from './entry.ts'

/** The values under which an object is found. */
export type IndexValues = (object: KubeObject) => readonly string[]

export interface Index {
  /** The entries with this value, in key order. */
  get(value: string): readonly CacheEntry[]
  change(entry: CacheEntry | undefined, previous: CacheEntry | undefined): void
}

export function createIndex(values: IndexValues, entries: Iterable<CacheEntry>): Index {
  const byValue = new Map<string, Map<string, CacheEntry>>()
  /** What each key was added under: taking it away must not need its old object, whose bytes would be parsed for it. */
  const valuesOf = new Map<string, readonly string[]>()

  function add(entry: CacheEntry): void {
    const own = values(entry.object)
    valuesOf.set(entry.key, own)
    for (const value of own) {
      let found = byValue.get(value)
      if (!found) {
        found = new Map()
        byValue.set(value, found)
      }
      found.set(entry.key, entry)
    }
  }

  function remove(key: string): void {
    for (const value of valuesOf.get(key) ?? []) {
      const found = byValue.get(value)
      found?.delete(key)
      if (found?.size === 0) byValue.delete(value)
    }
    valuesOf.delete(key)
  }

  for (const entry of entries) add(entry)
  return {
    get(value) {
      const found = [...(byValue.get(value)?.values() ?? [])]
      return found.sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    change(entry, previous) {
      if (previous) remove(previous.key)
      if (entry) add(entry)
    },
  }
}
