/**
 * What a driver gives to the engine: etcd's two tables (revision → change, key → revisions; here the newest revision of
 * a key, each change pointing to the one before it) and one of expiries. Reads are synchronous and see only what was
 * flushed; everything above (compare-and-swap, groups, watches, compaction) is the engine's.
 */
import type { JournalAddition, JournalEntry } from './journal.ts'

export interface KeyEntry {
  readonly modRevision: number
  /** Revision of the write that made the key. */
  readonly createRevision: number
  /** The newest change is a delete; the entry stays for reads of older revisions until compaction. */
  readonly deleted: boolean
}

export interface KeyChange {
  readonly revision: number
  readonly key: string
  readonly createRevision: number
  /** Revision of the change of this key before this one, deletes included; 0 when there is none. */
  readonly previousRevision: number
  /** undefined: the key was deleted. */
  readonly value: Uint8Array | undefined
}

/** A change without its value. */
export interface ChangeHead extends Pick<KeyChange, 'revision' | 'key' | 'previousRevision'> {
  readonly isDelete: boolean
}

/** The key is to be deleted at `expiresAt` (milliseconds) if `revision` is still its newest. */
export interface Expiry {
  readonly expiresAt: number
  readonly revision: number
  readonly key: string
}

/** What becomes durable together, all or nothing; applied in the order of the fields. */
export interface Group {
  /** Whether some of it had to wait for the group before: its writers are several. */
  readonly hasWaited: boolean
  readonly compaction: CompactionStep | undefined
  readonly endedExpiries: readonly Expiry[]
  /** In revision order, without gaps, following the newest flushed. */
  readonly changes: readonly KeyChange[]
  readonly newExpiries: readonly Expiry[]
  /** Absent where the group has nothing for the journal. */
  readonly journal?: JournalStep
}

export interface JournalStep {
  /** In revision order, newer than all there are. */
  readonly added: readonly JournalAddition[]
  /** Revisions of the oldest entries. */
  readonly dropped: readonly number[]
}

export interface CompactionStep {
  /** History up to and including this revision is given up. */
  readonly compactedRevision: number
  /** Changes up to and including this revision have been looked at. */
  readonly sweptRevision: number
  readonly dropChanges: readonly number[]
  readonly dropKeys: readonly string[]
}

export interface Tables {
  /** As found when opened. A new store is at revision 1, as etcd's. */
  readonly initial: {
    readonly revision: number
    readonly compactedRevision: number
    readonly sweptRevision: number
  }
  entry(key: string): KeyEntry | undefined
  change(revision: number): KeyChange | undefined
  /** Keys k with start <= k < end in order, deleted ones included. Consume before anything is awaited. */
  entries(start: string, end: string): Iterable<readonly [key: string, entry: KeyEntry]>
  /** Changes with after < revision <= upTo that compaction left, in order. Consume before anything is awaited. */
  changes(after: number, upTo: number): Iterable<KeyChange>
  /** The same without their values, which compaction does not ask for. */
  changeHeads(after: number, upTo: number): Iterable<ChangeHead>
  /** Expiries in the order of their time. */
  expiries(): Iterable<Expiry>
  /** Entries of the journal after a revision, in order. Consume before anything is awaited. */
  journal(after: number): Iterable<JournalEntry>
  /** Whether a flush is done in place now, so that what comes in one turn had better be one group. Absent: it never is. */
  readonly isInPlace?: boolean
  /**
   * Resolves when the group is durable. Called again only after that. A rejection means that the state is unknown, and a
   * NoRoomError that it may be found out.
   */
  flush(group: Group): Promise<void>
  /**
   * After a flush found no room: reads anew what is on disk. Gives its revision: that before the group or that of its end.
   * @throws what a store throws that cannot be opened
   */
  reload?(): Promise<number>
  /**
   * Makes sure that there is room for so many bytes more. `isFreed`: there may be some within the store, which was compacted.
   * @throws NoRoomError where there is none yet
   */
  makeRoom?(bytes: number, isFreed: boolean): Promise<void>
  /** Bytes of disk. Absent where it takes none. */
  size?(): number
  close(): Promise<void>
}

/** The key that follows every key with this prefix: for ranges. */
export function prefixEnd(prefix: string): string {
  if (prefix === '') return '\u{10ffff}'
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
