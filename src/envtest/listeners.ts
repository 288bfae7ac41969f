import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** In /proc/net/tcp. */
const LISTENING = '0A'

export interface Listeners {
  /** Another process of this user listens there too. */
  readonly hasOther: boolean
  /** One of those did before this one: of two that look, one is told so. */
  readonly hasEarlier: boolean
}

/** The processes that listen on a port and address where this one does: a port that may be shared is given to two that begin at once. On Linux. */
export function listenersBeside(port: number): Listeners {
  const own = new Set(readdirSync('/proc/self/fd').flatMap(socketOf))
  const all = ['tcp', 'tcp6'].flatMap(tableOf).flatMap((table) => listenersOf(table, port))
  const mine = all.filter(({ inode }) => own.has(inode))
  const first = Math.min(...mine.map(({ inode }) => inode))
  const others = all.filter(
    ({ inode, address }) => !own.has(inode) && (/^0+$/.test(address) || mine.some((one) => one.address === address)),
  )
  return { hasOther: others.length > 0, hasEarlier: others.some(({ inode }) => inode < first) }
}

export interface Listener {
  readonly inode: number
  /** As the table has it, in hexadecimal digits; zeros: every address. */
  readonly address: string
}

/** Empty where there is none, as of IPv6. */
function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** The sockets of a user's that listen on a port, of a table of Linux' connections. */
export function listenersOf(table: string, port: number, user = process.geteuid?.()): readonly Listener[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const [, local = '', , state, , , , owner] = fields
    const [address = '', number = ''] = local.split(':')
    const isOnPort = Number.parseInt(number, 16) === port
    return isOnPort && state === LISTENING && Number(owner) === user ? [{ inode: Number(fields[9]), address }] : []
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
