/** Logs of containers do not grow without end: one that is large enough is put aside, the one before it compressed, and only the newest of those are kept. */
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export interface LogRotation {
  /** Bytes from which on it is put aside. */
  readonly largest: number
  /** Of one container, with the one that is written. */
  readonly mostFiles: number
}

/** As a kubelet's defaults are (containerLogMaxSize, containerLogMaxFiles). */
export const USUAL_ROTATION: LogRotation = { largest: 10 * 1024 * 1024, mostFiles: 5 }

/**
 * `reopen`: tells the runtime to begin the file anew; where that fails the file is put back. `suffix` grows with time. Resolves to
 * whether it was turned over.
 */
export async function rotateLog(
  path: string,
  suffix: string,
  reopen: () => Promise<void>,
  { largest, mostFiles }: LogRotation = USUAL_ROTATION,
): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.size < largest) return false
  const directory = dirname(path)
  const prefix = `${basename(path)}.`
  const names = (await readdir(directory)).filter((name) => name.startsWith(prefix))
  names.sort((a, b) => (timeOf(a.slice(prefix.length)) < timeOf(b.slice(prefix.length)) ? -1 : 1))
  // What was left in the midst of a compression: the log itself is still there.
  for (const name of names.filter(isUnfinished)) await rm(join(directory, name))
  const old = names.filter((name) => !isUnfinished(name))
  // With the one that is put aside now and the one that is begun there are as many as may be.
  const surplus = old.splice(0, Math.max(0, old.length - (mostFiles - 2)))
  for (const name of surplus) await rm(join(directory, name))
  for (const name of old) if (!name.endsWith(COMPRESSED)) await compress(join(directory, name))
  const aside = `${path}.${suffix}`
  await rename(path, aside)
  try {
    await reopen()
    return true
  } catch (error) {
    await rename(aside, path)
    throw error
  }
}

/** Logs that were put aside by an earlier version have no dash between the day and the time. */
const timeOf = (suffix: string) => suffix.replace('-', '')

const COMPRESSED = '.gz'
const UNFINISHED = '.tmp'
const isUnfinished = (name: string) => name.endsWith(UNFINISHED)

/** Whole or not at all. The file has the mode of the log. */
async function compress(path: string): Promise<void> {
  const { mode } = await stat(path)
  const fresh = `${path}${UNFINISHED}`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(fresh, { mode }))
  await rename(fresh, `${path}${COMPRESSED}`)
  await rm(path)
}
