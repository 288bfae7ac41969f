/**
 * How groups are committed: into the write-ahead log (write-ahead-log.ts), whence many together go into the tables later; into the tables at once
 * what the log has no place for, and where there is no log. A group is durable either way, and it is seen by reads either way, for reads
 * ask the groups that are not in the tables yet as well (unapplied.ts).
 *
 * The log is used only while the tables' file has room for what is logged: a disk that is full then refuses a write before it is answered,
 * never what was answered.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import { createPatience } from '../../base/patience.ts'
import type { Group, KeyChange } from '../tables.ts'
import type { Room } from './file-growth.ts'
import type { GroupCommit, GroupRows } from './group-commit.ts'
import { journalRowText } from './journal-rows.ts'
import type { Beside, JournalRowText, LoggedGroup } from './log-records.ts'
import type { MappedFile } from './mapped-file.ts'
import { encodeChanges } from './records.ts'
import type { Unapplied } from './unapplied.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** So many changes go into the tables together, at most: to put them takes the main thread a millisecond. */
const BATCH_CHANGES = 128
/** What they, and those that are logged meanwhile, may need of the tables' file. */
const BATCH_ROOM = 1 << 20
/** What was logged goes into the tables after so long at the latest, so that a start has little to do. */
const APPLY_AFTER_MS = 5000
/** A disk on which a sync takes longer, on the average, is waited for by another thread. */
const QUICK_MS = 2
/** So is the disk by a group of more changes: while it syncs, the main thread handles the requests that come. */
const MOST_IN_PLACE = 32
/** After a failure the log is tried again after so many commits without it. */
const TRY_AGAIN_AFTER = 1024

const PAGE_BYTES = 4096

export interface LoggedCommit {
  /** Resolves when the group is on disk. */
  commit(group: Group): Promise<void>
  /** Whether a commit is done in place now, so that what comes in one turn had better be one group. */
  readonly isInPlace: boolean
  /** After a commit that failed: the tables were read anew, and are at this revision. Gives that of all there is on disk. */
  reset(revision: number): number
  /** Bytes that groups which are not in the tables yet may need there. */
  readonly unappliedBytes: number
  /** Resolves when nothing is written in the background, and nothing is about to be. */
  idle(): Promise<void>
  /** Brings everything into the tables, and closes the log. */
  close(): Promise<void>
}

export interface LoggedCommitParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly file: MappedFile
  readonly room: Room
  readonly commits: GroupCommit
  readonly log: WriteAheadLog
  readonly unapplied: Unapplied
}

