/**
 * http: the only room that knows node:http and node:http2, server and client side: sockets, TLS, HTTP/1.1 and HTTP/2,
 * upgrades, back-pressure, compression, draining. Called by cluster (server) and client (client.ts). It must never
 * know what a path means or what a user may do: every request becomes an ApiRequest, every ApiResponse becomes bytes.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2'
import { createSecureServer } from 'node:http2'
import { createSecureContext, type TLSSocket } from 'node:tls'
import type { ConnectionInfo, EagerHandler } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import { createBodies } from './bodies.ts'
import { createConnectionTable } from './connections.ts'
import { createGathering } from './gather.ts'
import type { HttpLimits } from './limits.ts'
import { listen } from './listen.ts'
import { refusedHead, refusedStream, refuseHandshake, refuseMalformed } from './malformed.ts'
import { answerOn, ServerResponse as PlainResponse, whenFree } from './node-http.ts'
import { hasBody, isOnlyRead, originForm, type ReceivedRequest, readBody, requestOf } from './receive.ts'
import { createResponder, type Outgoing } from './respond.ts'
import { byServerName, type NamedCertificate } from './sni.ts'
import type { WatchTraffic } from './watch-back-pressure.ts'
import { asksForWebSocket, type Upgrade } from './websocket.ts'

/** PEM. Without certificate and key, which come later, no connection comes about. */
export interface ServingTls {
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly clientCas: readonly string[]
  /** For clients that ask for a server of another name. */
  readonly named?: readonly NamedCertificate[]
}

export interface HttpServerOptions {
  readonly limits?: HttpLimits
  readonly handler: EagerHandler
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** PEM. `clientCas` verify client certificates; a certificate that does not verify is reported, not refused. */
  readonly tls: ServingTls
  /** Bytes a request body may have. Default 3 MiB, as in Kubernetes. */
  readonly maxBodyBytes?: number
  /** Bytes that all bodies on their way may have together. Default 256 MiB. */
  readonly maxHeldBytes?: number
  /** Client certificates that verify but for their time are reported as verified: the handler judges that by a time of its own. */
  readonly foreignTime?: boolean
  /** Whether answers name themselves for an audit log (Audit-ID), which only an API server has. Default true. */
  readonly hasAuditIds?: boolean
  /** The handler hears of requests whose body is broken or too large too, and looks at their `bodyFailure`. Default: they are refused. */
  readonly takesBrokenBodies?: boolean
}

interface HeldUpgrade extends Upgrade {
  readonly socket: TLSSocket
  /** Has the socket until an upgrade takes it over. */
  readonly response: ServerResponse
  /** Tells the answers of the socket that it takes more, until an upgrade takes it over. */
  readonly onDrain: () => void
}

export interface HttpServer {
  readonly host: string
  readonly port: number
  /** Open TLS connections. */
  connections(): number
  readonly watches: WatchTraffic
  /** Takes a renewed certificate for new connections. Without one none comes about. */
  setCertificate(tls: ServingTls): void
  /**
   * Stops in order: no new connections, GOAWAY and `Connection: close`, watches end, requests in flight finish; what is
   * still open after `graceMs` is cut.
   */
  stop(graceMs: number): Promise<void>
  /** From now on each answer is the last of its connection; new connections are taken all the same. */
  lastAnswers(): void
}

const MAX_HEADER_BYTES = 1024 * 1024
const MAX_HEADERS = 10_000

/** Clients keep idle connections for up to 90 seconds; a server that closes earlier breaks their next request. */
const HTTP1 = {
  keepAliveTimeout: 120_000,
  headersTimeout: 32_000,
  requestTimeout: 120_000,
  // As in Kubernetes: Node's own 16 kB is below what long selectors and tokens need.
  maxHeaderSize: MAX_HEADER_BYTES,
  maxHeadersCount: MAX_HEADERS,
  // Answered here, in words.
  requireHostHeader: false,
}

/** For ALPN (RFC 7301): a name behind its length. */
const HTTP1_ALONE = Buffer.from('\x08http/1.1')

/**
 * node:http stops reading from a client that sends request after request and takes no answers once answers wait for it; so some must be
 * there before all that this client sent is read.
 */
