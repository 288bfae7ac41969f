/**
 * Values changed on their way to the disk and back (encryption at rest). Everything above sees plain values; a value this
 * process wrote comes back as the very bytes that were given, so it is not parsed again.
 */
import { createDeliveries } from './deliveries.ts'
import type { HistoryEvent, KeyValue, Storage, StorageEvent, Write } from './storage.ts'

export interface Transformer {
  /** What to store for `plain`; the same bytes where the key's values are stored as they are. */
  encode(key: string, plain: Uint8Array): Uint8Array
  /** Whether encode would store the value in another form today. */
  isStale(key: string, stored: Uint8Array): boolean
  /** @throws when the value cannot be read back; NotDecodable where that is so although it is no longer in another form */
  decode(key: string, stored: Uint8Array): Uint8Array
  /** See Storage. */
  readonly mayBeGarbled?: boolean
  /**
   * Makes ready what `decode` needs for these, if that has to be waited for: keys that another program holds. It never rejects, since decode
   * tells what failed; undefined: it is all there. Absent where decode never needs anything.
   */
  readonly prepare?: ((items: readonly StoredValue[]) => Promise<void> | undefined) | undefined
}

export interface StoredValue {
  readonly key: string
  readonly value: Uint8Array
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
  /** undefined where nothing has to be waited for. What this process wrote is known. */
  const prepared = (items: readonly { readonly key: string; readonly value: Uint8Array | undefined }[]) => {
    if (transformer.prepare === undefined) return undefined
    const foreign = items.filter((one): one is StoredValue => one.value !== undefined && !own.has(one.value))
    return foreign.length === 0 ? undefined : transformer.prepare(foreign)
  }
  const deliveries = createDeliveries()
  const item = (found: KeyValue): KeyValue => ({ ...found, ...plain(found.key, found.value) })
  // Field by field: one that is read when asked for, as the value before, is not asked for here.
  const event = ({ type, key, revision, value }: StorageEvent): StorageEvent =>
    value === undefined ? { type, key, revision, value } : { type, key, revision, ...plain(key, value) }
  const past = (seen: HistoryEvent, previous: HistoryEvent['previous']): HistoryEvent => ({
    ...event(seen),
    previous: previous && { ...previous, ...plain(seen.key, previous.value) },
  })
  return {
    isShared: storage.isShared,
    get mayBeGarbled() {
      return storage.mayBeGarbled === true || transformer.mayBeGarbled === true
    },
    get revision() {
      return deliveries.revision() ?? storage.revision
    },
    get compactedRevision() {
      return storage.compactedRevision
    },
    get failure() {
      return storage.failure
    },
    async get(key, revision) {
      const found = await storage.get(key, revision)
      const wait = found.item === undefined ? undefined : prepared([found.item])
      if (wait !== undefined) await wait
      return { ...found, item: found.item && item(found.item) }
    },
    async range(start, end, options) {
      const found = await storage.range(start, end, options)
      const wait = prepared(found.items)
      if (wait !== undefined) await wait
      return { ...found, items: found.items.map(item) }
    },
    async write(write) {
      const result = await storage.write(write.type === 'delete' ? write : encoded(write))
      // The writer is answered when the subscribers of this process have its event.
      const wait = result.ok ? deliveries.all() : result.current && prepared([result.current])
      if (wait !== undefined) await wait
      return result.ok || result.current === undefined ? result : { ...result, current: item(result.current) }
    },
    fresh(signal) {
      const fresh = storage.fresh(signal)
      // Deliveries wait on when what was prepared for is no longer: another configuration may have none.
      return fresh === undefined ? deliveries.all() : fresh.then(() => deliveries.all())
    },
    async history(prefix, afterRevision) {
      const page = await storage.history(prefix, afterRevision)
      // Read once: the value before is read when it is asked for.
      const events = page.events.map((seen) => ({ seen, previous: seen.previous }))
      const wait = prepared(events.flatMap(({ seen, previous }) => [seen, { key: seen.key, value: previous?.value }]))
      if (wait !== undefined) await wait
      return { ...page, events: events.map(({ seen, previous }) => past(seen, previous)) }
    },
    subscribe(prefix, afterRevision, subscriber) {
      const delivery = deliveries.begin(afterRevision)
      const end = storage.subscribe(prefix, afterRevision, {
        events: (events, revision) =>
          delivery.hand(prepared(events), revision, () => subscriber.events(events.map(event), revision)),
        reset: (items, revision) =>
          delivery.hand(prepared(items), revision, () => subscriber.reset?.(items.map(item), revision)),
        failed: (error) => subscriber.failed?.(error),
      })
      return () => {
        delivery.end()
        end()
      }
    },
    async isStale(key) {
      const { item: found } = await storage.get(key)
      return found !== undefined && transformer.isStale(key, found.value)
    },
    ...(storage.size === undefined ? {} : { size: async () => storage.size?.() ?? 0 }),
    ...(storage.faults === undefined ? {} : { faults: async () => storage.faults?.() ?? [] }),
    journal: (afterRevision) => storage.journal(afterRevision),
    compact: (revision) => storage.compact(revision),
    close: () => storage.close(),
  }

  function encoded(write: Extract<Write, { type: 'put' }>): Write {
    const value = transformer.encode(write.key, write.value)
    if (value !== write.value) own.set(value, write.value)
    return { ...write, value }
  }
}
