/**
 * Looks at an LMDB file before LMDB does: LMDB maps it into memory and trusts what it finds, so a file that is cut off
 * or not its own would end the process instead of giving an error.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../storage.ts'
import { corrupt } from './records.ts'

const MAGIC = 0xbeefc0de
const META_BYTES = 160

/** @throws StoreError when there is a file and it is not a whole LMDB environment */
export function checkFile(dir: string): void {
  const path = join(dir, 'data.mdb')
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new StoreError(`the store ${path} cannot be read: ${message}`, { cause: error })
  }
  try {
    const { size } = fstatSync(file)
    // Made, but killed before the first page was written.
    if (size === 0) return
    const newest = newestMeta(file)
    if (newest === undefined) throw corrupt(`${path} is not a store`)
    if (newest.lastPage > 1 && (newest.lastPage + 1) * newest.pageSize > size) {
      throw corrupt(`${path} is cut off: ${size} bytes of at least ${(newest.lastPage + 1) * newest.pageSize}`)
    }
  } finally {
    closeSync(file)
  }
}

interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: number
}

/** LMDB keeps two meta pages, written in turn; the one of the later transaction counts. */
export function newestMeta(file: number): Meta | undefined {
  const first = readMeta(file, 0)
  const second = readMeta(file, first?.pageSize ?? 4096)
  if (first === undefined || second === undefined) return first ?? second
  return second.transaction > first.transaction ? second : first
}

function readMeta(file: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(META_BYTES)
  if (readSync(file, page, 0, META_BYTES, offset) < META_BYTES) return undefined
  if (page.readUInt32LE(24) !== MAGIC) return undefined
  return {
    pageSize: page.readUInt32LE(48),
    lastPage: Number(page.readBigUInt64LE(144)),
    transaction: Number(page.readBigUInt64LE(152)),
  }
}
