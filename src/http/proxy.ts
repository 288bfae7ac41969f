/**
 * The way to a server through a proxy, as a kubeconfig's proxy-url names it: `http:` and `https:` (CONNECT; requests of plain HTTP go to
 * the proxy themselves, by their whole URL) and `socks5:` (RFC 1928 and 1929; names are looked up by the proxy).
 */

import type { RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { isIP, connect as plainly, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as secured, type TLSSocket } from 'node:tls'
import { parseIPv6 } from '../api/values/ip.ts'
import { dialProblem } from './dial-problem.ts'
import { request as plainRequest } from './node-http.ts'
import { readProxyUrl } from './proxy-url.ts'
import { withHandshakeLimit } from './tls-handshake-limit.ts'

export interface ProxyRoute {
  /**
   * What was begun is closed when the signal aborts before it is done, or the proxy is silent for a minute.
   * @throws Error in the words of a Go client, or the signal's reason
   */
  connect(signal?: AbortSignal): Promise<Duplex>
  /** What goes before each request's path. */
  readonly prefix: string
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>
}

/** As Go's clients name themselves to a proxy. */
const AGENT = 'Go-http-client/1.1'

/** `tls`: what the server's certificate is held against, as the proxy's own is. */
export function routeThrough(proxy: string, server: URL, tls: ConnectionOptions): ProxyRoute {
  const { url: via, user } = readProxyUrl(proxy)
  const place = {
    host: bare(via.hostname),
    port: Number(via.port || { 'http:': 80, 'https:': 443 }[via.protocol] || 1080),
  }
  const target = { host: bare(server.hostname), port: Number(server.port || (server.protocol === 'http:' ? 80 : 443)) }
  const authorization: Record<string, string> =
    user === undefined
      ? {}
      : { 'proxy-authorization': `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}` }
  const secure = { servername: isIP(place.host) === 0 ? place.host : '', ...tls }
  const dialed = (hold: Hold) =>
    proxyConnection(
      hold(via.protocol === 'https:' ? withHandshakeLimit(secured({ ...place, ...secure })) : plainly(place)),
    )
  if (via.protocol === 'socks5:') {
    const connect = (signal?: AbortSignal) =>
      attempt(signal, async (hold) => socks(await dialed(hold), place, target, user))
    return { connect, prefix: '', headers: {} }
  }
  if (server.protocol === 'http:')
    return { connect: (signal) => attempt(signal, dialed), prefix: server.origin, headers: authorization }
  const options = { ...place, ...(via.protocol === 'https:' ? secure : {}), agent: false as const }
  const send = via.protocol === 'https:' ? secureRequest : plainRequest
  const connect = (signal?: AbortSignal) =>
    attempt(signal, (hold) => tunnel(send, options, authorization, at(target), hold))
  return { connect, prefix: '', headers: {} }
}

/** How long a proxy may be silent before it has led to the server; Go's own limit for CONNECT. */
const SILENT_MS = 60_000

/** Takes the socket of an attempt, to close it where the attempt is given up. */
type Hold = (socket: Socket) => Socket

/** What `make` holds is destroyed, and the attempt fails, when the signal aborts or the proxy is silent for too long. */
function attempt(signal: AbortSignal | undefined, make: (hold: Hold) => Promise<Duplex>): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    let held: Socket | undefined
    let isOver = false
    const giveUp = (why: Error) => {
      isOver = true
      done()
      reject(why)
      held?.destroy()
    }
    const abort = () => giveUp(signal?.reason)
    const late = () => giveUp(new Error('context deadline exceeded'))
    const done = () => {
      signal?.removeEventListener('abort', abort)
      held?.setTimeout(0, late)
    }
    signal?.addEventListener('abort', abort, { once: true })
    make((socket) => {
      // A request has its socket a moment after it is made.
      held = isOver ? socket.destroy() : socket.setTimeout(SILENT_MS, late)
      return socket
    }).then(
      (socket) => {
        if (isOver) return void socket.destroy()
        done()
        resolve(socket)
      },
      (error) => {
        done()
        reject(error)
      },
    )
  })
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
const at = ({ host, port }: Place): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

interface Place {
  readonly host: string
  readonly port: number
}

/** Resolves when the proxy is connected, by TLS where it is to be. */
function proxyConnection(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      socket.off('error', refuse)
      // What breaks from now on is told by what is carried.
      socket.on('error', () => {})
      resolve(socket)
    })
    const refuse = (error: Error) => reject(proxyProblem(error))
    socket.once('error', refuse)
  })
}

