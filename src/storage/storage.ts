/**
 * storage: bytes in, bytes out, in etcd's model (docs/architecture.md). Keys are /registry/…, values are opaque, every
 * write gets the next cluster-wide revision. Knows nothing of objects.
 *
 * Guarantees every driver gives (contract.ts tests them): a write's promise resolves only after the write is durable and
 * after its event was handed to the subscribers of this process; writes to one key take effect in the order of their calls in
 * this process; revisions never go back; a compare that fails tells nothing that is not durable; `failure` says why writes
 * are refused until the store can write again.
 *
 * A store may be shared: other processes write to it too. Then this process sees their writes later than their writers are
 * answered, and a reader that must miss none of them asks `fresh` first.
 */

import type { StoreImage } from './image.ts'
import type { JournalEntry, JournalText } from './journal.ts'

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** Revision of the last write to the key. */
  readonly modRevision: number
  readonly createRevision: number
  /** Why what is stored cannot be given back as it was written (see transform.ts): `value` is then as it is stored. */
  readonly unreadable?: Error
}

export interface StorageEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** put: the new value; delete: undefined. */
  readonly value: Uint8Array | undefined
  /** Of the value, as of a KeyValue's. */
  readonly unreadable?: Error
}

export interface HistoryEvent extends StorageEvent {
  /**
   * The value before this write, and its modRevision; undefined when the key was not there. Read when asked for: ask
   * before the event is older than the compaction.
   */
  readonly previous: Pick<KeyValue, 'value' | 'modRevision' | 'unreadable'> | undefined
}

export interface RangeResult {
  readonly items: readonly KeyValue[]
  /** The revision the range was read at. */
  readonly revision: number
  /** True when more keys follow the last one. */
  readonly more: boolean
  /** Keys in the range behind the last item. */
  readonly remaining: number
}

/** A key that every writer of some keys moves: what they decide by all of those keys holds only if it was not moved meanwhile. */
export interface Guard {
  readonly key: string
  /** The modRevision that it must have; 0: it must not exist. */
  readonly expectRevision: number
}

export type Write = {
  /**
   * What the journal keeps of this write, beside the keys, under the write's revision (that of the removal, with `thenDelete`). A store
   * of this process's own makes it durable with the write; a shared one within a moment after it. It is asked for when the write's turn has
   * come, together with those of the writes beside it.
   */
  readonly journal?: () => JournalText
} & (
  | {
      readonly type: 'put'
      readonly key: string
      readonly value: Uint8Array
      readonly expectRevision: number
      readonly leaseSeconds?: number
      /**
       * The key is deleted again by a later revision, which is the result's, in a commit of its own: watchers see one after the
       * other. The process may end in between, and the key stays as it was put. Where the store is this process's own no other write
       * of the key comes between. Where it is shared another process may write the key: then it stays, and the result is that of
       * the delete's failed compare.
       */
      readonly thenDelete?: boolean
      /** Of a shared store, compared and moved with the write. A store of this process's own needs none, and looks at none. */
      readonly guard?: Guard
    }
  /** expectRevision: the modRevision the key must have; 0 means the key must not exist; for delete it must exist. */
  | { readonly type: 'delete'; readonly key: string; readonly expectRevision: number }
)

export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  /** The key's durable state when the compare failed. */
  | {
      readonly ok: false
      readonly current: KeyValue | undefined
      readonly revision: number
      /** The key was as expected; the guard was not. */
      readonly guardMoved?: boolean
    }

export interface StorageSubscriber {
  /** In revision order; `revision` is the newest durable one, also when the prefix has no events of it. Must not throw. */
  events(events: readonly StorageEvent[], revision: number): void
  /**
   * A shared store gave up history that this process had not seen. `items` is all there is under the prefix, at `revision`, and
   * what was between is not told.
   */
  reset?(items: readonly KeyValue[], revision: number): void
  /** The storage has failed and will not go on. */
  failed?(error: unknown): void
}