const REQUESTS_TOGETHER = 64

type Incoming = IncomingMessage | Http2ServerRequest
type Answer = ServerResponse | Http2ServerResponse

/** A request and its answer on their way. */
interface Exchange {
  readonly incoming: Incoming
  readonly outgoing: Outgoing
  readonly connection: ConnectionInfo
  readonly controller: AbortController
  readonly upgrade: HeldUpgrade | undefined
  /** Path and query. */
  readonly target: string
  /** Once it is here. */
  body: Uint8Array | undefined
  /** Why there is none. */
  bodyFailure?: unknown
}

/** @throws the listen error (EADDRINUSE, EACCES, …) as Node gives it */
export async function startHttpServer(runtime: Runtime, options: HttpServerOptions): Promise<HttpServer> {
  const connections = createConnectionTable(options)
  const responder = createResponder(runtime, options.hasAuditIds)
  const arrivals = createGathering<Exchange>(runtime.scheduler, {
    label: 'http requests',
    act: (exchange) => void answer(exchange),
    after: responder.flush,
    most: REQUESTS_TOGETHER,
  })
  const bodies = createBodies(runtime.clock, options.maxHeldBytes)
  const maxBodyBytes = options.maxBodyBytes ?? 3 * 1024 * 1024
  const { tls: tlsLimits, http2 } = options.limits ?? {}
  const goawayChance = http2?.goawayChance ?? 0
  let stopping = false
  /** New connections still come, unlike when it is stopping. */
  let answersAreLast = false
  const contextOf = (tls: ServingTls) => ({
    minVersion: 'TLSv1.2' as const,
    ...tlsLimits,
    ...secureContext(tls),
  })
  const namedContexts = (tls: ServingTls) =>
    byServerName((tls.named ?? []).map((one) => [one, createSecureContext(contextOf({ ...tls, ...one }))]))
  let contextByName = namedContexts(options.tls)
  const server = createSecureServer({
    ...contextOf(options.tls),
    SNICallback: (name, found) => found(null, contextByName(name)),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    // Long enough for a thousand clients that come at once on a busy machine.
    handshakeTimeout: 30_000,
    noDelay: true,
    maxHeaderListPairs: MAX_HEADERS,
    settings: {
      maxConcurrentStreams: http2?.maxStreams ?? 250,
      initialWindowSize: 256 * 1024,
      maxHeaderListSize: MAX_HEADER_BYTES,
      enablePush: false,
    },
    maxSessionMemory: 64,
    unknownProtocolTimeout: 10_000,
    ...HTTP1,
  })
  // Older Node versions read these from the server instead of its options.
  Object.assign(server, HTTP1)
  // Node's choice of protocols, which no option takes away where HTTP/1.1 is allowed beside HTTP/2.
  if (http2?.disabled === true) Object.assign(server, { ALPNProtocols: HTTP1_ALONE })

  server.on('secureConnection', (socket: TLSSocket) => {
    connections.opened(socket)
    // Its handshake was under way when the stop began.
    if (stopping && socket.alpnProtocol !== 'h2') socket.destroySoon()
  })
  server.on('session', (session: ServerHttp2Session) => {
    connections.session(session)
    session.on('error', () => {})
    session.setLocalWindowSize(1024 * 1024)
    if (stopping) session.close()
  })
  server.on('sessionError', () => {})
  const handshakes = runtime.metrics
    ?.counter('apiserver_tls_handshake_errors_total', 'TLS handshakes that failed.')
    .child()
  server.on('tlsClientError', (error, socket) => {
    handshakes?.add()
    refuseHandshake(error, socket)
  })
  server.on('clientError', refuseMalformed)

  server.on('request', (incoming: Incoming, outgoing: Answer) => {
    keepWhatFollows(incoming)
    if (refused(incoming, outgoing)) return
    if (incoming.url === '*' && incoming.method === 'OPTIONS') {
      // Asked of the server itself, as a sign of life.
      outgoing.setHeader('content-length', '0')
      outgoing.end()
    } else serve(incoming, outgoing, peerOf(incoming))
  })
  // A client that sends Expect: 100-continue is told to go on only where something is to be sent, and taken.
  server.on('checkContinue', (incoming: Incoming, outgoing: Answer) => {
    keepWhatFollows(incoming)
    if (refused(incoming, outgoing)) return
    if (hasBody(incoming, incoming.method ?? '') && Number(incoming.headers['content-length'] ?? 0) <= maxBodyBytes)
      outgoing.writeContinue()
    serve(incoming, outgoing, peerOf(incoming))
  })
  // HTTP/2 passes over what it does not know.
  server.on('checkExpectation', (incoming: Incoming, outgoing: ServerResponse) => {
    keepWhatFollows(incoming)
    if ('stream' in incoming) return serve(incoming, outgoing, peerOf(incoming))
    outgoing.writeHead(417, { connection: 'close', 'content-length': 0 })
    outgoing.end()
  })
  // Only HTTP/1.1 upgrades. A handler that answers with anything but an upgrade answers on the same socket, then closes it.
  server.on('upgrade', (incoming: IncomingMessage, socket: TLSSocket, head: Buffer) =>
    serveAlone(incoming, socket, (response, onDrain) => ({ incoming, socket, head, response, onDrain })),
  )
  // No tunnel begins here: a method like others that nothing is served by. In HTTP/2 it names no path.
  server.on('connect', (incoming: Incoming, given: TLSSocket | Http2ServerResponse) => {
    if (!('stream' in incoming)) serveAlone(incoming, given as TLSSocket)
    else if ('stream' in given) given.writeHead(405).end()
  })

  const listening = await listen(server, options)
  const newId = () => runtime.random.passingUuid()

  function serve(
    incoming: Incoming,
    outgoing: Outgoing,
    peer: TLSSocket | ServerHttp2Session | undefined,
    upgrade?: HeldUpgrade,
  ): void {
    if (peer === undefined) return
    const controller = new AbortController()
    connections.began(peer)
    // What is under way is answered; what follows comes by a new connection, perhaps to another server.
    if (goawayChance > 0 && 'goaway' in peer && runtime.random.float() < goawayChance) peer.close()
    outgoing.on('close', () => {
      connections.ended(peer, answersAreLast)
      // HTTP/2's counts as finished too when the client has given it up.
      if (!outgoing.writableEnded || !outgoing.writableFinished) controller.abort()
    })
    outgoing.on('error', () => {})
    let target: string
    try {
      target = originForm(incoming.url)
    } catch (error) {
      refuse(undefined, error, { incoming, outgoing })
      return
    }
    const exchange: Exchange = {
      incoming,
      outgoing,
      connection: connections.info(peer),
      controller,
      upgrade,
      target,
      body: undefined,
    }
    const arrived = (body: Uint8Array | undefined) => {
      exchange.body = body
      arrivals.add(exchange)
    }
    const { method = 'GET' } = incoming
    if (!hasBody(incoming, method)) {
      arrived(undefined)
      return
    }
    const failed = (error: unknown) => {
      // Of what only reads, a body is passed over, as no handler would look at it.
      if (incoming.destroyed || !(isOnlyRead(method) || options.takesBrokenBodies === true))
        refuse(undefined, error, exchange)
      else {
        if (!isOnlyRead(method)) exchange.bodyFailure = error
        // Nothing is kept of what is left of it, which would hold up the other streams of its connection; one of its own ends with the answer.
        responder.closeAfter(exchange.outgoing)
        incoming.resume()
        arrived(undefined)
      }
    }
    readBody(bodies, incoming, maxBodyBytes, arrived, failed)
  }

  /** A request that node:http gives the socket away with, and no answer. */
  function serveAlone(
    incoming: IncomingMessage,
    socket: TLSSocket,
    upgradeOf?: (response: ServerResponse, onDrain: () => void) => HeldUpgrade,
  ): void {
    socket.on('error', () => {})
    // node:http no longer tells the answers of this socket when it takes more.
    const onDrain = () => void answerOn(socket)?.emit('drain')
    socket.on('drain', onDrain)
    whenFree(socket, () => {
      const response = new PlainResponse(incoming)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      response.on('finish', () => socket.destroySoon())
      if (!refusedHead(incoming, response)) serve(incoming, response, socket, upgradeOf?.(response, onDrain))
    })
  }

  function refuse(
    request: ReceivedRequest | undefined,
    error: unknown,
    { incoming, outgoing }: Pick<Exchange, 'incoming' | 'outgoing'>,
  ): void {
    if (answersAreLast) responder.closeAfter(outgoing)
    responder.fail(request, error, outgoing)
    if (!incoming.readableEnded) incoming.resume()
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { incoming, outgoing, connection, controller, upgrade } = exchange
    let request: ReceivedRequest | undefined
    try {
      request = requestOf(incoming, exchange.target, controller.signal, connection, newId, exchange.body)
      if (exchange.bodyFailure !== undefined) request = { ...request, bodyFailure: exchange.bodyFailure }
      const answered = options.handler(request)
      const response = answered instanceof Promise ? await answered : answered
      if (answersAreLast) responder.closeAfter(outgoing)
      if (response.kind === 'upgrade') {
        if (upgrade === undefined) throw new Error('the handler upgrades a request that asked for no upgrade')
        handOver(upgrade, controller)
        response.takeOver(upgrade.socket, upgrade.head)
        return
      }
      if (response.kind === 'watch' && upgrade !== undefined && asksForWebSocket(request)) {
        handOver(upgrade, controller)
        await responder.watchOverWebSocket(response, upgrade, controller.signal)
      } else {
        const sent = responder.send(request, response, outgoing)
        if (sent !== undefined) await sent
      }
      // Filters that count or tell of an answer that goes on hear of its end by this signal, however it ended.
      if (response.kind === 'watch' || response.kind === 'stream') controller.abort()
    } catch (error) {
      refuse(request, error, exchange)
    }
  }

  return {
    host: options.host,
    port: listening.port,
    connections: () => connections.size,
    watches: responder.watches,
    setCertificate: (tls) => {
      contextByName = namedContexts(tls)
      server.setSecureContext(contextOf(tls))
    },
    lastAnswers: () => {
      answersAreLast = true
    },
    stop: (graceMs) => {
      stopping = true
      answersAreLast = true
      return new Promise((resolve) => {
        const timer = runtime.clock.setTimer(graceMs, 'http stop', () => connections.destroyAll())
        void listening.close().then(() => {
          timer.cancel()
          resolve()
        })
        responder.stop()
        connections.closeIdle()
      })
    },
  }
}

