/**
 * Copies everything from one store to another that is empty: to etcd by transactions, to an embedded store row by row with the
 * revisions that keys have. What was begun and broken off is continued by beginning again. Neither store may be written to meanwhile.
 */
import type { Runtime } from '../base/runtime.ts'
import { type KeyValue, type Storage, StoreError } from './storage.ts'
import type { Expiry, KeyChange, Tables } from './tables.ts'

/** There while a store is being filled: its value names the source and its revision. */
export const MIGRATION_KEY = '/registry/skiff.dev/migration'
const ROOT = '/registry/'
const END = '/registry0'
const GROUP = 1000
const AT_ONCE = 32
/** Of what ends by itself no store tells how long it has: from now on as long as it is given at first. */
const EVENTS = '/registry/events/'
const EVENT_SECONDS = 3600
/**
 * Of no use in another store: what API servers say of themselves, for seconds, and the key by which they take from shared pools one after the
 * other, whose revision is that of what was taken.
 */
const SERVERS = ['/registry/skiff.dev/replicas/', '/registry/masterleases/']
const PASSING = [...SERVERS, '/registry/peerserverleases/', '/registry/skiff.dev/pools', MIGRATION_KEY]

export interface Migrated {
  readonly objects: number
  readonly revision: number
}

export interface MigrationSource {
  readonly items: readonly KeyValue[]
  readonly revision: number
}

/** All there is, in the form in which the target is to have it. @throws StoreError when the source is itself the half of a migration */
export async function readSource(
  storage: Storage,
  convert: (key: string, value: Uint8Array) => Uint8Array,
): Promise<MigrationSource> {
  await storage.fresh()
  const { items, revision } = await storage.range(ROOT, END)
  if (items.some(({ key }) => key === MIGRATION_KEY))
    throw new StoreError('the source is half filled by skiff migrate: run that to its end first')
  const kept = items.filter(({ key }) => !PASSING.some((prefix) => key.startsWith(prefix)))
  return { items: kept.map((item) => ({ ...item, value: convert(item.key, item.value) })), revision }
}

/** What API servers say of themselves ends half a minute after them. @throws StoreError while one is there */
export async function refuseServed(storage: Storage): Promise<void> {
  for (const prefix of SERVERS) {
    const { items } = await storage.range(prefix, prefix.replace(/\/$/, '0'), { limit: 1 })
    const [found] = items
    if (found !== undefined)
      throw new StoreError(
        `an API server runs over the source, or was killed less than a minute ago (${found.key}): stop all of them first`,
      )
  }
}

/** @throws StoreError when the source has not what was read any more, but for what ends by itself */
export async function refuseChanged(storage: Storage, before: MigrationSource): Promise<void> {
  await storage.fresh()
  const { items } = await storage.range(ROOT, END)
  const known = new Map(before.items.map(({ key, modRevision }) => [key, modRevision]))
  const refuse = (key: string) => {
    if (key.startsWith(EVENTS)) return
    throw new StoreError(
      `the source was written to meanwhile (${key}): stop what writes there, empty the target, and begin again`,
    )
  }
  for (const { key, modRevision } of items) {
    if (PASSING.some((prefix) => key.startsWith(prefix))) continue
    if (known.get(key) !== modRevision) refuse(key)
    known.delete(key)
  }
  for (const key of known.keys()) refuse(key)
}

/**
 * To a store of any kind: keys get new revisions, and the store one above that of the source, so that what clients remember of it
 * is never of the future.
 *
 * @throws StoreError when the target holds something else, or is not what was written
 */
export async function copyTo(target: Storage, { items, revision }: MigrationSource, from: string): Promise<Migrated> {
  const begun = Buffer.from(JSON.stringify({ from, revision }))
  const there = await target.range(ROOT, END)
  const marker = there.items.find(({ key }) => key === MIGRATION_KEY)
  if (marker === undefined) {
    if (there.items.length > 0) throw new StoreError('the target holds a cluster already: give an empty one')
    await must(target.write({ type: 'put', key: MIGRATION_KEY, value: begun, expectRevision: 0 }))
  } else if (Buffer.compare(marker.value, begun) !== 0) throw halfFilledError(marker.value, begun)
  const present = new Map(there.items.map((item) => [item.key, item]))
  await eachOf(items, async ({ key, value }) => {
    const known = present.get(key)
    if (known !== undefined && Buffer.compare(known.value, value) === 0) return
    const lease = key.startsWith(EVENTS) ? { leaseSeconds: EVENT_SECONDS } : {}
    await must(target.write({ type: 'put', key, value, expectRevision: known?.modRevision ?? 0, ...lease }))
  })
  await raise(target, revision)
  verify(items, (await target.range(ROOT, END)).items)
  const { item } = await target.get(MIGRATION_KEY)
  await must(target.write({ type: 'delete', key: MIGRATION_KEY, expectRevision: item?.modRevision ?? 0 }))
  return { objects: items.length, revision: target.revision }
}

