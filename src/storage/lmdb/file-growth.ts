/**
 * Room ahead: to sync bytes inside a file takes a third of the time of bytes behind its end, since the file system has its new
 * length to write down as well. So the file is made longer, with zeros, before it is needed and while no write waits. Where that
 * fails (a full disk) LMDB goes on as without it, and says so itself once it finds no room.
 */
import { closeSync, constants, fdatasync, fstatSync, ftruncate, openSync, write } from 'node:fs'
import { promisify } from 'node:util'
import type { Logger } from '../../base/log.ts'
import { newestMeta } from './check.ts'

export interface Room {
  /** Room that is being made: no transaction may run meanwhile, for both write at the end of the file. */
  readonly making: Promise<void> | undefined
  /** To be called after a transaction, when none is under way: makes room if there is little left. */
  make(): void
  /**
   * Makes sure that behind what is used the file has so many bytes, when no transaction is under way.
   * @throws the system's error when there is no room, and leaves the file as it is
   */
  ensure(bytes: number): Promise<void>
  /** The system's error, if the file cannot be made so much longer, which it is not. */
  refusal(bytes: number): Promise<unknown>
  close(): Promise<void>
}

const ROOM_BYTES = 2 << 20
const LITTLE_BYTES = ROOM_BYTES / 4
/** What is left is looked up once in so many transactions … */
const LOOK_EVERY = 8
/** … and after a failure (a disk may have room again) once in so many. */
const TRY_AGAIN_AFTER = 1024

const writeAt = promisify(write)
const sync = promisify(fdatasync)
const cut = promisify(ftruncate)

/** @param mostBytes that the file is made to have */
export function createRoom(log: Logger, path: string, mostBytes: number): Room {
  let file: number | undefined
  let wait = 0
  let making: Promise<void> | undefined
  attempt(() => {
    file = openSync(path, constants.O_RDWR)
  })

  function failed(error: unknown): void {
    wait = TRY_AGAIN_AFTER
    log.error('the store could not be given room ahead: writes take longer', error)
  }

  function attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      failed(error)
    }
  }

  /** With zeros, or not at all. */
  async function grow(to: number, end: number, bytes: number): Promise<void> {
    const zeros = Buffer.alloc(Math.min(bytes, ROOM_BYTES))
    try {
      for (let at = 0; at < bytes; ) {
        const { bytesWritten } = await writeAt(to, zeros, 0, Math.min(zeros.length, bytes - at), end + at)
        at += bytesWritten
      }
      await sync(to)
    } catch (error) {
      await cut(to, end)
      throw error
    }
  }

  /** How long the file is, and how much of that is behind what is used. */
  function extent(at: number): { readonly size: number; readonly left: number } {
    const meta = newestMeta(at)
    const { size } = fstatSync(at)
    return { size, left: meta === undefined ? 0 : size - (meta.lastPage + 1) * meta.pageSize }
  }

  function look(at: number): void {
    const { size, left } = extent(at)
    if (size + ROOM_BYTES > mostBytes || left >= LITTLE_BYTES) return
    making = grow(at, size, ROOM_BYTES)
      .catch(failed)
      .finally(() => {
        making = undefined
      })
  }

  return {
    get making() {
      return making
    },
    make() {
      const open = file
      if (open === undefined || making !== undefined || wait-- > 0) return
      wait = LOOK_EVERY - 1
      attempt(() => look(open))
    },
    async ensure(bytes) {
      await making
      if (file === undefined) return
      const { size, left } = extent(file)
      const lacks = bytes - left
      if (lacks <= 0 || size + lacks > mostBytes) return
      // More than is lacking, where there is room: each time it is made, other threads are woken and the disk is waited for.
      if (size + lacks + ROOM_BYTES <= mostBytes) {
        try {
          return await grow(file, size, lacks + ROOM_BYTES)
        } catch {
          // Then what is lacking alone.
        }
      }
      await grow(file, size, lacks)
    },
    async refusal(bytes) {
      await making
      if (file === undefined) return undefined
      const { size } = extent(file)
      try {
        await grow(file, size, bytes)
        await cut(file, size)
        return undefined
      } catch (error) {
        return error
      }
    },
    async close() {
      const open = file
      file = undefined
      await making
      if (open !== undefined) closeSync(open)
    },
  }
}
