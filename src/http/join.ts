/**
 * Two connections joined into one: what comes on either goes out on the other, as fast as it is taken there, until both have
 * ended or one is gone. What the one that is gone has said comes to the other all the same. For sessions that another server speaks (exec, attach, port-forward, proxied upgrades).
 */
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '../base/clock.ts'
import type { Upgraded } from './client.ts'
import { hopByHop } from './hop-by-hop.ts'

/** A session in which neither side has said anything for so long is over; the kubelet's own limit. */
export const SESSION_IDLE_MS = 4 * 60 * 60 * 1000

/** How long a side may take nothing of what it is given, or have all and not end, where the other side has broken. */
const LINGER_MS = 10_000

/** The head of an answer 101 as the other server gave it, but for what is of its connection alone; then what comes on it. Resolves when both have ended. */
export function passUpgrade(clock: Clock, client: Duplex, clientHead: Uint8Array, upstream: Upgraded): Promise<void> {
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(upstream.rawHeaders)}\r\n`)
  if (upstream.head.length > 0) client.write(upstream.head)
  if (clientHead.length > 0) upstream.socket.write(clientHead)
  return joinConnections(clock, client, upstream.socket)
}

export function joinConnections(clock: Clock, one: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    let open = 2
    const idle = cutWhenIdle(clock, one, other)
    const closed = () => {
      open--
      if (open === 0) {
        idle.cancel()
        resolve()
      }
    }
    const ways = [
      [one, other],
      [other, one],
    ] as const
    for (const [from, to] of ways) {
      from.on('error', () => cutSoon(clock, to))
      from.on('data', idle.heard)
      from.pipe(to)
    }
    // After the pipes, which stop reading from a side whose other is gone.
    for (const [from, to] of ways)
      from.on('close', () => {
        // What the other side has not taken yet may still be on its way.
        if (!to.writableEnded) to.end()
        // The end of a side is seen only while it is read.
        to.resume()
        closed()
      })
    if (one.destroyed || other.destroyed) for (const side of [one, other]) side.destroy()
  })
}

/**
 * The side whose other has broken is cut a while after it last took something of what came before, unless it ends by itself. At once would
 * be too soon: what it says to a connection that is closed makes the kernel throw away what it has not read yet.
 */
function cutSoon(clock: Clock, side: Duplex): void {
  if (side.destroyed) return
  const wait = (): Timer => {
    const left = untaken(side)
    return clock.setTimer(LINGER_MS, 'rest of a session that broke', () => {
      if (untaken(side) < left) timer = wait()
      else side.destroy()
    })
  }
  const renew = () => {
    timer.cancel()
    timer = wait()
  }
  let timer = wait()
  side.on('drain', renew).on('finish', renew)
  side.once('close', () => timer.cancel())
}

/** Bytes that the other end has not taken: of a write that is under way a socket's handle knows how much has gone, its stream only when all has. */
const untaken = (side: Duplex & { readonly _handle?: { readonly writeQueueSize?: number } | null }): number =>
  side.writableLength + (side._handle?.writeQueueSize ?? 0)

export interface IdleTimer extends Timer {
  /** To be called for whatever comes. */
  heard(): void
}

/** Destroys the sockets once nothing has been heard for SESSION_IDLE_MS. */
export function cutWhenIdle(clock: Clock, ...sockets: readonly Duplex[]): IdleTimer {
  let heardAt = clock.now()
  const heard = () => {
    heardAt = clock.now()
  }
  const check = () => {
    const left = heardAt + SESSION_IDLE_MS - clock.now()
    if (left > 0) timer = clock.setTimer(left, 'idle session', check)
    else for (const socket of sockets) socket.destroy()
  }
  let timer = clock.setTimer(SESSION_IDLE_MS, 'idle session', check)
  return { heard, cancel: () => timer.cancel() }
}

/** Lines of a head. Values from a parsed head hold no line ends. */
function headerLines(raw: readonly string[]): string {
  const entries = Array.from({ length: raw.length >> 1 }, (_, at) => [raw[2 * at], raw[2 * at + 1]] as [string, string])
  const named = (wanted: string) => entries.filter(([name]) => name.toLowerCase() === wanted)
  const isOfConnection = hopByHop(named('connection').map(([, value]) => value))
  // The change of protocol is of this connection too.
  const passed: readonly [string, string][] = [
    ['Connection', 'Upgrade'],
    ...named('upgrade'),
    ...entries.filter(([name]) => !isOfConnection(name.toLowerCase())),
  ]
  return passed.map(([name, value]) => `${name}: ${value}\r\n`).join('')
}
