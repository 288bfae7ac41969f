/**
 * Looks at an LMDB file before LMDB does: LMDB maps it into memory and trusts what it finds, so a file that is cut off, damaged
 * or not its own would end the process instead of giving an error.
 */
import { closeSync, constants, fstatSync, openSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { corrupt, StoreError } from '../storage.ts'
import { lookAtPages, type Meta, readMeta } from './pages.ts'

/** @throws StoreError when there is a file and it is not a whole LMDB environment, or that cannot be found out */
export function checkFile(dir: string): void {
  const path = join(dir, 'data.mdb')
  let file: number
  try {
    // A pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw unreadable(path, error)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new StoreError(`the store ${path} is no file: move it away, or restore a backup`)
    // Made, but killed before the first page was written.
    if (stat.size === 0) return
    checkPages(path, file, stat.size)
  } catch (error) {
    throw error instanceof StoreError ? error : unreadable(path, error)
  } finally {
    closeSync(file)
  }
}

const unreadable = (path: string, error: unknown): StoreError =>
  new StoreError(`the store ${path} cannot be read: ${(error as Error).message}`, { cause: error })

function checkPages(path: string, file: number, size: number): void {
  const [first, second] = metas(file)
  const newest = newestMeta(file)
  if (newest === undefined) throw corrupt(`${path} is not a store`)
  // LMDB wants both, and which of them was the newest cannot be told from one.
  if (first === undefined || second === undefined)
    throw corrupt(`page ${first === undefined ? 0 : 1} of ${path} is damaged, which says where everything is`)
  const { damage } = lookAtPages(file, newest)
  if (damage !== undefined) throw corrupt(`${path}: ${damage}`)
  // Pages at the end that a transaction took and gave back are not written: a process that is killed then leaves a file that ends
  // before them and is whole nevertheless.
  const whole = (newest.lastPage + 1) * newest.pageSize
  if (newest.lastPage > 1 && whole > size) truncateSync(path, whole)
}

function metas(file: number): readonly [Meta | undefined, Meta | undefined] {
  const first = readMeta(file, 0)
  return [first, readMeta(file, first?.pageSize ?? 4096)]
}

/** LMDB keeps two meta pages, written in turn; the one of the later transaction counts. */
export function newestMeta(file: number): Meta | undefined {
  const [first, second] = metas(file)
  if (first === undefined || second === undefined) return first ?? second
  return second.transaction > first.transaction ? second : first
}