function proxyProblem(error: NodeJS.ErrnoException): Error {
  const spokePlainly = error.code === 'EPROTO' || error.code === 'ERR_SSL_WRONG_VERSION_NUMBER'
  const why = spokePlainly ? 'tls: first record does not look like a TLS handshake' : error.message
  return new Error(`proxyconnect tcp: ${dialProblem(error) ?? why}`, { cause: error })
}

function tunnel(
  send: (options: RequestOptions) => ReturnType<typeof secureRequest>,
  options: RequestOptions,
  authorization: Readonly<Record<string, string>>,
  target: string,
  hold: Hold,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { host: target, 'user-agent': AGENT, ...authorization }
    const asked = send({ ...options, method: 'CONNECT', path: target, headers })
    asked.removeHeader('connection')
    asked.on('socket', (socket) => hold('encrypted' in socket ? withHandshakeLimit(socket as TLSSocket) : socket))
    asked.on('error', (error) => reject(proxyProblem(error)))
    asked.on('connect', ({ statusCode, statusMessage = '' }, socket, head) => {
      socket.on('error', () => {})
      if (statusCode === 200) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      socket.destroy()
      reject(new Error(statusMessage === '' ? 'unknown status code' : statusMessage))
    })
    asked.end()
  })
}

const REPLIES = [
  '',
  'general SOCKS server failure',
  'connection not allowed by ruleset',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
]
const VERSION = 5
const NO_AUTHENTICATION = 0
const PASSWORD = 2
const TYPES = { v4: 1, name: 3, v6: 4 } as const

async function socks(
  socket: Socket,
  proxy: Place,
  target: Place,
  user: { readonly name: string; readonly password: string } | undefined,
): Promise<Duplex> {
  try {
    const methods = user === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, PASSWORD]
    socket.write(Uint8Array.from([VERSION, methods.length, ...methods]))
    const [version, method] = await exactly(socket, 2)
    if (version !== VERSION) throw new Error(`unexpected protocol version ${version}`)
    if (method === PASSWORD && user !== undefined) {
      // Go's clients give an empty password too.
      if (user.name === '') throw new Error(NO_USER)
      socket.write(Buffer.concat([Buffer.from([1]), counted(user.name, NO_USER), counted(user.password, NO_USER)]))
      const [, status] = await exactly(socket, 2)
      if (status !== 0) throw new Error('username/password authentication failed')
    } else if (method !== NO_AUTHENTICATION) throw new Error('no acceptable authentication methods')
    const port = Buffer.from([target.port >> 8, target.port & 0xff])
    socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), address(target.host), port]))
    const [, reply = 0, , type] = await exactly(socket, 4)
    if (reply !== 0) throw new Error(`unknown error ${REPLIES[reply] ?? `unknown code: ${reply}`}`)
    const length = type === TYPES.v4 ? 4 : type === TYPES.v6 ? 16 : ((await exactly(socket, 1))[0] ?? 0)
    await exactly(socket, length + 2)
    return socket
  } catch (cause) {
    socket.destroy()
    throw new Error(`socks connect tcp ${at(proxy)}->${at(target)}: ${(cause as Error).message}`, { cause })
  }
}

const NO_USER = 'invalid username/password'

/** The length in one byte, then the text. @throws Error with `problem` for what is longer than that can say */
function counted(text: string, problem: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 255) throw new Error(problem)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function address(host: string): Buffer {
  switch (isIP(host)) {
    case 4:
      return Buffer.from([TYPES.v4, ...host.split('.').map(Number)])
    case 6:
      return Buffer.from([TYPES.v6, ...Buffer.from((parseIPv6(host) ?? 0n).toString(16).padStart(32, '0'), 'hex')])
    default:
      return Buffer.concat([Buffer.from([TYPES.name]), counted(host, 'FQDN too long')])
  }
}

/** @throws Error where the connection ends before */
function exactly(socket: Socket, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const read = socket.read(count) as Buffer | null
      if (read === null || read.length < count) return
      done()
      resolve(read)
    }
    const ended = () => {
      done()
      reject(new Error('EOF'))
    }
    const done = () => {
      socket.off('readable', look).off('end', ended).off('error', ended).off('close', ended)
    }
    socket.on('readable', look).on('end', ended).on('error', ended).on('close', ended)
    look()
  })
}
