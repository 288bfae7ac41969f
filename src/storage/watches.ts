/** Watches over the log of changes: pushed to subscribers within the commit, or pulled by a reader at its own pace. */
import type { Runtime } from '../base/runtime.ts'
import { Stream, type StreamReader } from '../base/stream.ts'
import { CompactedError, type StorageEvent, type StorageSubscriber } from './storage.ts'
import type { Change, Tables } from './tables.ts'

/** Changes read from history at once. */
const BATCH = 500

export function createWatches(
  runtime: Runtime,
  tables: Tables,
  state: () => { readonly durable: number; readonly compacted: number },
) {
  const subscribers = new Set<{ readonly prefix: string; readonly subscriber: StorageSubscriber }>()
  const readers = new Set<{ wake(): void; fail(error: unknown): void }>()

  function checkStart(afterRevision: number): void {
    const { compacted } = state()
    if (afterRevision < compacted) throw new CompactedError(compacted)
  }

  function eventOf(change: Change): StorageEvent {
    return {
      type: change.value === undefined ? 'delete' : 'put',
      key: change.key,
      revision: change.revision,
      value: change.value,
      get previous() {
        const before = change.previousRevision === 0 ? undefined : tables.change(change.previousRevision)
        return before?.value === undefined ? undefined : { value: before.value, modRevision: before.revision }
      },
    }
  }

  /** Up to BATCH changes after a revision; those under the prefix as events, and the revision looked at last. */
  function readHistory(prefix: string, after: number): { events: StorageEvent[]; last: number } {
    const events: StorageEvent[] = []
    let last = after
    let count = 0
    const { durable } = state()
    for (const change of tables.changes(after, durable)) {
      if (change.key.startsWith(prefix)) events.push(eventOf(change))
      last = change.revision
      if (++count === BATCH) return { events, last }
    }
    return { events, last: Math.max(last, durable) }
  }

  function deliver(subscriber: StorageSubscriber, events: readonly StorageEvent[], revision: number): void {
    try {
      subscriber.events(events, revision)
    } catch (error) {
      runtime.log.error('a storage subscriber failed', error)
    }
  }

  return {
    publish(changes: readonly Change[]): void {
      const events = changes.map(eventOf)
      const { durable } = state()
      for (const { prefix, subscriber } of [...subscribers]) {
        deliver(subscriber, prefix === '' ? events : events.filter(({ key }) => key.startsWith(prefix)), durable)
      }
      for (const reader of [...readers]) reader.wake()
    },

    history(prefix: string, afterRevision: number) {
      checkStart(afterRevision)
      const { events, last } = readHistory(prefix, afterRevision)
      return { events, revision: last }
    },

    subscribe(prefix: string, afterRevision: number, subscriber: StorageSubscriber): () => void {
      checkStart(afterRevision)
      for (let after = afterRevision; after < state().durable; ) {
        const { events, last } = readHistory(prefix, after)
        deliver(subscriber, events, last)
        after = last
      }
      const entry = { prefix, subscriber }
      subscribers.add(entry)
      return () => {
        subscribers.delete(entry)
      }
    },

    watch(prefix: string, afterRevision: number, signal: AbortSignal): StreamReader<readonly StorageEvent[]> {
      checkStart(afterRevision)
      let cursor = afterRevision
      const stream = new Stream<readonly StorageEvent[]>({ capacity: 1, signal, onClose: () => readers.delete(reader) })
      /** Fills the stream's one place when it is free. */
      const fill = () => {
        while (!stream.closed && stream.length === 0 && cursor < state().durable) {
          const { compacted } = state()
          if (cursor < compacted) return stream.close(new CompactedError(compacted))
          const { events, last } = readHistory(prefix, cursor)
          cursor = last
          if (events.length > 0) {
            stream.push(events)
            return
          }
        }
      }
      const reader = {
        wake: () => runtime.scheduler.handOver('storage watch', fill, reader),
        fail: (error: unknown) => stream.close(error),
      }
      readers.add(reader)
      if (stream.closed) readers.delete(reader)
      return {
        get closed() {
          return stream.closed
        },
        next() {
          fill()
          return stream.next()
        },
        drain() {
          fill()
          return stream.drain()
        },
        close: (error) => stream.close(error),
      }
    },

    fail(error: unknown): void {
      for (const { subscriber } of [...subscribers]) subscriber.failed?.(error)
      for (const reader of [...readers]) reader.fail(error)
      subscribers.clear()
    },

    close(): void {
      for (const reader of [...readers]) reader.fail(undefined)
      subscribers.clear()
    },
  }
}