/** Values given to write() and got from a read are shared: their bytes must not be changed. */
export interface Storage {
  /** Whether other processes write to it too. */
  readonly isShared: boolean
  /**
   * Whether what is read may be other bytes than an API server gave to write, without that being told: others may write to a shared store,
   * and a cipher without a checksum deciphers nearly anything. Default: not.
   */
  readonly mayBeGarbled?: boolean
  /** Newest durable revision that this process has seen: its subscribers were told of everything up to it. */
  readonly revision: number
  /** As far as this process knows; never more than the store has given up. */
  readonly compactedRevision: number
  /**
   * Why writes are refused: the disk has no room (NoRoomError; reads go on, and so do writes once there is room again), it has
   * failed, or the store is closed. undefined while all is well.
   */
  readonly failure: StoreError | undefined
  /**
   * Resolves when this process has seen (see `revision`) all that any process was answered before the call. undefined where that
   * is so already, because the store is this process's own.
   * @throws StoreError when the store cannot be asked, or the signal's reason
   */
  fresh(signal?: AbortSignal): Promise<void> | undefined
  /** As every read: not older than what any process was answered before the call, or at the revision asked for. */
  get(key: string, revision?: number): Promise<{ item: KeyValue | undefined; revision: number }>
  /**
   * Keys k with start <= k < end, in byte order.
   * @throws CompactedError if `revision` is below the compaction, FutureRevisionError if above the newest
   */
  range(start: string, end: string, options?: { revision?: number; limit?: number }): Promise<RangeResult>
  write(write: Write): Promise<WriteResult>
  /**
   * One page of events with revision > afterRevision under the prefix, in revision order. `revision` is the last one looked at,
   * to ask for the next page with; not below the `revision` of this store when there is no more.
   * @throws CompactedError
   */
  history(prefix: string, afterRevision: number): Promise<{ events: readonly HistoryEvent[]; revision: number }>
  /**
   * Events with revision > afterRevision under the prefix, in revision order: `subscriber.events` is called within the commit,
   * before the writer is answered. What is newer than afterRevision already comes first, before subscribe returns where the
   * store is this process's own. Returns the function that ends it.
   * @throws CompactedError
   */
  subscribe(prefix: string, afterRevision: number, subscriber: StorageSubscriber): () => void
  /**
   * The number of writes of the item's key from its creation to this revision, which etcd calls its version. Writes that were compacted do not
   * count. Absent where the store is an etcd: it tells the version with each item.
   */
  version?(item: KeyValue): number
  /** Whether the key's value is stored in another form than it would be today (another encryption key). */
  isStale?(key: string): Promise<boolean>
  /**
   * Bytes of disk: the store's file as far as it is filled, or what the member of an etcd takes that answers. One in memory has none.
   * @throws StoreError
   */
  size?(): Promise<number>
  /** A line for each fault that may not keep it from answering yet, with what to do: members of an etcd that are away, alarms. */
  faults?(): Promise<readonly string[]>
  /** All that there is now, without its history. An etcd has none: it makes snapshots of its own. */
  image?(): StoreImage
  /**
   * What writes gave to the journal, in revision order, after a revision. It survives restarts and compaction; the oldest entries go
   * where there are more than JOURNAL_BOUNDS allow.
   */
  journal(afterRevision: number): Promise<readonly JournalEntry[]>
  /** Drops history up to and including `revision` (latest values stay readable). */
  compact(revision: number): Promise<void>
  close(): Promise<void>
}

export class CompactedError extends Error {
  readonly compactedRevision: number
  constructor(compactedRevision: number) {
    super(`required revision has been compacted (compacted at ${compactedRevision})`)
    this.name = 'CompactedError'
    this.compactedRevision = compactedRevision
  }
}

export class FutureRevisionError extends Error {
  readonly current: number
  constructor(requested: number, current: number) {
    super(`required revision ${requested} is a future revision (current ${current})`)
    this.name = 'FutureRevisionError'
    this.current = current
  }
}

/** The store cannot be used: one line that says what, why, and what to do. */
export class StoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
  }
}

/** `what`: where it is damaged, and how. */
export const corrupt = (what: string, cause?: unknown): StoreError =>
  new StoreError(
    `the store is corrupt: ${what}; it was left as it is: move its directory away, then restore a backup (skiff snapshot restore) or begin anew`,
    { cause },
  )

/** A write found no room on the disk. It changed nothing, unless it is seen later; it may be tried again once there is room. */
export class NoRoomError extends StoreError {
  constructor(
    reason: string,
    options?: ErrorOptions,
    told = `the store has no room on its disk (${reason}): it takes writes again once there is some`,
  ) {
    super(told, options)
    this.name = 'NoRoomError'
  }
}
