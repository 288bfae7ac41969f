/** A plain TCP connection, for those who only want to know whether something listens. */
import { connect } from 'node:net'

export interface Dialed {
  close(): void
}

/** @throws the socket's error, or the signal's reason */
export function dial({ host, port, signal }: { host: string; port: number; signal: AbortSignal }): Promise<Dialed> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal })
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      resolve({ close: () => socket.destroy() })
    })
    socket.once('error', (error) => reject(signal.aborted ? signal.reason : error))
  })
}