/**
 * node:http's parser takes the bytes of a TLS connection from below the stream. Where a request comes while an answer waits for its client,
 * node:http pauses the socket and the parser, which is handed all the same what is decrypted already, and gives the next request up
 * (HPE_PAUSED). One that listens for data makes it read from the stream from then on, which keeps those bytes, at 3 µs more for each request
 * of the connection.
 *
 * node:http's own listener that would begin to read again goes with that, and the stream takes the read that it began with, of which the
 * parser had the bytes, to be still under way: it would not begin another. Nothing, pushed, ends that read.
 */
function keepWhatFollows(incoming: Incoming): void {
  if ('stream' in incoming) return
  const { socket } = incoming
  if (!socket.isPaused() || socket.listeners('data').includes(passedOver)) return
  socket.on('data', passedOver)
  socket.push(NOTHING)
}

const refused = (incoming: Incoming, outgoing: Answer): boolean =>
  'stream' in incoming ? refusedStream(incoming) : !('stream' in outgoing) && refusedHead(incoming, outgoing)

const passedOver = () => {}
const NOTHING = Buffer.alloc(0)

function handOver({ response, socket, onDrain }: HeldUpgrade, controller: AbortController): void {
  response.detachSocket(socket)
  socket.off('drain', onDrain)
  socket.once('close', () => controller.abort())
}

function peerOf(incoming: Incoming): TLSSocket | ServerHttp2Session | undefined {
  return 'stream' in incoming
    ? (incoming.stream.session as ServerHttp2Session | undefined)
    : (incoming.socket as TLSSocket)
}

function secureContext({ cert, key, clientCas }: ServingTls) {
  return { ...(cert === undefined || key === undefined ? {} : { cert, key }), ca: [...clientCas] }
}
