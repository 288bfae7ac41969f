/**
 * A kubelet's server for tests of the API server's way to it: logs are text, exec runs a few words of its own, port-forward echoes.
 * It speaks SPDY/3.1 as kubelets do, and asks for a client certificate.
 */

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { createSpdySession, type SpdyStream } from '../../src/http/spdy/session.ts'

export interface StandIn {
  readonly port: number
  /** `METHOD target` of each request, in order. */
  readonly asked: string[]
  /** The protocols that were asked for instead of HTTP, in order. */
  readonly upgrades: string[]
  /** Common names of the clients' certificates. */
  readonly clients: (string | undefined)[]
  /** Connections of sessions that are open. */
  readonly open: Set<Duplex>
  /** Bytes that its connections have taken from `zeros`. */
  written(): number
  /** Lets every `deaf` that has begun read. */
  letRead(): void
  close(): void
}

/** Answers plain requests; undefined: 404. */
export type Page = (request: IncomingMessage, response: ServerResponse) => boolean

export async function startKubeletStandIn(page: Page = () => false, host = '127.0.0.1'): Promise<StandIn> {
  const runtime = liveRuntime()
  const ca = issue(runtime, { commonName: 'stand-in', usage: 'ca', validDays: 1 })
  const serving = issue(runtime, { commonName: 'stand-in', usage: 'server', hosts: ['127.0.0.1'], validDays: 1 }, ca)
  const asked: string[] = []
  const upgrades: string[] = []
  const clients: (string | undefined)[] = []
  const open = new Set<Duplex>()
  let reading = Promise.withResolvers<void>()
  let written = 0
  const shared: Shared = {
    mayRead: () => reading.promise,
    wrote: (bytes) => {
      written += bytes
    },
  }
  const note = (request: IncomingMessage) => {
    asked.push(`${request.method} ${request.url}`)
    clients.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined)
  }
  const server = createServer({ ...serving, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    note(request)
    if (page(request, response)) return
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet')
    if (pathname.startsWith('/containerLogs/')) return logs(searchParams, response)
    response.writeHead(404, { 'content-type': 'text/plain' })
    response.end(`nothing at ${pathname}\n`)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    note(request)
    upgrades.push(request.headers.upgrade ?? '')
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    const url = new URL(request.url ?? '/', 'https://kubelet')
    if (url.searchParams.get('command') === 'refuse') {
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nno such c\n')
      return
    }
    if (url.searchParams.get('command') === 'elsewhere') {
      socket.end('HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const offered = request.headers['x-stream-protocol-version']?.toString() ?? ''
    const protocol = url.pathname.startsWith('/portForward/') ? 'portforward.k8s.io' : 'v4.channel.k8s.io'
    if (request.headers.upgrade !== 'SPDY/3.1' || !offered.includes(protocol)) {
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
      return
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    )
    const streams = new Map<string, SpdyStream>()
    const session = createSpdySession(socket, {
      role: 'server',
      head,
      onStream: (stream) => {
        const type = stream.headers['streamtype'] ?? ''
        if (protocol === 'portforward.k8s.io') return forwarded(type, stream)
        streams.set(type, stream)
        const wanted = ['error', ...streamsOf(url.searchParams)]
        if (wanted.every((name) => streams.has(name)))
          void run(url.searchParams.getAll('command'), streams, shared).then(() => session.close())
      },
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    upgrades,
    clients,
    open,
    written: () => written,
    letRead: () => {
      reading.resolve()
      reading = Promise.withResolvers()
    },
    close: () => {
      server.close()
      server.closeAllConnections()
      for (const socket of open) socket.destroy()
    },
  }
}

function logs(query: URLSearchParams, response: ServerResponse): void {
  if (query.get('previous') === 'true') {
    response.writeHead(400, { 'content-type': 'text/plain' })
    response.end('previous terminated container "c" in pod "p" not found')
    return
  }
  response.writeHead(200, { 'content-type': 'text/plain' })
  response.write(`asked ${query}\n`)
  if (query.get('follow') !== 'true') response.end('the end\n')
}

function streamsOf(query: URLSearchParams): readonly string[] {
  const tty = query.has('tty')
  return [
    ...(query.has('input') ? ['stdin'] : []),
    ...(query.has('output') ? ['stdout'] : []),
    ...(query.has('error') && !tty ? ['stderr'] : []),
    ...(tty ? ['resize'] : []),
  ]
}

/** What the commands of all sessions share. */
interface Shared {
  /** Resolves when `deaf` may read. */
  mayRead(): Promise<void>
  wrote(bytes: number): void
}

/**
 * `cat`, `exit N`, `both` (a word on each stream), `size` (the terminal's first size), `zeros N` (so many bytes), `sum` (the SHA-256 of
 * its input), `deaf` (the same, but it reads nothing until it may), `wait`.
 */
async function run(
  [name = '', argument = '']: readonly string[],
  streams: ReadonlyMap<string, SpdyStream>,
  { mayRead, wrote }: Shared,
): Promise<void> {
  const [stdin, stdout, stderr, error, resize] = ['stdin', 'stdout', 'stderr', 'error', 'resize'].map((type) =>
    streams.get(type),
  )
  let code = 0
  if (name === 'cat' && stdin !== undefined && stdout !== undefined) {
    for await (const bytes of stdin as AsyncIterable<Buffer>)
      if (!stdout.write(bytes)) await new Promise((resolve) => stdout.once('drain', resolve))
  } else if (name === 'exit') code = Number(argument)
  else if (name === 'both') {
    stdout?.write('out\n')
    stderr?.write('err\n')
  } else if (name === 'size' && resize !== undefined) {
    for await (const bytes of resize as AsyncIterable<Buffer>) {
      stdout?.write(`${bytes.toString().trim()}\r\n`)
      break
    }
  } else if (name === 'zeros' && stdout !== undefined) {
    const zeros = Buffer.alloc(64 * 1024)
    for (let left = Number(argument); left > 0; left -= zeros.length) {
      const bytes = zeros.subarray(0, Math.min(left, zeros.length))
      await new Promise((resolve) => stdout.write(bytes, resolve))
      if (stdout.destroyed) break
      wrote(bytes.length)
    }
  } else if ((name === 'sum' || name === 'deaf') && stdin !== undefined) {
    if (name === 'deaf') await mayRead()
    const hash = createHash('sha256')
    for await (const bytes of stdin as AsyncIterable<Buffer>) hash.update(bytes)
    stdout?.write(hash.digest('hex'))
  } else if (name === 'wait' && stdin !== undefined) await text(stdin).catch(() => {})
  const last = (stream: SpdyStream | undefined, text = '') =>
    new Promise<void>((resolve) => (stream === undefined ? resolve() : stream.end(text, resolve)))
  await Promise.all([last(stdout), last(stderr)])
  await last(
    error,
    JSON.stringify(
      code === 0
        ? { metadata: {}, status: 'Success' }
        : {
            metadata: {},
            status: 'Failure',
            message: `command terminated with non-zero exit code: exit status ${code}`,
            reason: 'NonZeroExitCode',
            details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
          },
    ),
  )
}

/** Of each forwarded connection two streams: what comes on the data stream goes back. */
function forwarded(type: string, stream: SpdyStream): void {
  if (type === 'error') {
    stream.end()
    stream.resume()
  } else stream.pipe(stream)
}
