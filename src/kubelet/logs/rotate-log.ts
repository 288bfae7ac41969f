/** Logs of containers do not grow without end: one that is large enough is put aside, and only the newest of those are kept. */
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

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
  const old = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`)).sort()
  // With the one that is put aside now and the one that is begun there are as many as may be.
  for (const name of old.slice(0, Math.max(0, old.length - (mostFiles - 2)))) await rm(join(dirname(path), name))
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
