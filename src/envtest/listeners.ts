import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** In /proc/net/tcp. */
const LISTENING = '0A'

export interface Listeners {
  /** Another process of this user listens there too. */
  readonly hasOther: boolean
  /** One of those did before this one: of two that look, one is told so. */
  readonly hasEarlier: boolean
}

/** The processes that listen on a port where this one does: a port that may be shared is given to two that begin at once. On Linux. */
export function listenersBeside(port: number): Listeners {
  const own = new Set(readdirSync('/proc/self/fd').flatMap(socketOf))
  const all = ['tcp', 'tcp6'].flatMap(tableOf).flatMap((table) => listenersOf(table, port))
  const first = Math.min(...all.filter((inode) => own.has(inode)))
  const others = all.filter((inode) => !own.has(inode))
  return { hasOther: others.length > 0, hasEarlier: others.some((inode) => inode < first) }
}

/** Empty where there is none, as of IPv6. */
function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** The inodes of a user's that listen on a port, of a table of Linux' connections. */
export function listenersOf(table: string, port: number, user = process.geteuid?.()): readonly number[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [, local = '', , state, , , , owner] = fields
    const isOnPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port
    return isOnPort && state === LISTENING && Number(owner) === user ? [Number(fields[9])] : []
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
