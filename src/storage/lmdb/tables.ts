/**
 * The lmdb driver: the engine's tables in one LMDB environment.
 *
 * A group is put within one tick, which makes it one transaction, and the promise awaited resolves after the data pages
 * were written and synced and then the meta page (opened for synchronous writing): with these settings no power loss
 * at any moment loses what was answered (test/faults), and a transaction is there whole or not at all. `overlappingSync`
 * would resolve before the sync; `noMetaSync` and `noSync` lose answered writes.
 */

import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import type { Clock } from '../../base/clock.ts'
import { isNoRoom, messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { createPatience } from '../../base/patience.ts'
import type { Runtime } from '../../base/runtime.ts'
import { NoRoomError, StoreError } from '../storage.ts'
import type { Group, Tables } from '../tables.ts'
import { checkFile } from './check.ts'
import { lockDirectory } from './lock.ts'
import {
  corrupt,
  decodeChange,
  decodeEntry,
  decodeExpiry,
  encodeChange,
  encodeEntry,
  expiryKey,
  revisionKey,
} from './records.ts'
import { createRoom } from './room.ts'

const FORMAT = 'skiff store 1'
/** Address space, not disk: the file grows as it is filled. */
const MAP_SIZE = 2 ** 38
const FORMAT_KEY = Buffer.from('format')
const STATE_KEY = Buffer.from('state')
const ROOM_KEY = Buffer.from('room')
/** At least what LMDB makes of it. */
const LOCK_BYTES = 16 << 10

/** After so many groups during which nothing came writes are taken to come one by one … */
const CALM_GROUPS = 8
/** … but once in so many another thread writes, so that it is seen whether others come meanwhile. */
const LOOK_EVERY = 16

/**
 * What such a write may take on the average. In place it saves a tenth of a millisecond or two of waking another thread, and
 * whoever else asks for something meanwhile waits for it.
 */
const QUICK_MS = 2

type Table = Database<Buffer, Buffer>

export interface LmdbOptions {
  /** Address space taken at first, in bytes; LMDB takes more when it needs it. Default 256 GiB. */
  readonly mapSize?: number
}

/** @throws StoreError */
export function openLmdbTables(
  { clock, log }: Pick<Runtime, 'clock' | 'log'>,
  dir: string,
  options: LmdbOptions = {},
): Tables {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreError(`cannot make the store's directory ${dir}: ${messageOf(error)}`, { cause: error })
  }
  const unlock = lockDirectory(dir)
  try {
    checkFile(dir)
    const tables = tablesOf(clock, log, dir, options.mapSize ?? MAP_SIZE, unlock)
    // The files are of no use when a power loss takes their names.
    syncDirectory(dir)
    syncDirectory(dirname(resolve(dir)))
    return tables
  } catch (error) {
    unlock()
    if (error instanceof StoreError) throw error
    const { code } = error as { code?: unknown }
    if (isNoRoom(error) || NO_ROOM_CODES.has(code)) {
      throw new StoreError(`the store in ${dir} cannot be opened: its disk has no room (${messageOf(error)})`, {
        cause: error,
      })
    }
    throw corrupt(messageOf(error), error)
  }
}

function syncDirectory(dir: string): void {
  const directory = openSync(dir, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>
  readonly meta: Table
  readonly changes: Table
  readonly keys: Table
  readonly expiries: Table
}

function openEnvironment(dir: string, mapSize: number): Environment {
  const root = open<Buffer, Buffer>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    noMemInit: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize,
    maxDbs: 8,
  })
  const table = (name: string): Table =>
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' })
  // Each turn's writes begin with a promise of their own, which nobody gets to see: its failure is the group's.
  const ignore = () => {}
  root.on('beforecommit', () => void Promise.resolve().then(() => root.committed.then(ignore, ignore)))
  return { root, meta: table('meta'), changes: table('changes'), keys: table('keys'), expiries: table('expiries') }
}

