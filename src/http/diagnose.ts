/** Looks again at a server that a request failed at, to say why: nothing here is trusted, and nothing is sent that counts. */
import type { X509Certificate } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { connectTo } from './dial.ts'
import { routeThrough } from './proxy.ts'

export interface Suspect {
  /** `https://host:port` */
  readonly server: string
  /** The name to ask for in the handshake, if it is one. */
  readonly serverName?: string
  /** The way there, as the request's. */
  readonly proxy?: string | undefined
  readonly signal: AbortSignal
}

const placeOf = (server: string) => {
  const { hostname, port } = new URL(server)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }
}

/** The certificate the server shows, trusted or not; undefined when it shows none. */
export async function peerCertificate(suspect: Suspect): Promise<X509Certificate | undefined> {
  const { serverName, signal } = suspect
  const carrier = await connection(suspect)
  if (carrier === undefined) return undefined
  return new Promise((resolve) => {
    const socket = connectTls({
      socket: carrier,
      ...(serverName === undefined ? {} : { servername: serverName }),
      rejectUnauthorized: false,
    })
    socket.on('secureConnect', () => settle(socket.getPeerX509Certificate()))
    const settle = endingWith(socket, signal, resolve)
  })
}

/** What the server says first to a client that does not speak TLS; empty when nothing. */
export async function firstWords(suspect: Suspect): Promise<string> {
  const socket = await connection(suspect)
  if (socket === undefined) return ''
  return new Promise((resolve) => {
    socket.write('HEAD / HTTP/1.0\r\n\r\n')
    socket.on('data', (bytes: Buffer) => settle(bytes.toString('latin1')))
    const settle = endingWith(socket, suspect.signal, (words: string | undefined) => resolve(words ?? ''))
  })
}

/** undefined where none is made. */
const connection = ({ server, proxy, signal }: Suspect): Promise<Duplex | undefined> =>
  (proxy === undefined
    ? connectTo({ ...placeOf(server), signal })
    : routeThrough(proxy, new URL(server), { rejectUnauthorized: false }).connect(signal)
  ).catch(() => undefined)

/** Ends the socket with the first of: what is found, its own end, the signal. */
function endingWith<T>(socket: Duplex, signal: AbortSignal, resolve: (found: T | undefined) => void) {
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
