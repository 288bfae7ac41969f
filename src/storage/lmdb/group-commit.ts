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
import type { Group } from '../tables.ts'
import { encodeJournalRow } from './journal-rows.ts'
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

export interface GroupCommit {
  /** Resolves once the group is on disk: true when it was a single write, with nothing else waiting. */
  commit(group: Group): Promise<boolean>
  /** The state that was read from disk after a failure. */
  reset(read: State): void
}

/** @param file with the tables as they are now */
export function createGroupCommit(file: { readonly now: Environment }, clock: Clock, initial: State): GroupCommit {
  /** As it is on disk. */
  let state = initial
  const patience = createPatience(QUICK_MS)
  /** Groups in a row, left to another thread, during which nothing came. */
  let calm = 0
  let sinceLook = 0

  /** Gives the state that there is once it is committed. */
  function putGroup(group: Group): { readonly next: State; readonly committed: Promise<boolean> } {
    const { meta, changes, keys, expiries, journal } = file.now
    const { compaction } = group
    const isPut = settled()
    for (const dropped of compaction?.dropChanges ?? []) isPut(changes.remove(revisionKey(dropped)))
    for (const key of compaction?.dropKeys ?? []) isPut(keys.remove(Buffer.from(key)))
    for (const expiry of group.endedExpiries) isPut(expiries.remove(expiryKey(expiry)))
    for (const change of group.changes) {
      const { key, createRevision, value } = change
      isPut(putChange(file.now, change))
      const entry = { modRevision: change.revision, createRevision, deleted: value === undefined }
      isPut(keys.put(Buffer.from(key), encodeEntry(entry)))
    }
    for (const expiry of group.newExpiries) isPut(expiries.put(expiryKey(expiry), Buffer.from(expiry.key)))
    const { added = [], dropped = [] } = group.journal ?? {}
    const lastDropped = dropped.at(-1)
    // A row with entries that stay is kept whole until they go.
    if (lastDropped !== undefined) {
      const keys = [...journal.getKeys({ end: revisionKey(lastDropped + 1) }).map((key) => Buffer.from(key))]
      for (const key of keys) isPut(journal.remove(key))
    }
    const newest = added.at(-1)
    if (newest !== undefined) isPut(journal.put(revisionKey(newest.revision), encodeJournalRow(added)))
    const next = {
      revision: group.changes.at(-1)?.revision ?? state.revision,
      compactedRevision: compaction?.compactedRevision ?? state.compactedRevision,
      sweptRevision: compaction?.sweptRevision ?? state.sweptRevision,
    }
    // Always written, and last: its promise stands for the whole group.
    return { next, committed: isPut(meta.put(STATE_KEY, encodeState(next))) }
  }

  async function commitElsewhere(group: Group): Promise<void> {
    const { next, committed } = putGroup(group)
    await committed
    state = next
  }

  function commitHere(group: Group): void {
    state = file.now.root.transactionSync(() => putGroup(group).next)
  }

  /** Writes that come one by one are written here: what they would otherwise wait for is, above all, another thread. */
  async function putAlone(group: Group): Promise<void> {
    const began = clock.monotonic()
    sinceLook = (sinceLook + 1) % LOOK_EVERY
    if (calm >= CALM_GROUPS && sinceLook > 0 && patience.isQuick) commitHere(group)
    else {
      calm++
      await commitElsewhere(group)
    }
    patience.took(clock.monotonic() - began)
  }

  return {
    async commit(group) {
      const { hasWaited, changes: writes, endedExpiries, compaction } = group
      const isAlone = !hasWaited && writes.length <= 1 && endedExpiries.length === 0 && compaction === undefined
      if (!isAlone) calm = 0
      if (isAlone) await putAlone(group)
      else await commitElsewhere(group)
      return isAlone
    },
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
