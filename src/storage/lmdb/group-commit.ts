/**
 * Group commit: the writes that wait together are one transaction, with one sync to disk.
 *
 * A group is put within one tick, which makes it one transaction, and the promise awaited resolves after the data pages
 * were written and synced and then the meta page (opened for synchronous writing): with these settings no power loss
 * at any moment loses what was answered (test/faults), and a transaction is there whole or not at all. `overlappingSync`
 * would resolve before the sync; `noMetaSync` and `noSync` lose answered writes.
 */
import type { Database, RootDatabase } from 'lmdb'
import type { Clock } from '../../base/clock.ts'
import { createPatience } from '../../base/patience.ts'
import { createSlabs } from '../../base/slabs.ts'
import type { CompactionStep } from '../tables.ts'
import type { LoggedGroup } from './log-records.ts'
import { putChange } from './put-change.ts'
import { encodeEntry, expiryKey, revisionKey } from './records.ts'

export const STATE_KEY = Buffer.from('state')

/** After so many groups during which nothing came writes are taken to come one by one … */
const CALM_GROUPS = 8
/** … but once in so many another thread writes, so that it is seen whether others come meanwhile. */
const LOOK_EVERY = 16

/**
 * What such a write may take on the average. In place it saves a tenth of a millisecond or two of waking another thread, and
 * all other calls wait for it meanwhile.
 */
const QUICK_MS = 2

export type LmdbTable = Database<Buffer, Buffer>

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>
  readonly meta: LmdbTable
  readonly changes: LmdbTable
  /** The same table, for rows that are put as they are given. */
  readonly changesAsGiven: LmdbTable
  readonly keys: LmdbTable
  readonly expiries: LmdbTable
  readonly journal: LmdbTable
}

export interface State {
  readonly revision: number
  readonly compactedRevision: number
  readonly sweptRevision: number
}

function encodeState({ revision, compactedRevision, sweptRevision }: State): Buffer {
  return Buffer.concat([revision, compactedRevision, sweptRevision].map(revisionKey))
}

/** What a group does to the tables. */
export interface GroupRows extends LoggedGroup {
  readonly compaction?: CompactionStep | undefined
}

export interface GroupCommit {
  /** Of the tables as they are on disk. */
  readonly revision: number
  /** Resolves once the groups are on disk, all or none. */
  commit(groups: readonly GroupRows[]): Promise<void>
  /** The same for a single write, with nothing else waiting: in place, where that is quick. */
  commitAlone(groups: readonly GroupRows[]): Promise<void>
  /** The same at once, whatever it takes. */
  commitHere(groups: readonly GroupRows[]): void
  /** The state that was read from disk after a failure. */
  reset(read: State): void
}

/** @param file with the tables as they are now */
export function createGroupCommit(file: { readonly now: Environment }, clock: Clock, initial: State): GroupCommit {
  /** As it is on disk. */
  let state = initial
  /** Rows as compressed go with their batch, and are few allocations: each costs more while V8 marks its heap (records.ts). */
  const compressed = createSlabs()
  const patience = createPatience(QUICK_MS)
  /** Groups in a row, left to another thread, during which nothing came. */
  let calm = 0
  let sinceLook = 0

  /** Gives the state that there is once they are committed. */
  function putGroups(groups: readonly GroupRows[]): { readonly next: State; readonly committed: Promise<boolean> } {
    const isPut = settled()
    let next = state
    for (const group of groups) next = putRows(group, next, isPut)
    // Always written, and last: its promise stands for all of them.
    return { next, committed: isPut(file.now.meta.put(STATE_KEY, encodeState(next))) }
  }

  function putRows(group: GroupRows, before: State, isPut: (put: Promise<boolean>) => void): State {
    const { changes, keys, expiries, journal } = file.now
    const { compaction } = group
    for (const dropped of compaction?.dropChanges ?? []) isPut(changes.remove(revisionKey(dropped)))
    for (const key of compaction?.dropKeys ?? []) isPut(keys.remove(Buffer.from(key)))
    for (const expiry of group.endedExpiries) isPut(expiries.remove(expiryKey(expiry)))
    for (const { change, row } of group.changes) {
      const { key, revision, createRevision, value } = change
      isPut(putChange(file.now, revision, row, compressed))
      const entry = { modRevision: revision, createRevision, deleted: value === undefined }
      isPut(keys.put(Buffer.from(key), encodeEntry(entry)))
    }
    for (const expiry of group.newExpiries) isPut(expiries.put(expiryKey(expiry), Buffer.from(expiry.key)))
    const { journal: added } = group
    if (added !== undefined) {
      // A row with entries that stay is kept whole until they go.
      if (added.droppedUpTo > 0) {
        const dropped = journal.getKeys({ end: revisionKey(added.droppedUpTo + 1) }).map((key) => Buffer.from(key))
        for (const key of [...dropped]) isPut(journal.remove(key))
      }
      isPut(journal.put(revisionKey(added.revision), added.row))
    }
    return {
      revision: group.changes.at(-1)?.change.revision ?? before.revision,
      compactedRevision: compaction?.compactedRevision ?? before.compactedRevision,
      sweptRevision: compaction?.sweptRevision ?? before.sweptRevision,
    }
  }

  async function commit(groups: readonly GroupRows[]): Promise<void> {
    const { next, committed } = putGroups(groups)
    await committed
    state = next
  }

  function commitHere(groups: readonly GroupRows[]): void {
    state = file.now.root.transactionSync(() => putGroups(groups).next)
  }

  return {
    get revision() {
      return state.revision
    },
    async commit(groups) {
      calm = 0
      await commit(groups)
    },
    // What such a write would otherwise wait for is, above all, another thread.
    async commitAlone(groups) {
      const began = clock.monotonic()
      sinceLook = (sinceLook + 1) % LOOK_EVERY
      if (calm >= CALM_GROUPS && sinceLook > 0 && patience.isQuick) commitHere(groups)
      else {
        calm++
        await commit(groups)
      }
      patience.took(clock.monotonic() - began)
    },
    commitHere,
    reset(read) {
      state = read
    },
  }
}

/** Of a group's many promises one is awaited: the others fail with it, and are to be no unhandled rejections. */
function settled(): (put: Promise<boolean>) => Promise<boolean> {
  let last: Promise<boolean> | undefined
  const ignore = () => {}
  return (put) => {
    if (put !== last) {
      last = put
      put.catch(ignore)
    }
    return put
  }
}
