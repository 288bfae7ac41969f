/** Which connections are open, the address at their other end, and how many requests each has in flight. */
import type { X509Certificate } from 'node:crypto'
import type { ServerHttp2Session } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ConnectionInfo } from '../api/request.ts'

/** A connection is its TLS socket for HTTP/1.1, its session for HTTP/2. */
export type Peer = TLSSocket | ServerHttp2Session

export interface ConnectionTable {
  readonly size: number
  opened(socket: TLSSocket): void
  session(session: ServerHttp2Session): void
  info(peer: Peer): ConnectionInfo
  began(peer: Peer): void
  /** `stopping`: the connection is closed when this was its last request. */
  ended(peer: Peer, stopping: boolean): void
  /** Idle connections end at once; HTTP/2 sessions get GOAWAY and end with their last stream. */
  closeIdle(): void
  destroyAll(): void
}

interface Entry {
  readonly info: ConnectionInfo
  busy: number
}

export interface ConnectionTableOptions {
  /** The handler judges by a time of its own whether a certificate is valid now. */
  readonly foreignTime?: boolean
}

export function createConnectionTable({ foreignTime = false }: ConnectionTableOptions = {}): ConnectionTable {
  const sockets = new Set<TLSSocket>()
  const sessions = new Set<ServerHttp2Session>()
  const entries = new WeakMap<Peer, Entry>()

  const entry = (peer: Peer): Entry => {
    let found = entries.get(peer)
    if (found === undefined) {
      found = { info: describe('socket' in peer ? (peer.socket as TLSSocket) : peer, foreignTime), busy: 0 }
      entries.set(peer, found)
    }
    return found
  }

  return {
    get size() {
      return sockets.size
    },
    opened: (socket) => {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 60_000)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => {})
    },
    session: (session) => {
      sessions.add(session)
      session.on('close', () => sessions.delete(session))
    },
    info: (peer) => entry(peer).info,
    began: (peer) => {
      entry(peer).busy++
    },
    ended: (peer, stopping) => {
      const found = entry(peer)
      found.busy--
      if (stopping && found.busy === 0 && !isSession(peer)) peer.destroySoon()
    },
    closeIdle: () => {
      for (const session of sessions) session.close()
      for (const socket of sockets) {
        if (socket.alpnProtocol !== 'h2' && (entries.get(socket)?.busy ?? 0) === 0) socket.destroySoon()
      }
    },
    destroyAll: () => {
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function isSession(peer: Peer): peer is ServerHttp2Session {
  return 'goaway' in peer
}

/** A resumed TLS session can be `authorized` without a certificate, so the certificate itself is what counts. */
function describe(socket: TLSSocket, foreignTime: boolean): ConnectionInfo {
  const remoteAddress = socket.remoteAddress ?? ''
  const certificate = socket.getPeerX509Certificate?.()
  if (certificate === undefined) return { remoteAddress }
  if (!socket.authorized && !(foreignTime && isOnlyUntimely(socket, certificate))) {
    return { remoteAddress, certificateError: String(socket.authorizationError ?? 'certificate not verified') }
  }
  return { remoteAddress, peerCertificate: certificate.raw, peerIssuers: () => issuersOf(socket) }
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

/** Of several errors the last one counts, and that of a time comes late: what it may hide is looked at anew. */
function isOnlyUntimely({ authorizationError }: TLSSocket, { keyUsage }: X509Certificate): boolean {
  // Node's type says Error, its value is the code.
  const isUntimely = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].includes(String(authorizationError))
  return isUntimely && (keyUsage === undefined || keyUsage.includes(CLIENT_AUTH))
}

function issuersOf(socket: TLSSocket): readonly Uint8Array[] {
  const issuers: Uint8Array[] = []
  // A self-signed one is its own issuer.
  for (let one = socket.getPeerCertificate(true); one?.issuerCertificate !== undefined; one = one.issuerCertificate) {
    if (one.issuerCertificate === one || issuers.length === LONGEST_CHAIN) break
    issuers.push(one.issuerCertificate.raw)
  }
  return issuers
}

const LONGEST_CHAIN = 10
