import { readdirSync, readlinkSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { type AddressFamily, listeningSockets } from '../base/listening-sockets.ts'

/**
 * Whether another process of this user listens where a socket of this one does: a port that may be shared is given to several. On Linux.
 */
export function isHeldBeside({ family, port }: AddressInfo): boolean {
  const user = process.geteuid?.()
  const all = listeningSockets(family as AddressFamily, port).filter(({ owner }) => owner === user)
  const own = new Set(readdirSync('/proc/self/fd').flatMap(socketOf))
  const mine = all.filter(({ inode }) => own.has(inode))
  return all.some(
    ({ inode, address }) => !own.has(inode) && (/^0+$/.test(address) || mine.some((one) => one.address === address)),
  )
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
