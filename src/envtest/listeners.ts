import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** In /proc/net/tcp. */
const LISTENING = '0A'

/**
 * Whether another process had listened on a port of this machine before this one, which does too: a port that may be shared is given
 * to two that begin at once. Of two that ask, one is told so. On Linux; elsewhere false.
 */
export function hasEarlierListener(port: number): boolean {
  try {
    const own = new Set(readdirSync('/proc/self/fd').flatMap(socketOf))
    const all = ['tcp', 'tcp6'].flatMap((table) => listenersOf(readFileSync(`/proc/net/${table}`, 'utf8'), port))
    const first = Math.min(...all.filter((inode) => own.has(inode)))
    return all.some((inode) => !own.has(inode) && inode < first)
  } catch {
    return false
  }
}

/** The inodes of those that listen on a port, of a table of Linux' connections. */
export function listenersOf(table: string, port: number): readonly number[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [, local = '', , state] = fields
    const isOnPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port
    return isOnPort && state === LISTENING ? [Number(fields[9])] : []
  })
}

function socketOf(fd: string): readonly number[] {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1]
    return inode === undefined ? [] : [Number(inode)]
  } catch {
    // That of the folder that was read.
    return []
  }
}
