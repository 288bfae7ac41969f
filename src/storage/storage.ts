/**
 * storage: bytes in, bytes out, in etcd's model (docs/architecture.md). Keys are /registry/…, values are opaque, every
 * write gets the next cluster-wide revision. Knows nothing of objects.
 *
 * Guarantees every driver gives (contract.ts tests them): a write's promise resolves only after the write is durable and
 * after its event was handed to the watcher registered with `watch` in this process; revisions never go back; a
 * compare that fails tells nothing that is not durable; after a failed flush every queued write fails with it, and `failure`
 * says why until the store can write again.
 */
import type { StreamReader } from '../base/stream.ts'

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** Revision of the last write to the key. */
  readonly modRevision: number
  readonly createRevision: number
}

export interface StorageEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** put: the new value; delete: undefined. */
  readonly value: Uint8Array | undefined
  /**
   * The value before this write, and its modRevision; undefined when the key was not there. Read when asked for: ask
   * before the event is older than the compaction.
   */
  readonly previous: { readonly value: Uint8Array; readonly modRevision: number } | undefined
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

export type Write =
  | {
      readonly type: 'put'
      readonly key: string
      readonly value: Uint8Array
      readonly expectRevision: number
      readonly leaseSeconds?: number
      /** The key is deleted again by the next revision, which is the result's: watchers see both, and nothing comes between. */
      readonly thenDelete?: boolean
    }
  /** expectRevision: the modRevision the key must have; 0 means the key must not exist; for delete it must exist. */
  | { readonly type: 'delete'; readonly key: string; readonly expectRevision: number }

export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  /** The key's durable state when the compare failed. */
  | { readonly ok: false; readonly current: KeyValue | undefined; readonly revision: number }

export interface StorageSubscriber {
  /** In revision order; `revision` is the newest durable one, also when the prefix has no events of it. Must not throw. */
  events(events: readonly StorageEvent[], revision: number): void
  /** The storage has failed and will not go on. */
  failed?(error: unknown): void
}

/** Values given to write() and got from a read are shared: nobody may change their bytes. */
export interface Storage {
  /** Newest durable revision. */
  readonly revision: number
  readonly compactedRevision: number
  /**
   * Why writes are refused: the disk has no room (NoRoomError; reads go on, and so do writes once there is room again), it has
   * failed, or the store is closed. undefined while all is well.
   */
  readonly failure: StoreError | undefined
  get(key: string, revision?: number): Promise<{ item: KeyValue | undefined; revision: number }>
  /**
   * Keys k with start <= k < end, in byte order.
   * @throws CompactedError if `revision` is below the compaction, FutureRevisionError if above the newest
   */
  range(start: string, end: string, options?: { revision?: number; limit?: number }): Promise<RangeResult>
  write(write: Write): Promise<WriteResult>
  /**
   * Every event with revision > afterRevision under the prefix, in revision order, then live ones. Reads history as its
   * reader asks for it, so a slow reader costs no memory; one that falls behind the compaction gets CompactedError.
   * @throws CompactedError
   */
  watch(prefix: string, afterRevision: number, signal: AbortSignal): StreamReader<readonly StorageEvent[]>
  /**
   * One page of what a watch would give: events with revision > afterRevision under the prefix. `revision` is the last one
   * looked at, to ask for the next page with; equal to the newest durable one when there is no more.
   * @throws CompactedError
   */
  history(prefix: string, afterRevision: number): Promise<{ events: readonly StorageEvent[]; revision: number }>
  /**
   * As watch, but pushed: `subscriber.events` is called within the commit, before the writer is answered. What is
   * newer than afterRevision already is delivered before subscribe returns. Returns the function that ends it.
   * @throws CompactedError
   */
  subscribe(prefix: string, afterRevision: number, subscriber: StorageSubscriber): () => void
  /** Whether the key's value is stored in another form than it would be today (another encryption key). */
  isStale?(key: string): Promise<boolean>
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

/** A write found no room on the disk. It changed nothing, unless it is seen later; it may be tried again once there is room. */
export class NoRoomError extends StoreError {
  constructor(reason: string, options?: ErrorOptions) {
    super(`the store has no room on its disk (${reason}): it takes writes again once there is some`, options)
    this.name = 'NoRoomError'
  }
}
