/** Audit logs as files: what stands in one, or what one has got since then, whatever becomes of the file meanwhile. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { plainLine } from '../base/plain-text.ts'
import { StartError } from '../cluster/errors.ts'

/** Of a log that is longer, the end. */
const MOST_BYTES = 200 << 20

/** @throws StartError */
export function readAuditLogFile(path: string): string {
  const file = openLog(path)
  try {
    return linesSince(file, 0)
  } finally {
    closeSync(file)
  }
}

/** Of each server its own. @throws StartError */
export const readAuditLogFiles = (paths: readonly string[]): string => paths.map(readAuditLogFile).join('\n')

/** The same of several logs, each of a server of its own. @throws StartError */
export function followAuditLogs(paths: readonly string[]): () => string {
  const logs = paths.map(followAuditLog)
  return () => logs.map((read) => read()).join('\n')
}

/**
 * Reads, once, what is written from now on: in this file, under whatever name it is by then, and in the one that has taken its place. One that
 * was cut to nothing meanwhile is read whole.
 *
 * @throws StartError
 */
export function followAuditLog(path: string): () => string {
  const file = openLog(path)
  const { size, ino, dev } = fstatSync(file)
  return () => {
    let next: number | undefined
    try {
      next = openRegular(path)
      const now = next === undefined ? undefined : fstatSync(next)
      const isOther = now !== undefined && (now.ino !== ino || now.dev !== dev)
      return [linesSince(file, size), ...(next !== undefined && isOther ? [linesSince(next, 0)] : [])].join('\n')
    } finally {
      closeSync(file)
      if (next !== undefined) closeSync(next)
    }
  }
}

/** @throws StartError */
function openLog(path: string): number {
  let file: number | undefined
  try {
    file = openRegular(path)
  } catch (error) {
    throw new StartError(`the audit log cannot be read: ${plainLine(messageOf(error))}`, { cause: error })
  }
  if (file === undefined) throw new StartError(`the audit log cannot be read: no file ${plainLine(path)}`)
  return file
}

/** undefined: there is none. A pipe or a device is not waited for. @throws Error */
function openRegular(path: string): number | undefined {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new Error(`${path} is no regular file`)
}

/** Whole lines from an offset on; where that is within one, from the next. */
function linesSince(file: number, offset: number): string {
  const { size } = fstatSync(file)
  const from = Math.max(offset > size ? 0 : offset, size - MOST_BYTES)
  const begin = Math.max(0, from - 1)
  const bytes = Buffer.alloc(size - begin)
  let filled = 0
  for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
    count = readSync(file, bytes, filled, bytes.length - filled, begin + filled)
  const first = from === 0 ? 0 : bytes.indexOf('\n') + 1
  return from > 0 && first === 0 ? '' : bytes.toString('utf8', first, filled)
}
