/** The sockets of the cluster's DNS: UDP and TCP, on one port of each of its addresses. What is not from a pod or the machine itself is not answered. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import type { Runtime } from '../base/runtime.ts'
import { FormatError, parseQuery, type Query, RCODE } from './read-message.ts'
import { bareError } from './write-message.ts'

export interface SocketsOptions {
  readonly runtime: Runtime
  readonly addresses: readonly string[]
  /** In this order; 0: any. */
  readonly ports: readonly number[]
  readonly isAllowed: (source: string) => boolean
  readonly answer: (query: Query, protocol: 'udp' | 'tcp') => Promise<Uint8Array>
}

export interface Sockets {
  readonly port: number
  close(): Promise<void>
}

const MOST_CONNECTIONS = 256
const IDLE_MS = 10_000
/** Questions of one connection that wait for answers. */
const MOST_AT_ONCE = 32

/** @throws Error when no port is free */
export async function openSockets(options: SocketsOptions): Promise<Sockets> {
  let last: unknown
  for (const wanted of options.ports) {
    const opened: Sockets[] = []
    try {
      for (const address of options.addresses) opened.push(await openAt(address, opened[0]?.port ?? wanted, options))
      return {
        port: opened[0]?.port ?? 0,
        async close() {
          await Promise.all(opened.map((one) => one.close()))
        },
      }
    } catch (error) {
      last = error
      for (const one of opened) await one.close()
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') break
    }
  }
  throw last
}

async function openAt(address: string, port: number, options: SocketsOptions): Promise<Sockets> {
  const udp = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const tcp = createServer({ noDelay: true })
  try {
    const bound = await bindUdp(udp, address, port)
    await listenTcp(tcp, address, bound)
    const closeUdp = serveUdp(udp, options)
    const connections = serveTcp(tcp, options)
    return {
      port: bound,
      close() {
        closeUdp()
        return closeTcp(tcp, connections)
      },
    }
  } catch (error) {
    udp.close()
    tcp.close()
    throw error
  }
}

const bindUdp = (socket: UdpSocket, address: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address, port, exclusive: true }, () => {
      socket.off('error', reject)
      resolve(socket.address().port)
    })
  })

const listenTcp = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })

/** Undefined: nothing is to be said. */
async function answerTo(
  bytes: Uint8Array,
  { runtime, answer }: SocketsOptions,
  protocol: 'udp' | 'tcp',
): Promise<Uint8Array | undefined> {
  try {
    const query = parseQuery(bytes)
    try {
      return await answer(query, protocol)
    } catch (error) {
      runtime.log.error('A question was not answered', error)
      return bareError(query.id, RCODE.failed)
    }
  } catch (error) {
    return error instanceof FormatError && error.id !== undefined ? bareError(error.id, RCODE.format) : undefined
  }
}

function serveUdp(socket: UdpSocket, options: SocketsOptions): () => void {
  let isOpen = true
  // A client that has gone is told of here.
  socket.on('error', () => {})
  socket.on('message', (bytes, { address, port }) => {
    if (!options.isAllowed(address)) return
    void answerTo(bytes, options, 'udp').then((answer) => {
      if (answer !== undefined && isOpen) socket.send(answer, port, address, () => {})
    })
  })
  return () => {
    isOpen = false
    socket.close()
  }
}

function serveTcp(server: Server, options: SocketsOptions): ReadonlySet<Socket> {
  const connections = new Set<Socket>()
  server.on('error', () => {})
  server.on('connection', (socket) => {
    if (connections.size >= MOST_CONNECTIONS || !options.isAllowed(socket.remoteAddress ?? '')) {
      socket.destroy()
      return
    }
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    socket.on('error', () => {})
    serveConnection(socket, options)
  })
  return connections
}

/** Messages have their length before them. Answers go out in the order in which they are there. */
function serveConnection(socket: Socket, options: SocketsOptions): void {
  const { clock } = options.runtime
  let received: Buffer = Buffer.alloc(0)
  let waiting = 0
  let idle = clock.setTimer(IDLE_MS, 'idle DNS connection', () => socket.destroy())
  socket.on('close', () => idle.cancel())
  // Without reading answers a client asks no more: what is written and not taken stays in memory.
  const mayAsk = () => waiting < MOST_AT_ONCE && !socket.writableNeedDrain
  const read = () => {
    while (received.length >= 2 && mayAsk()) {
      const length = received.readUInt16BE()
      if (received.length < length + 2) break
      const message = received.subarray(2, length + 2)
      received = received.subarray(length + 2)
      waiting++
      void answerTo(message, options, 'tcp').then((answer) => {
        waiting--
        if (answer === undefined) return socket.destroy()
        const framed = Buffer.alloc(answer.length + 2)
        framed.writeUInt16BE(answer.length)
        framed.set(answer, 2)
        if (!socket.destroyed) socket.write(framed)
        read()
      })
    }
    if (mayAsk()) socket.resume()
    else socket.pause()
  }
  socket.on('drain', read)
  socket.on('data', (piece: Buffer) => {
    idle.cancel()
    idle = clock.setTimer(IDLE_MS, 'idle DNS connection', () => socket.destroy())
    received = received.length === 0 ? piece : Buffer.concat([received, piece])
    read()
  })
}

async function closeTcp(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const socket of connections) socket.destroy()
  await closed
}
