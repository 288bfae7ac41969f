/**
 * WebSocket (RFC 6455) for watches: browsers and the Java clients ask for them so. An event is a message, text for JSON and
 * binary for protobuf. The protocol itself is the library's; what a handshake must have, and in which words it is refused, is
 * as kube-apiserver has it.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { ApiRequest } from '../api/request.ts'
import { drained } from './drained.ts'

/** An HTTP/1.1 request that asks for another protocol, with its socket and what had come on it already. */
export interface Upgrade {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

export interface WebSocketPeer {
  /** Aborted when the client has closed, or is gone. */
  readonly closed: AbortSignal
  /** One message: a watch event as it is encoded for HTTP. Resolves when the socket takes more, or is gone. */
  send(bytes: Uint8Array): Promise<void>
  /** The end, with code 1000. */
  close(): void
}

/** A message of this kind carries its length itself; in HTTP's stream of protobuf four bytes do. */
const LENGTH_BYTES = 4
/** Nothing that a watcher says matters. */
const LARGEST_MESSAGE = 64 * 1024

/** Where a token may stand among the subprotocols, for browsers, which cannot set headers. */
export const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.'

export function asksForWebSocket({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return (
    headers['upgrade']?.toLowerCase() === 'websocket' && (headers['connection'] ?? '').toLowerCase().includes('upgrade')
  )
}

/** undefined when the handshake is refused: the client has been told, and the connection ends. */
export async function acceptWebSocket(upgrade: Upgrade, type: 'text' | 'binary'): Promise<WebSocketPeer | undefined> {
  const { incoming, socket, head } = upgrade
  const refusal = refusalOf(incoming)
  if (refusal !== undefined) {
    socket.end(refusal)
    return undefined
  }
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LARGEST_MESSAGE,
    handleProtocols: () => protocolsOf(incoming)[0] ?? false,
  })
  return new Promise((resolve) => {
    server.on('wsClientError', () => {
      socket.end(BAD_REQUEST)
      resolve(undefined)
    })
    // Of a client that has gone meanwhile the library says nothing.
    if (!socket.readable || !socket.writable) resolve(undefined)
    server.handleUpgrade(incoming, socket, head, (peer) => resolve(peerOf(peer, socket, type)))
  })
}

function peerOf(peer: WebSocket, socket: Duplex, type: 'text' | 'binary'): WebSocketPeer {
  const closed = new AbortController()
  peer.on('close', () => closed.abort())
  peer.on('error', () => {})
  const binary = type === 'binary'
  return {
    closed: closed.signal,
    send: async (bytes) => {
      if (closed.signal.aborted) return
      peer.send(binary ? bytes.subarray(LENGTH_BYTES) : bytes, { binary })
      if (socket.writableNeedDrain) await drained(socket)
    },
    close: () => peer.close(1000),
  }
}

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\n\r\n'

/** The answer to a handshake that lacks something. */
function refusalOf(incoming: IncomingMessage): string | undefined {
  const { headers } = incoming
  if (headers['sec-websocket-version'] !== '13')
    return 'HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\n\r\nmissing or bad WebSocket Version'
  if (!headers['sec-websocket-key']) return `${BAD_REQUEST}mismatch challenge/response`
  // An Origin is required, of clients too that are no page.
  if (!isUri(headers.origin ?? '')) return 'HTTP/1.1 403 Forbidden\r\n\r\n'
  // One is taken whatever it is called, among several none was chosen.
  return protocolsOf(incoming).length > 1 ? BAD_REQUEST : undefined
}

const isUri = (origin: string): boolean => origin.startsWith('/') || URL.canParse(origin)

/** The subprotocols asked for, without the one that is a token. */
function protocolsOf({ headers }: IncomingMessage): string[] {
  const names = headers['sec-websocket-protocol']?.split(',') ?? []
  return names.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith(BEARER_PROTOCOL))
}
