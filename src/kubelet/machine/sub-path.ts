/**
 * subPath: a place within a volume, however a pod that shares the volume changes it meanwhile. Links are followed first, and may not lead
 * out of the volume; then the place is reached from the volume's own directory name by name, no link is followed any more, and what was
 * opened is what is mounted.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, realpathSync, writeFileSync } from 'node:fs'
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
  const resolved = realpathSync(join(base, subPath))
  const inside = relative(base, resolved)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new Error(`subpath ${JSON.stringify(subPath)} not within volume path`)
  const fd = openWithin(base, inside === '' ? [] : inside.split(sep))
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
    if (fstatSync(fd).isDirectory()) mkdirSync(target, { recursive: true, mode: 0o755 })
    else writeFileSync(target, '', { flag: 'a' })
    await bindMount(`/proc/${process.pid}/fd/${fd}`, target)
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

/** Makes what of the path is not there yet, each directory within the one that is open; a link ends it (it is looked at later). */
function makeWithin(base: string, subPath: string): void {
  let fd = openSync(base, O_PATH | constants.O_NOFOLLOW)
  try {
    for (const name of subPath.split('/').filter((part) => part !== '' && part !== '.')) {
      try {
        mkdirSync(`/proc/self/fd/${fd}/${name}`, { mode: 0o750 })
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
