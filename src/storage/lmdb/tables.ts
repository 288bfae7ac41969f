/** The lmdb driver: the engine's tables in one LMDB environment, written in groups (group-commit.ts). */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { isNoRoom, messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import type { Runtime } from '../../base/runtime.ts'
import { syncDirectory } from '../../base/sync-directory.ts'
import { corrupt, NoRoomError, StoreError } from '../storage.ts'
import type { Group, Tables } from '../tables.ts'
import { checkFile } from './check.ts'
import { createRoom } from './file-growth.ts'
import {
  createGroupCommit,
  type Environment,
  type GroupCommit,
  type LmdbTable,
  STATE_KEY,
  type State,
} from './group-commit.ts'
import { decodeJournalRow } from './journal-rows.ts'
import { lockDirectory } from './lock.ts'
import { createLoggedCommit } from './logged-commit.ts'
import { type MappedFile, mapFile } from './mapped-file.ts'
import { decodeChange, decodeChangeHead, decodeEntry, revisionKey } from './records.ts'
import { compareKeys, createUnapplied } from './unapplied.ts'
import { createWriteAheadLog, firstRevisionOf, readWriteAheadLog } from './write-ahead-log.ts'

const FORMAT = 'skiff store 3'
/** The second has no log, the first nothing that is compressed either. This version reads them, and goes on in its own format. */
const FORMATS_BEFORE: readonly string[] = ['skiff store 2', 'skiff store 1']
/** Address space, not disk: the file grows as it is filled. */
const MAP_SIZE = 2 ** 38
/** About what stays resident of the map. To map anew takes a millisecond or two. */
const MOST_TOUCHED = 16 * 2 ** 20
const FORMAT_KEY = Buffer.from('format')
const ROOM_KEY = Buffer.from('room')
/** At least what LMDB makes of it. */
const LOCK_BYTES = 16 << 10

export interface LmdbOptions {
  /** Address space taken at first, in bytes; LMDB takes more when it needs it. Default 256 GiB. */
  readonly mapSize?: number
  /** Bytes that are read or written before the file is mapped anew. Default 16 MiB. */
  readonly mostTouched?: number
  /** When it gets a log: once something was written, at the start, or never. Default: written. */
  readonly log?: 'written' | 'start' | 'never'
}

/** @throws StoreError */
export function openLmdbTables(
  { machineClock: clock, log }: Pick<Runtime, 'machineClock' | 'log'>,
  dir: string,
  options: LmdbOptions = {},
): Tables {
  try {
    makeDirectory(dir)
  } catch (error) {
    throw new StoreError(`cannot make the store's directory ${dir}: ${messageOf(error)}`, { cause: error })
  }
  const unlock = lockDirectory(dir)
  try {
    checkFile(dir)
    const tables = tablesOf(clock, log, dir, options, unlock)
    // The files are of no use when a power loss takes their names.
    syncDirectory(dir)
    syncDirectory(dirname(resolve(dir)))
    return tables
  } catch (error) {
    unlock()
    if (error instanceof StoreError) throw error
    const { code } = error as { code?: unknown }
    const cannot = `the store in ${dir} cannot be opened`
    if (isNoRoom(error) || NO_ROOM_CODES.has(code))
      throw new StoreError(`${cannot}: its disk has no room (${messageOf(error)})`, { cause: error })
    // LMDB's own codes are below zero.
    if (typeof code === 'string' || (typeof code === 'number' && code > 0))
      throw new StoreError(`${cannot}: ${messageOf(error)}`, { cause: error })
    throw corrupt(messageOf(error), error)
  }
}

function tablesOf(clock: Clock, log: Logger, dir: string, options: LmdbOptions, unlock: () => void): Tables {
  reserveLockFile(dir)
  const { mapSize = MAP_SIZE, mostTouched = MOST_TOUCHED } = options
  const file = mapFile(dir, mapSize, mostTouched)
  const { found, commits } = stateOf()
  const initial = { ...found, revision: commits.revision }
  const room = createRoom(log, join(dir, 'data.mdb'), mapSize)
  const unapplied = createUnapplied()
  const wal = createWriteAheadLog(dir)
  const logged = createLoggedCommit({ clock, logger: log, file, room, commits, log: wal, unapplied }, options.log)

  /** With what the log has. @throws what a store throws that cannot be opened, and leaves nothing open */
  function stateOf() {
    try {
      const found = readState(file.now)
      const commits = createGroupCommit(file, clock, found)
      applyLog(log, dir, commits)
      return { found, commits }
    } catch (error) {
      file.close().catch(() => {})
      throw error
    }
  }

  /** Whether it was for want of room. */
  async function reasonOf(error: unknown, bytes: number): Promise<unknown> {
    const { code } = error as { code?: unknown }
    if (isNoRoom(error) || NO_ROOM_CODES.has(code)) return new NoRoomError(messageOf(error), { cause: error })
    // LMDB says so too of a write of which the disk took only the beginning.
    if (code !== constants.errno.EIO) return error
    const refusal = await room.refusal(bytes)
    return isNoRoom(refusal) ? new NoRoomError(messageOf(refusal), { cause: error }) : error
  }

  /** What was put and removed again leaves its pages to be used. */
  async function tryRoom(bytes: number): Promise<void> {
    await file.now.meta.put(ROOM_KEY, Buffer.alloc(bytes))
    await file.now.meta.remove(ROOM_KEY)
  }

  /** The tables may have some of what is unapplied already: it is read once. */
  const inTables = (revision: number) => Math.min(revision, (unapplied.firstRevision ?? MAX_REVISION + 1) - 1)

  return {
    initial,
    entry(key) {
      const logged = unapplied.entry(key)
      if (logged !== undefined) return logged
      const record = recordOf(file.now.keys, Buffer.from(key))
      return record && decodeEntry(record)
    },
    change(at) {
      const logged = unapplied.change(at)
      if (logged !== undefined) return logged
      const record = recordOf(file.now.changes, revisionKey(at))
      file.touched(PAGE_BYTES)
      return record && decodeChange(at, record)
    },
    *entries(start, end) {
      const logged = unapplied.entries(start, end)
      let next = 0
      const range = { start: bound(start), end: bound(end) }
      for (const { key, value } of file.reading(({ keys }) => keys.getRange(range))) {
        file.touched(key.length + value.length)
        const text = key.toString('utf8')
        for (
          let before = logged[next];
          before !== undefined && compareKeys(before[0], text) < 0;
          before = logged[++next]
        )
          yield before
        const newer = logged[next]
        if (newer?.[0] === text) {
          next++
          yield newer
        } else yield [text, decodeEntry(value)]
      }
      yield* logged.slice(next)
    },
    *changes(after, upTo) {
      for (const [revision, record] of recordsOf(file, after, inTables(upTo))) yield decodeChange(revision, record)
      yield* unapplied.changes(after, upTo)
    },
    *changeHeads(after, upTo) {
      for (const [revision, record] of recordsOf(file, after, inTables(upTo))) yield decodeChangeHead(revision, record)
      yield* unapplied.heads(after, upTo)
    },
    *expiries() {
      yield* unapplied.expiries(file.reading(({ expiries }) => expiries.getRange()))
    },
    *journal(after) {
      const logged = unapplied.journal()
      const gone = Math.max(0, ...logged.map(({ droppedUpTo }) => droppedUpTo))
      const first = Math.max(after, gone) + 1
      const range = { start: revisionKey(first), end: revisionKey(inTables(MAX_REVISION - 1) + 1) }
      for (const { key, value } of file.reading(({ journal }) => journal.getRange(range)))
        for (const entry of decodeJournalRow(key.readUIntBE(2, 6), value)) if (entry.revision > after) yield entry
      for (const { revision, row } of logged)
        if (revision >= first)
          for (const entry of decodeJournalRow(revision, row)) if (entry.revision > after) yield entry
    },
    get isInPlace() {
      return logged.isInPlace
    },
    async flush(group) {
      try {
        await logged.commit(group)
      } catch (error) {
        throw await reasonOf(await commitError(error), bytesOf(group) + logged.unappliedBytes)
      }
    },
    async reload() {
      await logged.idle()
      await room.making
      // What LMDB cannot undo in memory it refuses to go on with: then the next write says so, and the store stops.
      file.now.root.resetReadTxn()
      const state = readState(file.now)
      commits.reset(state)
      return logged.reset(state.revision)
    },
    async makeRoom(bytes, isFreed) {
      await logged.idle()
      try {
        const all = bytes + logged.unappliedBytes
        if (isFreed) await tryRoom(all)
        else await room.ensure(all)
      } catch (error) {
        throw await reasonOf(await commitError(error), bytes)
      }
    },
    size() {
      const { lastPageNumber, pageSize } = file.now.root.getStats() as { lastPageNumber: number; pageSize: number }
      return (lastPageNumber + 1) * pageSize
    },
    async close() {
      try {
        await logged.close()
        await room.close()
      } finally {
        await file.close()
        unlock()
      }
    },
  }
}

/**
 * What is there under a key, until the next read. A copy of its own for each record would be memory outside of the heap, and what
 * asks for much of that makes V8 collect garbage all the time.
 */
function recordOf(table: LmdbTable, key: Buffer): Buffer | undefined {
  const shared = table.getBinaryFast(key)
  return shared && Buffer.from(shared.buffer, shared.byteOffset, shared.length)
}

function* recordsOf(
  file: MappedFile,
  after: number,
  upTo: number,
): Generator<readonly [revision: number, record: Buffer]> {
  const range = { start: revisionKey(after + 1), end: revisionKey(upTo + 1) }
  for (const key of file.reading(({ changes }) => changes.getKeys(range))) {
    const record = recordOf(file.now.changes, key)
    if (record === undefined) continue
    file.touched(record.length)
    yield [key.readUIntBE(2, 6), record]
  }
}

const NO_ROOM_CODES: ReadonlySet<unknown> = new Set([
  constants.errno.ENOSPC,
  constants.errno.EDQUOT,
  constants.errno.EFBIG,
])

const PAGE_BYTES = 4096
/** As keys have them. */
const MAX_REVISION = 2 ** 48 - 1

/** Its values, and a page for each of its rows. */
const touchedBy = ({ changes }: Group): number =>
  changes.reduce((bytes, { value }) => bytes + (value?.length ?? 0) + PAGE_BYTES, PAGE_BYTES)

/** About what a group takes, with room to spare for pages that are divided. */
const bytesOf = (group: Group): number => touchedBy(group) + (64 << 10)

/** Brings what a process left in the log, one that was killed, into the tables. @throws StoreError where something is missing between */
function applyLog(log: Logger, dir: string, commits: GroupCommit): void {
  const found = readWriteAheadLog(dir, commits.revision)
  // It came into the log, but its write was refused, and others were given its revisions since.
  const groups = found.filter((group) => firstRevisionOf(group) > commits.revision)
  if (groups.length < found.length)
    log.info(0, 'a write that the store refused is left in its log', { revision: commits.revision })
  if (groups.length === 0) return
  let next = commits.revision + 1
  for (const group of groups) {
    if (firstRevisionOf(group) !== next) throw corrupt(`its log has no change of revision ${next}, and newer ones`)
    next += group.changes.length
  }
  commits.commitHere(groups)
}

/** LMDB maps its lock file: where the disk has no room for it, to touch it would end the process. */
function reserveLockFile(dir: string): void {
  const path = join(dir, 'lock.mdb')
  const file = openSync(path, 'a', 0o644)
  try {
    const missing = LOCK_BYTES - fstatSync(file).size
    for (let at = 0; at < missing; ) at += writeSync(file, Buffer.alloc(missing - at))
  } finally {
    closeSync(file)
  }
}

/** Reads the state, or makes that of a new store. */
function readState({ meta, changes, keys }: Environment): State {
  const format = meta.get(FORMAT_KEY)
  if (format === undefined) {
    if (keys.getKeysCount({ limit: 1 }) > 0) throw corrupt('its format record is missing')
    meta.putSync(FORMAT_KEY, Buffer.from(FORMAT))
    return { revision: 1, compactedRevision: 0, sweptRevision: 0 }
  }
  if (FORMATS_BEFORE.includes(format.toString())) meta.putSync(FORMAT_KEY, Buffer.from(FORMAT))
  else if (format.toString() !== FORMAT) {
    throw new StoreError(`the store has the format "${format.toString()}", this version reads "${FORMAT}": use another`)
  }
  const record = meta.get(STATE_KEY)
  if (record === undefined) return { revision: 1, compactedRevision: 0, sweptRevision: 0 }
  if (record.length !== 24) throw corrupt('its state record is damaged')
  const state = {
    revision: record.readUIntBE(2, 6),
    compactedRevision: record.readUIntBE(10, 6),
    sweptRevision: record.readUIntBE(18, 6),
  }
  for (const key of changes.getKeys({ reverse: true, limit: 1 })) {
    if (key.readUIntBE(2, 6) > state.revision) throw corrupt('it has changes newer than its revision')
  }
  return state
}

/** No key is longer than LMDB allows, so a bound that is (out of a forged continue token) means the same cut off. */
const bound = (key: string) => Buffer.from(key).subarray(0, MAX_KEY_BYTES)
const MAX_KEY_BYTES = 1978

/** lmdb rejects a put with an error that only promises the system's own one. */
async function commitError(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<unknown> }).commitError
    return error
  } catch (cause) {
    return cause
  }
}
