/**
 * Gives all that a volume holds to its pod's fsGroup. Pods that share the volume may change it meanwhile, so each name is opened within the
 * directory that is open, no link is followed, and what was opened is what is changed.
 */
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, readdirSync } from 'node:fs'

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Members of the group may read and write, and what will be made belongs to it. Links, sockets and what is gone are passed over. */
export function ownTree(path: string, group: number): void {
  let fd: number
  try {
    fd = openSync(path, FLAGS)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENOENT') return
    throw error
  }
  try {
    const { uid, mode, isDirectory } = statOf(fd)
    fchownSync(fd, uid, group)
    fchmodSync(fd, isDirectory ? mode | 0o2770 : mode | 0o660)
    if (isDirectory)
      for (const name of readdirSync(`/proc/self/fd/${fd}`)) ownTree(`/proc/self/fd/${fd}/${name}`, group)
  } finally {
    closeSync(fd)
  }
}

function statOf(fd: number) {
  const stat = fstatSync(fd)
  return { uid: stat.uid, mode: stat.mode & 0o7777, isDirectory: stat.isDirectory() }
}
