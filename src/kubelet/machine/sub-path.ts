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
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { bindMount, mountedBelow } from './mounts.ts'

/** Opens a name without reading what it names. Node gives it no name. */
const O_PATH = 0o10000000

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

/** What a file of a volume says, whatever the pod's containers put there meanwhile: no pipe is waited for. @throws Error */
export function readVolumeFile(volume: string, path: string): string {
  const fd = openPlace(realpathSync(volume), path)
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${JSON.stringify(path)} is not a file`)
    return readFileSync(`/proc/self/fd/${fd}`, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/** The open place, reached without following a link. */
function openWithin(base: string, names: readonly string[]): number {
  let fd = openSync(base, O_PATH | constants.O_NOFOLLOW)
  for (const name of names) {
    const next = openName(fd, name)
    closeSync(fd)
    if (fstatSync(next).isSymbolicLink()) {
      closeSync(next)
      throw new Error(`${JSON.stringify(name)} became a link while it was looked at`)
    }
    fd = next
  }
  return fd
}

function openName(directory: number, name: string): number {
  return openSync(`/proc/self/fd/${directory}/${name}`, O_PATH | constants.O_NOFOLLOW)
}

/**
 * Makes what of the path is not there yet, each directory within the one that is open, for the same users as the volume itself; a link ends
 * it (it is looked at later).
 */
function makeWithin(base: string, subPath: string): void {
  let fd = openSync(base, O_PATH | constants.O_NOFOLLOW)
  const { mode } = fstatSync(fd)
  try {
    for (const name of subPath.split('/').filter((part) => part !== '' && part !== '.')) {
      try {
        const made = `/proc/self/fd/${fd}/${name}`
        mkdirSync(made, { mode: 0o750 })
        // A group that the parent hands down stays, whatever the process' mask.
        chmodSync(made, (mode & 0o777) | (statSync(made).mode & 0o2000))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const next = openName(fd, name)
      closeSync(fd)
      fd = next
      if (!fstatSync(fd).isDirectory()) return
    }
  } finally {
    closeSync(fd)
  }
}
