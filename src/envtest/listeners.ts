import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** In /proc/net/tcp. */
const LISTENING = '0A'

/**
 * Whether another process of this user listens on a port and an address where this one does: a port that may be shared is given to
 * several. On Linux.
 */
export function isHeldBeside(port: number): boolean {
  const own = new Set(readdirSync('/proc/self/fd').flatMap(socketOf))
  const all = ['tcp', 'tcp6'].flatMap(tableOf).flatMap((table) => listenersOf(table, port))
  const mine = all.filter(({ inode }) => own.has(inode))
  return all.some(
    ({ inode, address }) => !own.has(inode) && (/^0+$/.test(address) || mine.some((one) => one.address === address)),
  )
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