export function createLoggedCommit(
  parts: LoggedCommitParts,
  begin: 'written' | 'start' | 'never' = 'written',
): LoggedCommit {
  const { clock, logger, file, room, commits, log, unapplied } = parts
  const patience = createPatience(QUICK_MS)
  /** A transaction, or room that is being made: one at a time. It never rejects. */
  let atWork: Promise<void> | undefined
  /** Whether the tables' file has room for what is logged. */
  let hasRoom = false
  /** A batch did not get into the tables: it goes with the next group. */
  let isStuck = false
  let isWriting = false
  let preparing: Promise<void> | undefined
  let untilTry = 0
  let timer: Timer | undefined
  let isClosed = false

  const isUsable = () => log.isReady && hasRoom && !isStuck

  function inBackground(work: () => Promise<void>): void {
    const done = work()
      .catch((error) => {
        isStuck = true
        logger.error('the store could not bring its log into its tables yet', error)
      })
      .finally(() => {
        if (atWork === done) atWork = undefined
      })
    atWork = done
  }

  async function makeRoom(): Promise<void> {
    try {
      await room.ensure(2 * BATCH_ROOM)
      hasRoom = true
    } catch {
      // A writer is told so when the tables themselves find none.
      hasRoom = false
      untilTry = TRY_AGAIN_AFTER
    }
  }

  /** After a transaction: it has taken room, and a store that nothing is written to needs no log. */
  function prepare(): void {
    hasRoom = false
    if (begin === 'never' || isClosed || preparing !== undefined || untilTry-- > 0) return
    if (log.isReady) {
      inBackground(makeRoom)
      return
    }
    preparing = log
      .prepare()
      .then(() => {
        if (!isClosed && !isWriting && atWork === undefined) inBackground(makeRoom)
      })
      .catch((error) => {
        untilTry = TRY_AGAIN_AFTER
        logger.error('the store has no log: writes take longer', error)
      })
      .finally(() => {
        preparing = undefined
      })
  }

  /** What is in the tables now is read there. */
  function written(groups: readonly GroupRows[]): void {
    file.touched(bytesOfRows(groups))
    file.now.root.resetReadTxn()
  }

  async function applyOldest(): Promise<void> {
    await room.making
    const groups = unapplied.groups('oldest')
    await commits.commit(groups)
    written(groups)
    unapplied.dropOldest()
    await file.renew()
    await makeRoom()
  }

  /** What is logged from now on is another batch, in the other file; the one before goes into the tables. */
  async function turn(): Promise<void> {
    // At once where nothing is waited for: no record may come between.
    if (atWork !== undefined) await atWork
    if (!isUsable()) return
    unapplied.beginBatch()
    log.turn()
    inBackground(applyOldest)
  }

  function applyLater(): void {
    timer ??= clock.setTimer(APPLY_AFTER_MS, 'storage apply', () => {
      timer = undefined
      if (isClosed || isStuck || unapplied.firstRevision === undefined) return
      if (isWriting || atWork !== undefined || !isUsable()) return applyLater()
      void turn()
    })
  }

  /** As records of the log have to be: a store that is filled out of another leaves revisions out. */
  function isNext(changes: readonly KeyChange[]): boolean {
    const before = unapplied.lastRevision ?? commits.revision
    return changes[0]?.revision === before + 1 && changes.at(-1)?.revision === before + changes.length
  }

  async function logged(group: Group, beside: Beside): Promise<LoggedGroup | undefined> {
    const { changes } = group
    if (log.isReady && !hasRoom && atWork !== undefined) await atWork
    if (!isUsable() || changes.length === 0 || changes.length > BATCH_CHANGES) return undefined
    if (group.compaction !== undefined || !isNext(changes)) return undefined
    if (unapplied.batchChanges + changes.length > BATCH_CHANGES) await turn()
    if (!isUsable()) return undefined
    let made = log.encode(changes, beside)
    if (made === undefined && unapplied.batchChanges > 0) {
      await turn()
      if (!isUsable()) return undefined
      made = log.encode(changes, beside)
    }
    if (made === undefined) return undefined
    const began = clock.monotonic()
    try {
      if (patience.isQuick && changes.length <= MOST_IN_PLACE) log.writeHere()
      else await log.write()
    } catch (error) {
      logger.error('the log of the store could not be written', error)
      log.close()
      untilTry = TRY_AGAIN_AFTER
      return undefined
    }
    patience.took(clock.monotonic() - began)
    return made
  }

  async function commitToTables(group: Group, beside: Beside): Promise<void> {
    await atWork
    await room.making
    const { compaction, changes, endedExpiries, hasWaited } = group
    const journal = beside.journal && { ...beside.journal, row: Buffer.from(beside.journal.text) }
    const encoded = encodeChanges(changes)
    const rows = changes.map((change, at) => ({ change, row: encoded[at] as Buffer }))
    const own = { ...beside, journal, changes: rows, compaction }
    const groups = [...unapplied.groups('all'), own]
    const isAlone = !hasWaited && changes.length <= 1 && endedExpiries.length === 0 && compaction === undefined
    try {
      if (isAlone) await commits.commitAlone(groups)
      else await commits.commit(groups)
    } catch (error) {
      // What is logged goes with the next group that finds room.
      isStuck = true
      throw error
    }
    written(groups)
    unapplied.clear()
    log.restart()
    isStuck = false
    await file.renew()
    if (isAlone && !log.isReady) room.make()
    prepare()
  }

  async function idle(): Promise<void> {
    while (preparing !== undefined || atWork !== undefined) {
      await preparing
      await atWork
    }
  }

  if (begin === 'start') prepare()

  return {
    async commit(group) {
      isWriting = true
      try {
        const beside = besideOf(group)
        const made = await logged(group, beside)
        if (made === undefined) return await commitToTables(group, beside)
        unapplied.add(made)
        applyLater()
        // What was read since the last transaction.
        if (atWork === undefined) await file.renew()
      } finally {
        isWriting = false
      }
    },
    get isInPlace() {
      return isUsable() && patience.isQuick
    },
    reset(revision) {
      const last = unapplied.lastRevision ?? revision
      if (revision < last) return last
      unapplied.clear()
      log.restart()
      isStuck = false
      return revision
    },
    get unappliedBytes() {
      return bytesOfRows(unapplied.groups('all'))
    },
    idle,
    async close() {
      isClosed = true
      timer?.cancel()
      await idle()
      try {
        const groups = unapplied.groups('all')
        await room.making
        if (groups.length > 0) await commits.commit(groups)
        unapplied.clear()
      } catch (error) {
        logger.error('the store could not bring its log into its tables: the next start does', error)
      } finally {
        log.close()
      }
    },
  }
}

function besideOf({ newExpiries, endedExpiries, journal }: Group): Beside {
  return { newExpiries, endedExpiries, journal: journal && journalRow(journal) }
}

function journalRow({ added, dropped }: NonNullable<Group['journal']>): JournalRowText | undefined {
  const newest = added.at(-1)
  if (newest === undefined) return undefined
  return { revision: newest.revision, text: journalRowText(added), droppedUpTo: dropped.at(-1) ?? 0 }
}

/** Its values, and a page for each of its rows. */
export function bytesOfRows(groups: readonly GroupRows[]): number {
  let bytes = PAGE_BYTES
  for (const { changes } of groups) for (const { row } of changes) bytes += row.length + PAGE_BYTES
  return bytes
}
