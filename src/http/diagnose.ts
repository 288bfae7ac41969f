/** Looks again at a server that a request failed at, to say why: nothing here is trusted, and nothing is sent that counts. */
import type { X509Certificate } from 'node:crypto'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Suspect {
  /** `https://host:port` */
  readonly server: string
  /** The name to ask for in the handshake, if it is one. */
  readonly serverName?: string
  readonly signal: AbortSignal
}

const placeOf = (server: string) => {
  const { hostname, port } = new URL(server)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }
}

/** The certificate the server shows, trusted or not; undefined when it shows none. */
export function peerCertificate({ server, serverName, signal }: Suspect): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const socket = connectTls({
      ...placeOf(server),
      ...(serverName === undefined ? {} : { servername: serverName }),
      rejectUnauthorized: false,
    })
    socket.on('secureConnect', () => settle(socket.getPeerX509Certificate()))
    const settle = endingWith(socket, signal, resolve)
  })
}

/** What the server says first to a client that does not speak TLS; empty when nothing. */
export function firstWords({ server, signal }: Suspect): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTcp(placeOf(server), () => socket.write('HEAD / HTTP/1.0\r\n\r\n'))
    socket.on('data', (bytes: Buffer) => settle(bytes.toString('latin1')))
    const settle = endingWith(socket, signal, (words: string | undefined) => resolve(words ?? ''))
  })
}

/** Ends the socket with the first of: what is found, its own end, the signal. */
function endingWith<T>(socket: Socket, signal: AbortSignal, resolve: (found: T | undefined) => void) {
  const settle = (found?: T) => {
    signal.removeEventListener('abort', stop)
    socket.destroy()
    resolve(found)
  }
  const stop = () => settle()
  socket.on('error', stop)
  socket.on('close', stop)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return settle
}