/** Writes until the store's revision is above `revision`. Leaves nothing of it, nor of a run that was broken off. */
async function raise(target: Storage, revision: number): Promise<void> {
  const lanes = Array.from({ length: AT_ONCE }, (_, i) => `${MIGRATION_KEY}/${i}`)
  const value = Buffer.alloc(0)
  await Promise.all(
    lanes.map(async (key) => {
      let { item } = await target.get(key)
      while (target.revision < revision) {
        await must(target.write({ type: 'put', key, value, expectRevision: item?.modRevision ?? 0 }))
        item = (await target.get(key)).item
      }
      if (item !== undefined) await must(target.write({ type: 'delete', key, expectRevision: item.modRevision }))
    }),
  )
}

/**
 * To the empty tables of an embedded store: keys keep their revisions, and the store that of the source; history before it is
 * given up. `begun`: what is there is the beginning of this very migration.
 *
 * @throws StoreError when something else is there
 */
export async function fillTables(
  { clock }: Runtime,
  tables: Tables,
  { items, revision }: MigrationSource,
  begun: boolean,
): Promise<Migrated> {
  const done = tables.initial.revision
  if (done > 1 && !begun) throw new StoreError('the target holds a cluster already: give an empty one')
  const changes = [...items]
    .sort((a, b) => a.modRevision - b.modRevision)
    .map(({ key, value, modRevision, createRevision }): KeyChange => {
      return { revision: modRevision, key, createRevision, previousRevision: 0, value }
    })
    .filter((change) => change.revision > done)
  for (let at = 0; at < changes.length; at += GROUP) await flush(tables, changes.slice(at, at + GROUP), clock.now())
  // A change of its own, since the newest of the source may be one that left nothing.
  const last = Math.max(revision, done) + 1
  const end: KeyChange = {
    revision: last,
    key: MIGRATION_KEY,
    createRevision: last,
    previousRevision: 0,
    value: undefined,
  }
  if (done <= revision) await flush(tables, [end], clock.now(), revision)
  return { objects: items.length, revision: last }
}

const flush = (tables: Tables, changes: readonly KeyChange[], now: number, compactedRevision?: number): Promise<void> =>
  tables.flush({
    hasWaited: true,
    compaction:
      compactedRevision === undefined
        ? undefined
        : { compactedRevision, sweptRevision: compactedRevision, dropChanges: [], dropKeys: [] },
    endedExpiries: [],
    changes,
    newExpiries: expiriesOf(
      changes
        .filter(({ value }) => value !== undefined)
        .map(({ key, revision: modRevision }) => ({ key, modRevision })),
      now,
    ),
  })

/** Of those that end by themselves: no store tells how long they have, so they have as long as they are given at first. */
export const expiriesOf = (items: readonly Pick<KeyValue, 'key' | 'modRevision'>[], now: number): readonly Expiry[] =>
  items
    .filter(({ key }) => key.startsWith(EVENTS))
    .map(({ key, modRevision: revision }) => ({ key, revision, expiresAt: now + EVENT_SECONDS * 1000 }))

/** @throws StoreError that says what differs */
export function verify(items: readonly KeyValue[], found: readonly KeyValue[], withRevisions = false): void {
  const there = new Map(found.map((item) => [item.key, item]))
  for (const { key, value, modRevision } of items) {
    const copied = there.get(key)
    const isSame = copied !== undefined && Buffer.compare(copied.value, value) === 0
    if (!isSame || (withRevisions && copied.modRevision !== modRevision))
      throw new StoreError(`${key} was not copied as it is: begin again with an empty target`)
    there.delete(key)
  }
  const [more] = [...there.keys()].filter((key) => !key.startsWith(MIGRATION_KEY))
  if (more !== undefined) throw new StoreError(`the target has ${more}, which the source has not: give an empty one`)
}

async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < items.length) await task(items[next++] as T)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function must(result: ReturnType<Storage['write']>): Promise<void> {
  if (!(await result).ok) throw new StoreError('another process writes to the target: stop it, and begin again')
}

export const halfFilledError = (marker: Uint8Array, wanted: Uint8Array): StoreError =>
  new StoreError(
    `the target is half filled from ${Buffer.from(marker)}, and this is ${Buffer.from(wanted)}: empty it, and begin again`,
  )
