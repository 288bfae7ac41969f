/** What is told of the log of changes: pushed to subscribers within the commit, or read a page at a time. */
import type { Runtime } from '../base/runtime.ts'
import { CompactedError, type HistoryEvent, type StorageEvent, type StorageSubscriber } from './storage.ts'
import type { KeyChange, Tables } from './tables.ts'

/** Changes read from history at once. */
const BATCH = 500

export function createWatches(
  runtime: Runtime,
  tables: Tables,
  state: () => { readonly durable: number; readonly compacted: number },
) {
  const subscribers = new Set<{ readonly prefix: string; readonly subscriber: StorageSubscriber }>()

  function checkStart(afterRevision: number): void {
    const { compacted } = state()
    if (afterRevision < compacted) throw new CompactedError(compacted)
  }

  function eventOf(change: KeyChange): HistoryEvent {
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
  function readHistory(prefix: string, after: number): { events: HistoryEvent[]; last: number } {
    const events: HistoryEvent[] = []
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
    publish(changes: readonly KeyChange[]): void {
      const events = changes.map(eventOf)
      const { durable } = state()
      for (const { prefix, subscriber } of [...subscribers]) {
        deliver(subscriber, prefix === '' ? events : events.filter(({ key }) => key.startsWith(prefix)), durable)
      }
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

    fail(error: unknown): void {
      for (const { subscriber } of [...subscribers]) subscriber.failed?.(error)
      subscribers.clear()
    },

    close(): void {
      subscribers.clear()
    },
  }
}
