/**
 * Files of a volume, replaced all at once: they stand in a directory of their own, `..data` leads to it, and the names that users see lead
 * through `..data`. A reader sees all of the old files or all of the new ones.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { formatTime } from '../../base/clock.ts'
import type { VolumeFiles } from '../configmap-and-secret-keys-as-files.ts'
import { makeWithin } from './sub-path.ts'

const DATA = '..data'

/** `nowMs` names a new directory, `mode` is that of the volume's own. @throws Error for a path that is absolute or leads upwards, and what the file system says */
export function writeAtomically(
  directory: string,
  files: VolumeFiles,
  group: number | undefined,
  nowMs: number,
  mode = 0o777,
): void {
  for (const path of files.keys()) checkPath(path)
  mkdirSync(directory, { recursive: true })
  if (group === undefined) chmodSync(directory, mode)
  own(directory, group, mode, true)
  const old = linkOf(join(directory, DATA))
  if (old !== undefined && isSame(join(directory, old), files, group)) return
  const fresh = mkdtempSync(join(directory, `..${formatTime(nowMs).replace(/[-T:]/g, '_').replace('Z', '')}.`))
  chmodSync(fresh, 0o755)
  own(fresh, group, 0o755, true)
  for (const [path, { bytes, mode, uid }] of files) {
    const at = join(fresh, path)
    mkdirSync(dirname(at), { recursive: true, mode: 0o755 })
    for (let above = dirname(at); above !== fresh; above = dirname(above)) own(above, group, 0o755, true)
    writeFileSync(at, bytes)
    if (uid !== undefined) chownSync(at, uid, group ?? 0)
    chmodSync(at, mode)
    own(at, group, mode, false)
  }
  const next = join(directory, `${DATA}_tmp`)
  rmSync(next, { force: true })
  symlinkSync(fresh.slice(directory.length + 1), next)
  renameSync(next, join(directory, DATA))
  const seen = new Set([...files.keys()].map((path) => path.split('/')[0]!))
  for (const name of seen)
    if (lstatSync(join(directory, name), { throwIfNoEntry: false }) === undefined)
      symlinkSync(join(DATA, name), join(directory, name))
  for (const name of readdirSync(directory)) {
    const isNew = name === DATA || join(directory, name) === fresh || seen.has(name)
    // A directory without dots is where another volume is mounted.
    const isOurs = name.startsWith('..') || linkOf(join(directory, name)) !== undefined
    if (isOurs && !isNew) rmSync(join(directory, name), { recursive: true, force: true })
  }
}

/**
 * Directories in the volume for other volumes of the pod to be mounted on: what is mounted read-only has no room for them later. What is
 * there already may be a file of the volume, and no link is followed. @throws Error for a path that is absolute or leads upwards
 */
export function makeMountPoints(directory: string, mountPoints: readonly string[]): void {
  for (const path of mountPoints) checkPath(path)
  if (mountPoints.length > 0) mkdirSync(directory, { recursive: true })
  for (const path of mountPoints) makeWithin(directory, path, 0o755)
}

/** Kubernetes' rule for what a read-only volume gets of its pod's fsGroup: its members may read. */
function own(path: string, group: number | undefined, mode: number, isDirectory: boolean): void {
  if (group === undefined) return
  const { uid } = lstatSync(path)
  chownSync(path, uid, group)
  chmodSync(path, mode | (isDirectory ? 0o2550 : 0o440))
}

function isSame(directory: string, files: VolumeFiles, group: number | undefined): boolean {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  if (found.length !== files.size) return false
  for (const [path, { bytes, mode, uid }] of files) {
    const at = join(directory, path)
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined || stat.size !== bytes.length) return false
    const wanted = group === undefined ? mode : mode | 0o440
    if ((stat.mode & 0o777) !== wanted || (uid !== undefined && stat.uid !== uid)) return false
    if (Buffer.compare(readFileSync(at), bytes) !== 0) return false
  }
  return true
}

function checkPath(path: string): void {
  const parts = path.split('/')
  if (path.startsWith('/') || parts.includes('..') || parts[0]?.startsWith('..'))
    throw new Error(`invalid path: ${path}`)
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
