/**
 * Listening on a port. Of each listening socket Node accepts one connection in a turn of its event loop, so that new clients
 * wait long where a turn has much to do. On Linux several sockets listen on the port, and the kernel shares new connections
 * out among them (SO_REUSEPORT); elsewhere, and where Node cannot ask for it, one does.
 */
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { type AddressFamily, listeningSockets } from '../base/listening-sockets.ts'

export interface Listening {
  readonly port: number
  /** No new connections; resolves when those there are have ended. */
  close(): Promise<void>
}

interface Address {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
}

const SOCKETS = 8
/** Connections that each socket holds until they are accepted, as far as the system lets it. */
const BACKLOG = 1024

/** @throws the error (EADDRINUSE, EACCES, …) as Node gives it; also where another process of this user shares the port */
export async function listen(server: Server, { host, port }: Address): Promise<Listening> {
  const sharing = canShare()
  // A port that another one shares would be shared with it.
  if (sharing && port !== 0) await closed(await listening(createServer(), { host, port, exclusive: true }))
  const listens = (own: Server, at: number) =>
    listening(own, { host, port: at, backlog: BACKLOG, ...(sharing ? { reusePort: true } : {}) })
  await listens(server, port)
  const servers = [server]
  const taken = server.address() as AddressInfo
  try {
    if (sharing) {
      const others = Array.from({ length: SOCKETS - 1 }, () => beside(server))
      servers.push(...others)
      await Promise.all(others.map((other) => listens(other, taken.port)))
    }
    // The system never gives a free port to two processes; one that is asked for by its number may be shared.
    if (sharing && port !== 0 && isSharedBeyond(servers.length, taken)) throw inUse(host, port)
  } catch (error) {
    for (const own of servers) own.close()
    throw error
  }
  return {
    port: taken.port,
    close: async () => {
      await Promise.all(servers.map(closed))
    },
  }
}

/** Its connections are those of `server`. */
function beside(server: Server): Server {
  return createServer({ noDelay: true }, (socket) => server.emit('connection', socket))
}

function listening(server: Server, options: ListenOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve(server)
    })
  })
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()))

/** Since Node 22.12 and 23.1. */
function canShare(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return process.platform === 'linux' && (major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12))
}

/** Whether more than these sockets listen there: another process that began at the same moment. */
function isSharedBeyond(sockets: number, { family, port }: AddressInfo): boolean {
  const counts = new Map<string, number>()
  for (const { address } of listeningSockets(family as AddressFamily, port))
    counts.set(address, (counts.get(address) ?? 0) + 1)
  return Math.max(0, ...counts.values()) > sockets
}

function inUse(address: string, port: number): Error {
  return Object.assign(new Error(`listen EADDRINUSE: address already in use ${address}:${port}`), {
    code: 'EADDRINUSE',
    syscall: 'listen',
    address,
    port,
  })
}
