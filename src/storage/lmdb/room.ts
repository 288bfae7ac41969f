/**
 * Room ahead: to sync bytes inside a file takes a third of the time of bytes behind its end, since the file system has its new
 * length to write down as well. So the file is made longer, with zeros, before it is needed and while nobody waits. Where that
 * fails (a full disk) LMDB goes on as without it, and says so itself once it finds no room.
 */
import { closeSync, constants, fdatasync, fstatSync, openSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { newestMeta } from './check.ts'

export interface Room {
  /** Room that is being made: no transaction may run meanwhile, for both write at the end of the file. */
  readonly making: Promise<void> | undefined
  /** To be called after a transaction, when none is under way: makes room if there is little left. */
  make(): void
  close(): Promise<void>
}

const ROOM_BYTES = 2 << 20
const LITTLE_BYTES = ROOM_BYTES / 4
/** What is left is looked up once in so many transactions. */
const LOOKED_AT = 8

const writeAt = promisify(write)
const sync = promisify(fdatasync)

/** @param mostBytes that the file may have */
export function createRoom(path: string, mostBytes: number): Room {
  const file = openSync(path, constants.O_RDWR)
  let transactions = 0
  let making: Promise<void> | undefined
  let hasFailed = false

  async function grow(end: number): Promise<void> {
    const zeros = Buffer.alloc(ROOM_BYTES)
    try {
      for (let at = 0; at < zeros.length; ) {
        const { bytesWritten } = await writeAt(file, zeros, at, zeros.length - at, end + at)
        at += bytesWritten
      }
      await sync(file)
    } catch {
      hasFailed = true
    }
    making = undefined
  }

  return {
    get making() {
      return making
    },
    make() {
      if (making !== undefined || hasFailed || transactions++ % LOOKED_AT > 0) return
      const meta = newestMeta(file)
      const { size } = fstatSync(file)
      if (meta === undefined || size + ROOM_BYTES > mostBytes) return
      if (size - (meta.lastPage + 1) * meta.pageSize < LITTLE_BYTES) making = grow(size)
    },
    async close() {
      await making
      closeSync(file)
    },
  }
}
