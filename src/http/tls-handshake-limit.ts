/** How long the other end of a connection may take for its handshake: as long as clients of Kubernetes wait for it. */
import type { TLSSocket } from 'node:tls'
import { liveClock } from '../base/live-clock.ts'

const HANDSHAKE_MS = 10_000
/** Sockets have the machine's time. */
const clock = liveClock()

/** The socket, which breaks when its handshake has taken too long since it was connected. */
export function withHandshakeLimit(socket: TLSSocket): TLSSocket {
  const begin = () => {
    const giveUp = () => socket.destroy(new Error('net/http: TLS handshake timeout'))
    const late = clock.setTimer(HANDSHAKE_MS, 'TLS handshake', giveUp)
    const end = () => late.cancel()
    socket.once('secureConnect', end).once('close', end)
  }
  if (socket.connecting) socket.once('connect', begin)
  else begin()
  return socket
}
