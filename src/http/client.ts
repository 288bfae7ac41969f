/** The client side of the room: requests over HTTPS with a pool of kept-alive connections, answers whole or as a flow. */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request as httpsSend, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  type ConnectionOptions,
  checkServerIdentity,
  type PeerCertificate,
  connect as secured,
  type TLSSocket,
} from 'node:tls'
import { Agent as PlainAgent, request as plainSend } from './node-http.ts'
import { routeThrough } from './proxy.ts'
import { withHandshakeLimit } from './tls-handshake-limit.ts'

/** Where an API server is, and the client's credentials. PEM texts. */
export interface HttpsEndpoint {
  /** `https://host:port` (`http:` where it is asked for), with or without a path to put before every request's. */
  readonly server: string
  /** Authorities, and certificates of servers, each trusted as it is. Without it the machine's authorities. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** Bearer token, or a function that gives the newest one. */
  readonly token?: string | (() => string)
  readonly serverName?: string
  readonly insecureSkipTlsVerify?: boolean
  /**
   * How its connections are made, where that is not by a socket to `server`. None is kept. The signal aborts when the request that
   * it is for has ended, or the client is closed: what was begun is to be closed then.
   */
  readonly connect?: (signal: AbortSignal) => Promise<Duplex>
  /** `http:`, `https:` or `socks5:`, with or without a user. */
  readonly proxy?: string
  /** A handshake may take as long as the request: without it, ten seconds. */
  readonly anyHandshake?: boolean
  /** Nothing listens there, and nothing is asked: each request fails as a refused connection does. */
  readonly refused?: boolean
}

export interface HttpsRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** One with several values is sent once for each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | string
  readonly signal?: AbortSignal
  /** Called when the connection is there and nothing of the request was sent; what it throws, the request fails with. */
  readonly beforeItBegins?: () => void
}

export interface HttpsAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The whole body. Use one of bytes() and chunks(), once. */
  bytes(): Promise<Uint8Array>
  /** The body as it comes; ends with it, rejects when the connection breaks. Leaving the loop closes the connection. */
  chunks(): AsyncIterable<Uint8Array>
}

/** An answer 101: from now on the connection carries another protocol. */
export interface Upgraded {
  readonly status: 101
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly socket: Duplex
  /** What came behind the answer's head already. */
  readonly head: Buffer
}

export interface HttpsClient {
  /** Asks for another protocol, by the request's own `upgrade` header. Anything but 101 is an answer as of `send`. */
  upgrade(request: HttpsRequest): Promise<Upgraded | HttpsAnswer>
  /**
   * Resolves when the answer's head is there. Rejects with the socket's error (`local`: this end's `address:port`), or the
   * signal's reason.
   */
  send(request: HttpsRequest): Promise<HttpsAnswer>
  /** From now on no connection is kept for the next request; those in use end with theirs. */
  retire(): void
  /** Whether a request is under way. A connection that was upgraded to another protocol does not count: its caller closes it. */
  readonly inUse: boolean
  /** Cuts what is under way. */
  close(): void
}

function refusing({ hostname, port }: URL): HttpsClient {
  const address = hostname.replace(/^\[|\]$/g, '')
  const refuse = async () => {
    const where = { code: 'ECONNREFUSED', syscall: 'connect', address, port: Number(port) }
    throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), where)
  }
  return { send: refuse, upgrade: refuse, retire: () => {}, inUse: false, close: () => {} }
}

/** What a connection is told of the request that it is made for: Node's agents are not given its signal. */
interface ForConnection {
  readonly until?: AbortSignal
}

/** A client of a server that is never asked. */
export const refusedClient = (endpoint: HttpsEndpoint): HttpsClient => refusing(new URL(endpoint.server))

