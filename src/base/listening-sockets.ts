/**
 * The sockets of this machine that listen on a port, by Linux' tables of connections. A table begins with those that listen; what comes behind
 * them the kernel has to look for in a hash table of a size of its own (some 6 ms for each table, however few connections there are), so it
 * is read only as far as it is needed. Elsewhere none is found.
 */
import { closeSync, openSync, readSync } from 'node:fs'

export interface ListeningSocket {
  /** As the table has it, in hexadecimal digits; zeros: every address. */
  readonly address: string
  /** The id of the user. */
  readonly owner: number
  readonly inode: number
}

export type AddressFamily = 'IPv4' | 'IPv6'

const TABLES: Readonly<Record<AddressFamily, string>> = { IPv4: '/proc/net/tcp', IPv6: '/proc/net/tcp6' }
const LISTENING = '0A'
/** Some lines. */
const PART_BYTES = 1024

export function listeningSockets(family: AddressFamily, port: number): readonly ListeningSocket[] {
  let table: number
  try {
    table = openSync(TABLES[family], 'r')
  } catch {
    return []
  }
  try {
    return listenersOf(() => {
      const part = Buffer.alloc(PART_BYTES)
      return part.toString('latin1', 0, readSync(table, part))
    }, port)
  } finally {
    closeSync(table)
  }
}

/** `read` gives the next part of a table, and nothing at its end. */
export function listenersOf(read: () => string, port: number): readonly ListeningSocket[] {
  // A table that changes between two parts may have a line in both.
  const found = new Map<number, ListeningSocket>()
  let text = ''
  for (let part = read(); part !== ''; part = read()) {
    const lines = `${text}${part}`.split('\n')
    text = lines.pop() as string
    for (const line of lines) {
      const [number = '', local = '', , state, , , , owner, , inode] = line.trim().split(/\s+/)
      if (!/^\d+:$/.test(number)) continue
      if (state !== LISTENING) return [...found.values()]
      const [address = '', at = ''] = local.split(':')
      if (Number.parseInt(at, 16) === port)
        found.set(Number(inode), { address, owner: Number(owner), inode: Number(inode) })
    }
  }
  return [...found.values()]
}
