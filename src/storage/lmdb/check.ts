/**
 * Looks at an LMDB file before LMDB does: LMDB maps it into memory and trusts what it finds, so a file that is cut off
 * or not its own would end the process instead of giving an error.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../storage.ts'
import { corrupt } from './records.ts'

const MAGIC = 0xbeefc0de
const META_BYTES = 160
/** Ten gigabytes are read in less on a slow disk. */
const LONGEST_READ_MS = 300_000

/** @throws StoreError when there is a file and it is not a whole LMDB environment, or that cannot be found out within `readMs` */
export function checkFile(dir: string, readMs = LONGEST_READ_MS): void {
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
    const whole = (newest.lastPage + 1) * newest.pageSize
    if (newest.lastPage > 1 && whole > size) {
      if (!canBeRead(dir, readMs)) throw corrupt(`${path} is cut off: ${size} bytes of at least ${whole}`)
      truncateSync(path, whole)
    }
  } finally {
    closeSync(file)
  }
}

/** Reads every row, at the cost of its own process where the file ends before a page that is used. */
const READ_ALL = `
const { open } = await import(process.argv[1])
const root = open({ path: process.argv[2], noSubdir: false, encoding: 'binary', keyEncoding: 'binary', maxDbs: 8, readOnly: true })
for (const name of ['meta', 'changes', 'keys', 'expiries']) {
  const table = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' })
  for (const { value } of table.getRange()) value.length
}
await root.close()`

/**
 * Pages at the end that a transaction took and gave back are not written: a process that is killed then leaves a file that ends
 * before them and is whole nevertheless. Which pages are used only LMDB knows.
 */
function canBeRead(dir: string, timeout: number): boolean {
  const args = ['--input-type=module', '-e', READ_ALL, import.meta.resolve('lmdb'), dir]
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'ignore', timeout, killSignal: 'SIGKILL' })
  if (error === undefined) return status === 0
  const path = join(dir, 'data.mdb')
  throw new StoreError(
    (error as NodeJS.ErrnoException).code === 'ETIMEDOUT'
      ? `the store ${path} could not be read in time (${timeout / 1000} s) after it was not closed in order; nothing was changed: start again when the disk is less busy`
      : `the store ${path} could not be checked after it was not closed in order: ${error.message}`,
    { cause: error },
  )
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