function tablesOf(clock: Clock, log: Logger, dir: string, mapSize: number, unlock: () => void): Tables {
  reserveLockFile(dir)
  const { root, meta, changes, keys, expiries } = openEnvironment(dir, mapSize)
  const initial = readState(meta, changes, keys)
  /** As it is on disk. */
  let state = initial
  const room = createRoom(log, join(dir, 'data.mdb'), mapSize)
  const patience = createPatience(QUICK_MS)
  /** Groups in a row, left to another thread, during which nothing came. */
  let calm = 0
  let sinceLook = 0

  /** Gives the state that there is once it is committed. */
  function putGroup(group: Group): { readonly next: State; readonly committed: Promise<boolean> } {
    const { compaction } = group
    const isPut = settled()
    for (const dropped of compaction?.dropChanges ?? []) isPut(changes.remove(revisionKey(dropped)))
    for (const key of compaction?.dropKeys ?? []) isPut(keys.remove(Buffer.from(key)))
    for (const expiry of group.endedExpiries) isPut(expiries.remove(expiryKey(expiry)))
    for (const change of group.changes) {
      const { key, createRevision, value } = change
      isPut(changes.put(revisionKey(change.revision), encodeChange(change)))
      const entry = { modRevision: change.revision, createRevision, deleted: value === undefined }
      isPut(keys.put(Buffer.from(key), encodeEntry(entry)))
    }
    for (const expiry of group.newExpiries) isPut(expiries.put(expiryKey(expiry), Buffer.from(expiry.key)))
    const next = {
      revision: group.changes.at(-1)?.revision ?? state.revision,
      compactedRevision: compaction?.compactedRevision ?? state.compactedRevision,
      sweptRevision: compaction?.sweptRevision ?? state.sweptRevision,
    }
    // Always written, and last: its promise stands for the whole group.
    return { next, committed: isPut(meta.put(STATE_KEY, encodeState(next))) }
  }

  async function commit(group: Group): Promise<void> {
    const { next, committed } = putGroup(group)
    await committed
    state = next
  }

  function commitHere(group: Group): void {
    state = root.transactionSync(() => putGroup(group).next)
  }

  /** Writes that come one by one are written here: what they would otherwise wait for is, above all, another thread. */
  async function putAlone(group: Group): Promise<void> {
    const began = clock.monotonic()
    sinceLook = (sinceLook + 1) % LOOK_EVERY
    if (calm >= CALM_GROUPS && sinceLook > 0 && patience.isQuick) commitHere(group)
    else {
      calm++
      await commit(group)
    }
    patience.took(clock.monotonic() - began)
    room.make()
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
    await meta.put(ROOM_KEY, Buffer.alloc(bytes))
    await meta.remove(ROOM_KEY)
  }

  return {
    initial,
    entry(key) {
      const record = keys.get(Buffer.from(key))
      return record && decodeEntry(record)
    },
    change(at) {
      const record = changes.get(revisionKey(at))
      return record && decodeChange(at, record)
    },
    *entries(start, end) {
      for (const { key, value } of keys.getRange({ start: bound(start), end: bound(end) })) {
        yield [key.toString('utf8'), decodeEntry(value)]
      }
    },
    *changes(after, upTo) {
      const range = { start: revisionKey(after + 1), end: revisionKey(upTo + 1) }
      for (const { key, value } of changes.getRange(range)) yield decodeChange(key.readUIntBE(2, 6), value)
    },
    *expiries() {
      for (const { key, value } of expiries.getRange()) yield decodeExpiry(key, value)
    },
    async flush(group) {
      if (room.making !== undefined) await room.making
      const { hasWaited, changes, endedExpiries, compaction } = group
      const isAlone = !hasWaited && changes.length <= 1 && endedExpiries.length === 0 && compaction === undefined
      if (!isAlone) calm = 0
      try {
        if (isAlone) await putAlone(group)
        else await commit(group)
      } catch (error) {
        throw await reasonOf(await commitError(error), bytesOf(group))
      }
      // Reads from now on see it.
      root.resetReadTxn()
    },
    async reload() {
      await room.making
      // What LMDB cannot undo in memory it refuses to go on with: then the next write says so, and the store stops.
      root.resetReadTxn()
      state = readState(meta, changes, keys)
      return state.revision
    },
    async makeRoom(bytes, isFreed) {
      try {
        if (isFreed) await tryRoom(bytes)
        else await room.ensure(bytes)
      } catch (error) {
        throw await reasonOf(await commitError(error), bytes)
      }
    },
    async close() {
      try {
        await room.close()
      } finally {
        await root.close()
        unlock()
      }
    },
  }
}

const NO_ROOM_CODES: ReadonlySet<unknown> = new Set([
  constants.errno.ENOSPC,
  constants.errno.EDQUOT,
  constants.errno.EFBIG,
])

/** About what a group takes: its values, and a page for each of its rows. */
const bytesOf = ({ changes }: Group): number =>
  changes.reduce((bytes, { value }) => bytes + (value?.length ?? 0) + 4096, 64 << 10)

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

interface State {
  readonly revision: number
  readonly compactedRevision: number
  readonly sweptRevision: number
}

function encodeState({ revision, compactedRevision, sweptRevision }: State): Buffer {
  return Buffer.concat([revision, compactedRevision, sweptRevision].map(revisionKey))
}

/** Reads the state, or makes that of a new store. */
function readState(meta: Table, changes: Table, keys: Table): State {
  const format = meta.get(FORMAT_KEY)
  if (format === undefined) {
    if (keys.getKeysCount({ limit: 1 }) > 0) throw corrupt('its format record is missing')
    meta.putSync(FORMAT_KEY, Buffer.from(FORMAT))
    return { revision: 1, compactedRevision: 0, sweptRevision: 0 }
  }
  if (format.toString() !== FORMAT) {
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
