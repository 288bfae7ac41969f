/**
 * One process per store. The lock is a file that names its holder; it is a lock only while that very process lives, so
 * a killed process leaves nothing to clean up.
 */

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { StoreError } from '../storage.ts'

/** Stores held by this process. */
const held = new Set<string>()

/** Takes the lock and returns the function that gives it back. @throws StoreError naming the process that holds it */
export function lockDirectory(dir: string): () => void {
  const path = join(dir, 'holder')
  const mine = `${process.pid} ${startOf(process.pid)}\n`
  const own = `${path}.${process.pid}`
  if (held.has(path)) throw inUse(dir, process.pid)
  try {
    writeFileSync(own, mine, { mode: 0o600 })
    try {
      for (let attempt = 0; ; attempt++) {
        // A link is made only if the name is free: two processes cannot both succeed.
        if (tryLink(own, path)) break
        const holder = readHolder(path)
        if (holder !== undefined && isAlive(holder)) throw inUse(dir, holder.pid)
        if (attempt === 10) throw inUse(dir, holder?.pid ?? 0)
        rmSync(path, { force: true })
      }
    } finally {
      rmSync(own, { force: true })
    }
  } catch (error) {
    if (error instanceof StoreError) throw error
    const reason = messageOf(error)
    throw new StoreError(`the store's directory ${dir} cannot be written: ${reason}`, { cause: error })
  }
  held.add(path)
  return () => {
    held.delete(path)
    rmSync(path, { force: true })
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

interface Holder {
  readonly pid: number
  readonly start: string
}

function readHolder(path: string): Holder | undefined {
  try {
    const [pid, start = ''] = readFileSync(path, 'utf8').trim().split(' ')
    return { pid: Number(pid), start }
  } catch {
    return undefined
  }
}

function isAlive({ pid, start }: Holder): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  // Our own pid, and not held by this module: the file is of an earlier process that had the same pid (in a container).
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  // Pids are used again: where the system tells a process's start, it must be the same process.
  const now = startOf(pid)
  return start === '' || now === '' || now === start
}

/** When a process was started, in the system's own terms; '' where that is not known (macOS). */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, second, may itself have spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // One that has ended and only waits for its parent holds nothing any more.
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

const inUse = (dir: string, pid: number) =>
  new StoreError(`the store in ${dir} is held by process ${pid}: stop that one first, or use another directory`)
