/**
 * Values changed on their way to the disk and back (encryption at rest). Everything above sees plain values; a value this
 * process wrote comes back as the very bytes that were given, so it is not parsed again.
 */
import type { HistoryEvent, KeyValue, Storage, StorageEvent } from './storage.ts'

export interface Transformer {
  /** What to store for `plain`; the same bytes where the key's values are stored as they are. */
  encode(key: string, plain: Uint8Array): Uint8Array
  /** Whether encode would store the value in another form today. */
  isStale(key: string, stored: Uint8Array): boolean
  /** @throws when the value cannot be read back; NotDecodable where that is so although it is no longer in another form */
  decode(key: string, stored: Uint8Array): Uint8Array
  /** See Storage. */
  readonly mayBeGarbled?: boolean
}

/** The value was deciphered, if it was enciphered, and is not what is understood. */
export class NotDecodable extends Error {}

/** What the transformer cannot decode is given as it is stored, and why (`unreadable`). */
export function transformed(storage: Storage, transformer: Transformer): Storage {
  const own = new WeakMap<Uint8Array, Uint8Array>()
  /** The value, in its plain form where it has one. */
  const plain = (key: string, stored: Uint8Array): Pick<KeyValue, 'value' | 'unreadable'> => {
    const known = own.get(stored)
    if (known !== undefined) return { value: known }
    try {
      return { value: transformer.decode(key, stored) }
    } catch (error) {
      return { value: stored, unreadable: error instanceof Error ? error : new Error(String(error)) }
    }
  }
  const item = (found: KeyValue): KeyValue => ({ ...found, ...plain(found.key, found.value) })
  // Field by field: one that is read when asked for, as the value before, is not asked for here.
  const event = ({ type, key, revision, value }: StorageEvent): StorageEvent =>
    value === undefined ? { type, key, revision, value } : { type, key, revision, ...plain(key, value) }
  const past = (seen: HistoryEvent): HistoryEvent => {
    const { previous } = seen
    return { ...event(seen), previous: previous && { ...previous, ...plain(seen.key, previous.value) } }
  }
  return {
    isShared: storage.isShared,
    get mayBeGarbled() {
      return storage.mayBeGarbled === true || transformer.mayBeGarbled === true
    },
    get revision() {
      return storage.revision
    },
    get compactedRevision() {
      return storage.compactedRevision
    },
    get failure() {
      return storage.failure
    },
    async get(key, revision) {
      const found = await storage.get(key, revision)
      return { ...found, item: found.item && item(found.item) }
    },
    async range(start, end, options) {
      const found = await storage.range(start, end, options)
      return { ...found, items: found.items.map(item) }
    },
    async write(write) {
      if (write.type === 'delete') return withCurrent(await storage.write(write))
      const value = transformer.encode(write.key, write.value)
      if (value !== write.value) own.set(value, write.value)
      return withCurrent(await storage.write({ ...write, value }))
    },
    fresh: (signal) => storage.fresh(signal),
    async history(prefix, afterRevision) {
      const page = await storage.history(prefix, afterRevision)
      return { ...page, events: page.events.map(past) }
    },
    subscribe: (prefix, afterRevision, subscriber) =>
      storage.subscribe(prefix, afterRevision, {
        events: (events, revision) => subscriber.events(events.map(event), revision),
        reset: (items, revision) => subscriber.reset?.(items.map(item), revision),
        failed: (error) => subscriber.failed?.(error),
      }),
    async isStale(key) {
      const { item: found } = await storage.get(key)
      return found !== undefined && transformer.isStale(key, found.value)
    },
    ...(storage.size === undefined ? {} : { size: async () => storage.size?.() ?? 0 }),
    journal: (afterRevision) => storage.journal(afterRevision),
    compact: (revision) => storage.compact(revision),
    close: () => storage.close(),
  }

  function withCurrent(result: Awaited<ReturnType<Storage['write']>>) {
    return result.ok || result.current === undefined ? result : { ...result, current: item(result.current) }
  }
}
