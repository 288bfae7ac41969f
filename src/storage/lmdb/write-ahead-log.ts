/**
 * The write-ahead log: two files beside the tables, written in turn. A group is one record at the end of one of them, and one sync within a
 * file that is as long as it will be; a transaction of the tables takes two syncs, and writes a dozen pages for a single row. While the
 * groups of one file are brought into the tables, the other is written; a file whose groups are there is written from its beginning
 * again. What is in it then of old groups is told by their revisions: the tables have them.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstat,
  fsync,
  open,
  readFileSync,
  write,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { KeyChange } from '../tables.ts'
import { type Beside, decodeLog, encodeLogRecord, type LoggedGroup } from './log-records.ts'

const NAMES = ['log-0', 'log-1'] as const
/** Of each. */
const FILE_BYTES = 512 << 10

const openFile = promisify(open)
const stat = promisify(fstat)
const writeAt = promisify(write)
const sync = promisify(fdatasync)
const syncDirectory = promisify(fsync)

export interface WriteAheadLog {
  /** Whether it can be written. */
  readonly isReady: boolean
  /** Makes the files, where they are not there. @throws the system's error */
  prepare(): Promise<void>
  /** Makes a record of a group, to be written next. undefined: there is no place for it in this file any more. */
  encode(changes: readonly KeyChange[], beside: Beside): LoggedGroup | undefined
  /** Writes the record that was made last. It is on disk then. @throws the system's error */
  writeHere(): void
  write(): Promise<void>
  /** Goes on with the other file, the groups of which are in the tables. */
  turn(): void
  /** All groups are in the tables. */
  restart(): void
  /** It is not written any more, unless it is prepared again. */
  close(): void
}

/**
 * Groups that the tables at a revision do not have, as far as the log has them whole, by their revisions. Whether they follow each other
 * is for the caller to look at.
 */
export function readWriteAheadLog(dir: string, revision: number): LoggedGroup[] {
  const groups = NAMES.flatMap((name) => [...decodeLog(readIfThere(join(dir, name)), revision)])
  const newer = groups.filter(({ changes }) => (changes.at(-1)?.change.revision ?? 0) > revision)
  return newer.sort((a, b) => firstRevisionOf(a) - firstRevisionOf(b))
}

export const firstRevisionOf = ({ changes }: LoggedGroup): number => changes[0]?.change.revision ?? 0

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

interface File {
  readonly descriptor: number
  /** The same, each write of which is on disk when it ends; undefined where systems promise less by that. */
  readonly synced: number | undefined
  /** What is written, from the beginning. Rows of its groups are parts of it, and are read until they are in the tables. */
  readonly bytes: Buffer
}

export function createWriteAheadLog(dir: string): WriteAheadLog {
  let files: readonly File[] | undefined
  let active: 0 | 1 = 0
  /** The last record's place. */
  let begin = 0
  let end = 0

  function current(): File {
    const file = files?.[active]
    if (file === undefined) throw new Error('the log is not open')
    return file
  }

  return {
    get isReady() {
      return files !== undefined
    },
    async prepare() {
      const made: File[] = []
      try {
        for (const name of NAMES) {
          const path = join(dir, name)
          const descriptor = await openFile(path, constants.O_RDWR | constants.O_CREAT, 0o600)
          let synced: number | undefined
          try {
            await makeWhole(descriptor)
            if (process.platform === 'linux') synced = await openFile(path, constants.O_WRONLY | constants.O_DSYNC)
          } finally {
            made.push({ descriptor, synced, bytes: Buffer.allocUnsafeSlow(FILE_BYTES) })
          }
        }
        const directory = await openFile(dir, 'r')
        await syncDirectory(directory).finally(() => closeSync(directory))
      } catch (error) {
        closeAll(made)
        throw error
      }
      files = made
      begin = 0
      end = 0
    },
    encode(changes, beside) {
      const made = encodeLogRecord(current().bytes, end, changes, beside)
      if (made === undefined) return undefined
      begin = end
      end = made.end
      return made.group
    },
    writeHere() {
      const { descriptor, bytes } = current()
      for (let at = begin; at < end; ) at += writeSync(descriptor, bytes, at, end - at, at)
      fdatasyncSync(descriptor)
    },
    async write() {
      const { descriptor, synced, bytes } = current()
      // To be woken by another thread once takes less than twice.
      const to = synced ?? descriptor
      for (let at = begin; at < end; ) at += (await writeAt(to, bytes, at, end - at, at)).bytesWritten
      if (synced === undefined) await sync(descriptor)
    },
    turn() {
      active = active === 0 ? 1 : 0
      begin = 0
      end = 0
    },
    restart() {
      begin = 0
      end = 0
    },
    close() {
      closeAll(files ?? [])
      files = undefined
    },
  }
}

/** As long as it will be, with bytes that are on disk: to sync those that are written over them takes no more than themselves. */
async function makeWhole(descriptor: number): Promise<void> {
  const zeros = Buffer.alloc(FILE_BYTES)
  const { size } = await stat(descriptor)
  for (let at = size; at < FILE_BYTES; ) at += (await writeAt(descriptor, zeros, 0, FILE_BYTES - at, at)).bytesWritten
  await sync(descriptor)
}

function closeAll(files: readonly File[]): void {
  for (const { descriptor, synced } of files) {
    closeSync(descriptor)
    if (synced !== undefined) closeSync(synced)
  }
}
