/**
 * The server's side of a WebSocket that carries several streams (subprotocol v5.channel.k8s.io: the first byte of a message is
 * its channel, and 255 with a channel's number ends that channel), or bytes of another protocol (the port-forward tunnel). The
 * WebSocket protocol itself is the library's.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { ApiRequest } from '../api/request.ts'
import { drained } from './drained.ts'
import { BEARER_PROTOCOL } from './websocket.ts'

/** What a client may put into one message: as much as Go's servers take. */
const LARGEST_MESSAGE = 32 * 1024 * 1024
const END_OF_CHANNEL = 255

export interface MessagePeer {
  /** Aborted when the client has closed, or is gone. */
  readonly closed: AbortSignal
  /** One binary message. Resolves when the socket takes more, or is gone. */
  send(...parts: readonly Uint8Array[]): Promise<void>
  /** One message of text. */
  sendText(text: string): Promise<void>
  /** Takes messages; while anything that it returned is pending no more is read from the socket. To be called at once. */
  onMessage(take: (bytes: Buffer) => void | Promise<void>): void
  /** The end, with code 1000. */
  close(): void
}

/** The subprotocols a WebSocket request names, without the one that is a token. */
export function subprotocolsOf({ headers }: Pick<ApiRequest, 'headers'>): readonly string[] {
  const names = headers['sec-websocket-protocol']?.split(',') ?? []
  return names.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith(BEARER_PROTOCOL))
}

/** Rejects when the handshake is no WebSocket's: the client has been told, and the connection ends. */
export async function acceptMessages(
  request: Pick<ApiRequest, 'method' | 'headers'>,
  socket: Duplex,
  head: Uint8Array,
  subprotocol: string,
): Promise<MessagePeer> {
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE,
  })
  // Not by the library, which holds names to be tokens: that of the port-forward tunnel has a slash.
  const { 'sec-websocket-protocol': asked, ...headers } = request.headers
  if (asked !== undefined && subprotocol !== '')
    server.on('headers', (answer) => answer.push(`Sec-WebSocket-Protocol: ${subprotocol}`))
  return new Promise((resolve, reject) => {
    server.on('wsClientError', (error) => {
      socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
      reject(error)
    })
    // Of a client that has gone meanwhile the library says nothing.
    if (!socket.readable || !socket.writable) reject(new Error('the client has gone'))
    // All that the library reads of a request.
    const incoming = { method: request.method, headers } as IncomingMessage
    server.handleUpgrade(incoming, socket, Buffer.from(head), (peer) => resolve(peerOf(peer, socket)))
  })
}

function peerOf(peer: WebSocket, socket: Duplex): MessagePeer {
  const closed = new AbortController()
  peer.on('close', () => closed.abort())
  peer.on('error', () => {})
  /** Messages that are not taken yet. Those that had come with the first of them are given all the same. */
  let pending = 0
  return {
    closed: closed.signal,
    send: async (...parts) => {
      if (closed.signal.aborted) return
      peer.send(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts), { binary: true })
      if (socket.writableNeedDrain) await drained(socket)
    },
    sendText: async (text) => {
      if (closed.signal.aborted) return
      peer.send(text)
      if (socket.writableNeedDrain) await drained(socket)
    },
    onMessage: (take) => {
      peer.on('message', (data: Buffer) => {
        const taken = take(data)
        if (taken === undefined) return
        pending++
        peer.pause()
        taken.then(
          () => {
            pending--
            if (pending === 0) peer.resume()
          },
          () => peer.terminate(),
        )
      })
    },
    close: () => peer.close(1000),
  }
}

export interface ChannelPeer extends Pick<MessagePeer, 'closed' | 'close'> {
  send(channel: number, bytes: Uint8Array): Promise<void>
}

export interface ChannelListener {
  data(channel: number, bytes: Buffer): void | Promise<void>
  /** The client sends no more on this channel. */
  end(channel: number): void
}

export function channelsOf(peer: MessagePeer, listener: ChannelListener): ChannelPeer {
  peer.onMessage((message) => {
    if (message.length === 0) return undefined
    const channel = message.readUInt8(0)
    if (channel !== END_OF_CHANNEL) return listener.data(channel, message.subarray(1))
    if (message.length === 2) listener.end(message.readUInt8(1))
    return undefined
  })
  return {
    closed: peer.closed,
    send: (channel, bytes) => peer.send(Buffer.from([channel]), bytes),
    close: peer.close,
  }
}
