/**
 * etcd's client port: HTTP/1.1 for health and for the kube-apiserver that attaches itself, and gRPC (HTTP/2 without TLS) for clients of
 * etcd, whose connections are led to that kube-apiserver as they are. That kube-apiserver may serve the port itself (hand-over.ts).
 */
import { once } from 'node:events'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { behindReadyIo } from '../base/live-clock.ts'
import { ATTACH_PATH, ATTACH_PROTOCOL, CLIENT_PATH, HANDED_OVER, PLACE_HEADER } from './store-link.ts'

/** How every connection of HTTP/2 begins. */
const PREFACE = 'PRI * HTTP/2.0'
/** As long as a connection may say nothing, or wait for a kube-apiserver to take it, in milliseconds. */
const SILENCE_MS = 20_000

/** What is answered to GET, by path. */
export type Pages = Readonly<Record<string, readonly [type: string, text: string]>>

export interface EtcdPort {
  /** A server for one of the addresses; each knows the same kube-apiserver. */
  server(): Server
}

/** What answers for the store. */
export interface EtcdHere {
  /** A connection of gRPC. */
  take(client: Socket): void
  /** See ServedEtcd. */
  json(path: string, body: string): Promise<{ readonly status: number; readonly body: string } | undefined>
  metrics(): Promise<string>
}

export interface EtcdPortOptions {
  /** Where this process is the kube-apiserver: it answers clients of etcd itself, and no other may attach itself. */
  readonly here?: EtcdHere
  /** Otherwise: what the kube-apiserver that attaches itself is told, in a header; whether it has the port, as it then says. */
  readonly place?: () => string
  readonly isHeld?: () => boolean
  /** Called again as those end that came before. */
  readonly onHandedOver?: (connections: number) => void
}

export function createEtcdPort(pages: Pages, { here, place, isHeld, onHandedOver }: EtcdPortOptions = {}): EtcdPort {
  let attached: Socket | undefined
  let isHandedOver = false
  /** All connections but that of the kube-apiserver that is attached. */
  const open = new Set<Socket>()
  /** Those of them that were answered, and ask nothing now. An HTTP server that does not listen itself does not know them. */
  const idle = new Set<Socket>()
  const looked = () => {
    if (isHandedOver) onHandedOver?.(open.size)
  }
  /** Connections of clients of etcd that kube-apiserver has been told of, by the name given to each. */
  const waiting = new Map<string, Socket>()
  let clients = 0

  function takeClient(socket: Socket): void {
    if (here !== undefined) {
      here.take(socket)
      return
    }
    if (attached === undefined) {
      socket.destroy()
      return
    }
    const name = String(++clients)
    waiting.set(name, socket)
    socket.setTimeout(SILENCE_MS, () => socket.destroy())
    socket.on('close', () => waiting.delete(name))
    attached.write(`${name}\n`)
  }

  function attach(socket: Socket): void {
    if (attached !== undefined || here !== undefined) {
      refuse(socket, 409)
      return
    }
    attached = socket
    open.delete(socket)
    socket.on('close', () => {
      attached = undefined
      for (const client of waiting.values()) client.destroy()
    })
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text = `${text}${chunk.toString('latin1')}`.slice(-HANDED_OVER.length - 1)
      if (isHandedOver || text !== `${HANDED_OVER}\n`) return
      if (isHeld?.() !== true) {
        socket.destroy()
        return
      }
      // Right after new connections were taken: those that wait meanwhile are lost.
      behindReadyIo(() => {
        isHandedOver = true
        looked()
        for (const socket of idle) socket.end()
      })
    })
    accept(socket, place === undefined ? '' : `${PLACE_HEADER}: ${place()}\r\n`)
  }

  function join(name: string, socket: Socket): void {
    const client = waiting.get(name)
    if (client === undefined) {
      refuse(socket, 404)
      return
    }
    waiting.delete(name)
    client.setTimeout(0)
    accept(socket)
    for (const [from, to] of [
      [client, socket],
      [socket, client],
    ] as const) {
      from.pipe(to)
      from.on('close', () => to.destroy())
    }
  }

  let http: Promise<HttpServer> | undefined

  /** HTTP is loaded when the first connection speaks it: the port, which is what starters wait for, is open before. */
  async function createHttp(): Promise<HttpServer> {
    const { default: module } = await import('node:http')
    const server = module.createServer((request, response) => {
      const { socket } = request
      idle.delete(socket)
      response.on('finish', () => {
        if (open.has(socket)) idle.add(socket)
      })
      response.shouldKeepAlive &&= !isHandedOver
      answer(pages, here, request, response)
    })
    // As etcd: a connection stays as long as its client wants it.
    server.keepAliveTimeout = 0
    server.on('upgrade', (request, stream) => {
      const socket = stream as Socket
      socket.on('error', () => {})
      const { url = '', headers } = request
      if (headers.upgrade !== ATTACH_PROTOCOL) refuse(socket, 404)
      else if (url === ATTACH_PATH) attach(socket)
      else if (url.startsWith(CLIENT_PATH)) join(url.slice(CLIENT_PATH.length), socket)
      else refuse(socket, 404)
    })
    return server
  }

  return {
    server() {
      return createServer((socket) => {
        open.add(socket)
        socket.on('close', () => {
          open.delete(socket)
          idle.delete(socket)
          looked()
        })
        socket.on('error', () => {})
        socket.setTimeout(SILENCE_MS, () => socket.destroy())
        firstBytes(socket, (bytes) => {
          socket.setTimeout(0)
          socket.removeAllListeners('timeout')
          socket.unshift(bytes)
          if (bytes.toString('latin1') === PREFACE) takeClient(socket)
          else {
            http ??= createHttp()
            void http.then((server) => server.emit('connection', socket))
          }
        })
      })
    },
  }
}

