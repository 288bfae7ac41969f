/**
 * All that a store holds at one revision, without its history: what a snapshot is made of and a fork begins with. Values are those
 * of the store itself, encrypted where it encrypts, and shared: an image costs a list, not a copy.
 */
import type { Memory } from './memory.ts'
import { createMemory } from './memory.ts'
import { rangeAt } from './reads.ts'
import type { KeyValue } from './storage.ts'
import type { Expiry, KeyChange, Tables } from './tables.ts'

export interface StoreImage {
  readonly revision: number
  /** In the order of their keys. */
  readonly items: readonly KeyValue[]
  /** Of items that are still what they were when they were given a time to live. */
  readonly expiries: readonly Expiry[]
}

const LAST_KEY = '\u{10ffff}'

/** `before`: an earlier image of this store; what has not changed since is the same value. */
export function imageOf(tables: Tables, revision: number, before?: StoreImage): StoreImage {
  if (before?.revision === revision) return before
  const known = new Map(before?.items.map((item) => [item.key, item]))
  const items = rangeAt(tables, '', LAST_KEY, revision, 0).items.map((item) => {
    const same = known.get(item.key)
    return same?.modRevision === item.modRevision ? same : item
  })
  const expiries = [...tables.expiries()].filter((expiry) => {
    const entry = tables.entry(expiry.key)
    return entry?.modRevision === expiry.revision && !entry.deleted
  })
  return { revision, items, expiries }
}

const changeOf = ({ key, value, modRevision, createRevision }: KeyValue): KeyChange => ({
  revision: modRevision,
  key,
  createRevision,
  previousRevision: 0,
  value,
})

/** A memory store that begins with the image. */
export function memoryOf({ revision, items, expiries }: StoreImage): Memory {
  const memory = createMemory(
    items.map(({ key, modRevision, createRevision }) => [key, { modRevision, createRevision, deleted: false }]),
  )
  for (const item of items) memory.log.set(item.modRevision, changeOf(item))
  for (const expiry of expiries) memory.expiries.set(expiry, undefined)
  memory.state = { revision, compactedRevision: revision, sweptRevision: revision }
  return memory
}

/** So many values are written together. */
const TOGETHER = 1000
/** Gives a store that ends with a removal the revision of that removal. */
const END_KEY = '/skiff.dev/end-of-image'

/** Fills tables that are new. @throws as Tables.flush */
export async function fill(tables: Tables, { revision, items, expiries }: StoreImage): Promise<void> {
  const changes = items.map(changeOf).sort((a, b) => a.revision - b.revision)
  if ((changes.at(-1)?.revision ?? 0) < revision)
    changes.push({ revision, key: END_KEY, createRevision: revision, previousRevision: 0, value: undefined })
  const nothing = { hasWaited: true, compaction: undefined, endedExpiries: [], changes: [], newExpiries: [] }
  for (let at = 0; at < changes.length; at += TOGETHER)
    await tables.flush({ ...nothing, changes: changes.slice(at, at + TOGETHER) })
  const compaction = { compactedRevision: revision, sweptRevision: revision, dropChanges: [], dropKeys: [] }
  await tables.flush({ ...nothing, compaction, newExpiries: expiries })
}
