/** Plain TCP connections: to carry something, or only to find out whether something listens. */
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Dialed {
  close(): void
}

interface Place {
  readonly host: string
  readonly port: number
  /** Ends the connection too. */
  readonly signal: AbortSignal
}

/** @throws the socket's error, or the signal's reason */
export async function dial(place: Place): Promise<Dialed> {
  const socket = await connectTo(place)
  return { close: () => socket.destroy() }
}

/** Each side may end before the other. @throws the socket's error, or the signal's reason */
export function connectTo({ host, port, signal }: Place): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal, allowHalfOpen: true })
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      resolve(socket)
    })
    socket.once('error', (error) => reject(signal.aborted ? signal.reason : error))
  })
}