/** As many as tell what is spoken. */
function firstBytes(socket: Socket, then: (bytes: Buffer) => void): void {
  let bytes = Buffer.alloc(0)
  const read = () => {
    for (let chunk = socket.read(1); chunk !== null; chunk = socket.read(1)) {
      bytes = Buffer.concat([bytes, chunk])
      const text = bytes.toString('latin1')
      if (text !== PREFACE && PREFACE.startsWith(text)) continue
      socket.off('readable', read)
      return then(bytes)
    }
  }
  socket.on('readable', read)
}

function accept(socket: Socket, headers = ''): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${ATTACH_PROTOCOL}\r\n${headers}\r\n`,
  )
}

/** @throws what the system says, as that another listens there */
export async function listenOn(
  server: Server,
  host: string,
  port: number,
  options: Pick<ListenOptions, 'exclusive' | 'reusePort'>,
): Promise<Server> {
  server.listen({ ...options, host, port })
  await once(server, 'listening')
  return server
}

function refuse(socket: Socket, status: 404 | 409): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}

function answer(pages: Pages, here: EtcdHere | undefined, request: IncomingMessage, response: ServerResponse): void {
  const [path = ''] = (request.url ?? '').split('?')
  if (here !== undefined && (path === '/metrics' || path.startsWith('/v3/'))) {
    answerHere(here, path, request, response).catch(() => response.destroy())
    return
  }
  request.resume()
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (page === undefined || request.method !== 'GET') {
    response.writeHead(page === undefined ? 404 : 405, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(page === undefined ? '404 page not found\n' : 'Method Not Allowed\n')
    return
  }
  response.writeHead(200, { 'content-type': page[0] })
  response.end(page[1])
}

/** As large as etcd takes a request. */
const LONGEST_BODY = 2 << 20

async function answerHere(
  here: EtcdHere,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isPost = request.method === 'POST'
  if (path === '/metrics') {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    response.end(await here.metrics())
    return
  }
  let body = ''
  request.setEncoding('utf8')
  for await (const chunk of request) {
    body += chunk
    if (body.length > LONGEST_BODY) throw new Error('the request is too large')
  }
  const answered = isPost ? await here.json(path, body) : METHOD_NOT_ALLOWED
  response.writeHead(answered?.status ?? 404, { 'content-type': 'application/json' })
  response.end(answered?.body)
}

const METHOD_NOT_ALLOWED = { status: 501, body: '{"code":12,"message":"Method Not Allowed"}' }