export function createHttpsClient(endpoint: HttpsEndpoint): HttpsClient {
  const url = new URL(endpoint.server)
  if (endpoint.refused === true) return refusing(url)
  const prefix = url.pathname.replace(/\/$/, '')
  const plain = url.protocol === 'http:'
  const pool = endpoint.connect === undefined ? { keepAlive: true, maxFreeSockets: 256 } : { keepAlive: false }
  const tls: ConnectionOptions = {
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    ...(endpoint.cert === undefined ? {} : { cert: endpoint.cert }),
    ...(endpoint.key === undefined ? {} : { key: endpoint.key }),
    ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
    rejectUnauthorized: endpoint.insecureSkipTlsVerify !== true,
    // As in Go's x509, each certificate of `ca` is trusted as it is: a server's own (envtest gives it as caBundle), or an
    // authority without the one above it. Node before 22.9 does not know the option: there only self-signed ones are.
    allowPartialTrustChain: true,
    minVersion: 'TLSv1.2',
    checkServerIdentity: namedAlternatively,
  }
  const agent = plain ? new PlainAgent(pool) : new Agent({ ...pool, ...tls })
  const route = endpoint.proxy === undefined ? undefined : routeThrough(endpoint.proxy, url, tls)
  const connect = endpoint.connect ?? route?.connect
  const before = `${route?.prefix ?? ''}${prefix}`
  const limited = endpoint.anyHandshake === true ? (socket: TLSSocket) => socket : withHandshakeLimit
  /** Connections that are being made, each of a request that waits for it. */
  const pending = new Set<AbortController>()
  if (connect === undefined) {
    const make = agent.createConnection
    // Node's own gives the socket at once, and calls nothing.
    if (!plain) agent.createConnection = (...args) => limited(make.apply(agent, args) as TLSSocket)
  } else
    agent.createConnection = (options, made) => {
      const given = (socket: Duplex) =>
        plain ? socket : limited(secured({ ...(options as ConnectionOptions), socket }))
      const { until } = options as ForConnection
      const making = new AbortController()
      const done = () => {
        pending.delete(making)
        until?.removeEventListener('abort', abort)
      }
      const abort = () => making.abort(until?.reason)
      making.signal.addEventListener('abort', () => {
        done()
        made?.(making.signal.reason, undefined as never)
      })
      pending.add(making)
      until?.addEventListener('abort', abort, { once: true })
      connect(making.signal).then(
        (socket) => {
          if (making.signal.aborted) return void socket.destroy()
          done()
          made?.(null, given(socket))
        },
        (error) => {
          if (making.signal.aborted) return
          done()
          made?.(error, undefined as never)
        },
      )
      return undefined
    }
  const sendTo = plain ? plainSend : httpsSend
  const { token } = endpoint
  const authorization = (): Record<string, string> =>
    token === undefined ? {} : { authorization: `Bearer ${typeof token === 'string' ? token : token()}` }

  const once = (request: HttpsRequest): Promise<HttpsAnswer> =>
    exchange(request, (socket, _incoming, _head, reject) => {
      // The request did not ask for an upgrade, so 101 is no answer to it.
      socket.destroy()
      reject(new Error('the server switched to another protocol unasked'))
      return undefined
    }) as Promise<HttpsAnswer>

  const exchange = (
    request: HttpsRequest,
    onUpgrade: (
      socket: Duplex,
      incoming: IncomingMessage,
      head: Buffer,
      reject: (error: Error) => void,
    ) => Upgraded | undefined,
  ): Promise<HttpsAnswer | Upgraded> =>
    new Promise((resolve, reject) => {
      const { body, signal, beforeItBegins } = request
      if (signal?.aborted) return reject(signal.reason)
      // A request that has no socket yet does not say by itself that it has ended.
      const abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      const options: RequestOptions & ForConnection = {
        agent,
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port === '' ? (plain ? 80 : 443) : Number(url.port),
        method: request.method,
        path: before + request.path,
        headers: {
          ...route?.headers,
          ...authorization(),
          ...request.headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        ...(signal === undefined ? {} : { signal, until: signal }),
      }
      const sent = sendTo(options)
      sent.on('close', () => signal?.removeEventListener('abort', abort))
      sent.on('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => localEnds.set(socket, localEnd(socket)))
      })
      sent.on('response', (incoming) => resolve(answer(incoming)))
      sent.on('upgrade', (incoming, socket, head) => {
        const upgraded = onUpgrade(socket, incoming, head, reject)
        if (upgraded !== undefined) resolve(upgraded)
      })
      sent.on('error', (error) => {
        const reusedSocket = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        const local = sent.socket === null ? undefined : localEnds.get(sent.socket)
        reject(signal?.aborted === true ? signal.reason : Object.assign(error, { reusedSocket, local }))
      })
      if (beforeItBegins === undefined) sent.end(body)
      else
        whenConnected(sent, () => {
          try {
            beforeItBegins()
          } catch (error) {
            sent.destroy(error as Error)
            return
          }
          sent.end(body)
        })
    })

  return {
    /** A kept connection that the server closed meanwhile says nothing about the request: reads are sent once more. */
    send: (request) =>
      once(request).catch((error: unknown) => {
        const again = (error as { reusedSocket?: boolean }).reusedSocket === true
        if (again && (request.method === 'GET' || request.method === 'HEAD')) return once(request)
        throw error
      }),
    upgrade: (request) =>
      exchange(request, (socket, { rawHeaders }, head): Upgraded => {
        // It may break before it is taken over, and has no use once its request has ended.
        socket.on('error', () => {})
        request.signal?.addEventListener('abort', () => socket.destroy(), { once: true })
        if (request.signal?.aborted === true) socket.destroy()
        return { status: 101, rawHeaders, socket, head }
      }),
    retire: () => {
      agent.maxFreeSockets = 0
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
    },
    get inUse() {
      // Node keeps an empty list where a connection could not be made.
      const isAny = (of: NodeJS.ReadOnlyDict<readonly unknown[]>) =>
        Object.values(of).some((list = []) => list.length > 0)
      return isAny(agent.sockets) || isAny(agent.requests) || pending.size > 0
    },
    close: () => {
      agent.destroy()
      for (const making of pending) making.abort(new Error('the client was closed'))
    },
  }
}

/** Calls `begin` when the request has a socket that is connected, by TLS where it is to be. */
function whenConnected(sent: ClientRequest, begin: () => void): void {
  sent.on('socket', (socket) => {
    const isSecuring = (socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting === true
    if (isSecuring) socket.once('secureConnect', begin)
    else if (socket.connecting) socket.once('connect', begin)
    else begin()
  })
}

/** Sockets' own ends, noted while they have them. */
const localEnds = new WeakMap<Socket, string>()

function localEnd({ localAddress = '', localPort }: Socket): string {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}

/** A host's name counts only as a subject's alternative name: a common name says nothing, as in every Go client. */
function namedAlternatively(host: string, certificate: PeerCertificate): Error | undefined {
  const wrong = checkServerIdentity(host, certificate)
  if (wrong !== undefined || certificate.subjectaltname) return wrong
  const error = new Error(`the certificate has no alternative names, and is not for ${host}`)
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function answer(incoming: IncomingMessage): HttpsAnswer {
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    bytes: () =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
        incoming.on('error', reject)
        incoming.on('aborted', () => reject(new Error('the connection closed before the answer was complete')))
      }),
    chunks: () => incoming as AsyncIterable<Uint8Array>,
  }
}
