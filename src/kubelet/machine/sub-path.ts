/**
 * subPath: a place within a volume, however a pod that shares the volume changes it meanwhile. Links are followed first, and may not lead
 * out of the volume; then the place is reached from the volume's own directory name by name, no link is followed any more, and what was
 * opened is what is mounted.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { bindMount, mountedBelow } from './mounts.ts'

/** Opens a name without reading what it names. Node gives it no name. */
const O_PATH = 0o10000000
/** Of a file of variables: as many as an object of the API may have. */
const MOST_BYTES = 1024 * 1024

/** Mounts `volume/subPath` at `target` unless it is there. A directory that is not there is made. @throws Error */
export async function mountSubPath(volume: string, subPath: string, target: string): Promise<void> {
  if (isAbsolute(subPath) || subPath.split('/').includes('..'))
    throw new Error(`subPath ${JSON.stringify(subPath)} must be relative and not contain ".."`)
  const base = realpathSync(volume)
  if (mountedBelow(target).includes(target)) return
  makeWithin(base, subPath)
  const fd = openPlace(base, subPath)
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
    if (fstatSync(fd).isDirectory()) mkdirSync(target, { recursive: true, mode: 0o755 })
    else writeFileSync(target, '', { flag: 'a' })
    await bindMount(`/proc/${process.pid}/fd/${fd}`, target)
  } finally {
    closeSync(fd)
  }
}

/** Where links lead within the volume, opened by O_PATH. @throws Error for what is not there, or not within it */
function openPlace(base: string, subPath: string): number {
  const inside = relative(base, realpathSync(join(base, subPath)))
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new Error(`subpath ${JSON.stringify(subPath)} not within volume path`)
  return openWithin(base, inside === '' ? [] : inside.split(sep))
}

/**
 * What a file of a volume says, whatever the pod's containers put there meanwhile: no pipe is waited for, and no more is read than an
 * environment can be made of. @throws Error
 */
export function readVolumeFile(
  volume: string | undefined,
  path: string,
): { readonly text: string; readonly file: string } {
  if (volume === undefined) throw new Error(`the volume of file ${JSON.stringify(path)} is not set up`)
  const place = openPlace(realpathSync(volume), path)
  let fd: number | undefined
  try {
    if (!fstatSync(place).isFile()) throw new Error(`${JSON.stringify(path)} is not a file`)
    fd = openSync(`/proc/self/fd/${place}`, constants.O_RDONLY | constants.O_NONBLOCK)
    return { text: readLimited(fd, path), file: join(volume, path) }
  } finally {
    if (fd !== undefined) closeSync(fd)
    closeSync(place)
  }
}

/** The size may change while it is read, which does not make it more. */
function readLimited(fd: number, path: string): string {
  if (fstatSync(fd).size > MOST_BYTES) throw new Error(`${JSON.stringify(path)} has more than ${MOST_BYTES} bytes`)
  const bytes = Buffer.alloc(MOST_BYTES)
  let length = 0
  for (let more = -1; more !== 0 && length < MOST_BYTES; length += more)
    more = readSync(fd, bytes, length, MOST_BYTES - length, null)
  return bytes.toString('utf8', 0, length)
}

/** The open place, reached without following a link. */
function openWithin(base: string, names: readonly string[]): number {
  let fd = openSync(base, O_PATH | constants.O_NOFOLLOW)
  try {
    for (const name of names) {
      const next = openName(fd, name)
      closeSync(fd)
      fd = next
      if (fstatSync(fd).isSymbolicLink())
        throw new Error(`${JSON.stringify(name)} became a link while it was looked at`)
    }
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function openName(directory: number, name: string): number {
  return openSync(`/proc/self/fd/${directory}/${name}`, O_PATH | constants.O_NOFOLLOW)
}

/**
 * Makes what of the path is not there yet, each directory within the one that is open, for the same users as the volume itself unless
 * `permissions` says otherwise; a link or a file ends it. A mode is given to what was opened and is a directory: a container may have put a
 * link there since. @throws Error for a path that leads upwards
 */
export function makeWithin(base: string, subPath: string, permissions?: number): void {
  if (subPath.split('/').includes('..')) throw new Error(`invalid path: ${subPath}`)
  let fd = openSync(base, O_PATH | constants.O_NOFOLLOW)
  try {
    const mode = permissions ?? fstatSync(fd).mode
    for (const name of subPath.split('/').filter((part) => part !== '' && part !== '.')) {
      const isMade = makeDirectory(`/proc/self/fd/${fd}/${name}`)
      const next = openName(fd, name)
      closeSync(fd)
      fd = next
      const found = fstatSync(fd)
      if (!found.isDirectory()) return
      // A group that the parent hands down stays, whatever the process' mask.
      if (isMade) chmodSync(`/proc/self/fd/${fd}`, (mode & 0o777) | (found.mode & 0o2000))
    }
  } finally {
    closeSync(fd)
  }
}

/** False: something is there. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o750 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}
