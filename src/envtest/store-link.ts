/**
 * Between the two executables: kube-apiserver holds the objects, and etcd's port stands for them. kube-apiserver attaches itself to
 * that port by a connection that stays, so that each knows of the other's end. On it etcd names the connections of its clients, one a line;
 * kube-apiserver dials back for each, and the two become one.
 */
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'

/** The path that kube-apiserver attaches at, and the protocol that is spoken from then on. */
export const ATTACH_PATH = '/skiff.dev/attach'
export const ATTACH_PROTOCOL = 'skiff-store'
/** With the name of a client's connection behind it: where kube-apiserver takes it over. */
export const CLIENT_PATH = '/skiff.dev/client/'

/** In etcd's answer: how its port may be taken over (hand-over.ts). */
export const PLACE_HEADER = 'skiff-place'
/** What kube-apiserver says to the etcd whose port it has taken over, a line. */
export const HANDED_OVER = 'handed-over'

/** As long as kube-apiserver waits for an etcd that does not answer. */
const PATIENCE_MS = 20_000
const AGAIN_MS = 50
/** An etcd that is started together with this process listens before. */
const QUIET_MS = 2000

export interface StoreLink {
  /** What etcd says of itself, where its port may be taken over. */
  readonly place: string | undefined
  /** The port of the etcd that this process is attached to. */
  readonly port: number
  /** Resolves when etcd is gone. */
  readonly gone: Promise<void>
  /** Each connection of a client of etcd, from now on; those before it are waiting. */
  serve(take: (connection: Socket) => void): void
  /** The port has been taken over: its connection may end. */
  handedOver(): void
  close(): void
}

/**
 * Resolves when the first of the servers that answers has taken this process. `say`: a line for the starter's log, while it waits for longer than
 * an etcd takes to start, and whenever what it meets changes.
 *
 * @throws Error with what to mend
 */
export async function attach(
  clock: Clock,
  servers: readonly string[],
  say: (line: string) => void,
): Promise<StoreLink> {
  for (const server of servers) requirePlainHttp(server)
  const begin = clock.monotonic()
  let said = ''
  for (;;) {
    const met: string[] = []
    for (const server of servers) {
      try {
        return linked(clock, server, await upgraded(clock, server, ATTACH_PATH, PATIENCE_MS / servers.length))
      } catch (error) {
        if (!isNotThereYet(error)) throw new Error(`--etcd-servers: ${messageOf(error)}`, { cause: error })
        met.push(`${shown(server)}: ${messageOf(error)}`)
      }
    }
    const why = met.join('; ')
    const waited = clock.monotonic() - begin
    if (waited > PATIENCE_MS) throw new Error(`--etcd-servers: no etcd answers (${why})`)
    if (waited > QUIET_MS && why !== said) {
      say(`waiting for an etcd at --etcd-servers (${why})`)
      said = why
    }
    await new Promise<void>((resolve) => clock.setTimer(AGAIN_MS, 'etcd', resolve))
  }
}

/** Without credentials. */
const shown = (server: string): string => server.replace(/\/\/[^/]*@/, '//')

/** @throws Error for what no etcd of skiff listens at */
function requirePlainHttp(server: string): void {
  const url = URL.parse(server)
  if (url !== null && url.protocol === 'http:' && url.hostname !== '') return
  throw new Error(
    `--etcd-servers: ${JSON.stringify(shown(server))} is no http URL such as http://127.0.0.1:2379: this kube-apiserver keeps its objects itself, and attaches to skiff's etcd alone, which serves no other`,
  )
}

const isNotThereYet = (error: unknown): boolean => NOT_THERE_YET.has((error as NodeJS.ErrnoException).code ?? '')

/** A name may be given to a machine that starts meanwhile. */
const NOT_THERE_YET: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
])

interface Upgraded {
  readonly socket: Socket
  /** What came with the answer. */
  readonly head: Buffer
  readonly place?: string
}

function upgraded(clock: Clock, server: string, path: string, patienceMs: number): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, server)
    const headers = { connection: 'upgrade', upgrade: ATTACH_PROTOCOL }
    const asking = request(url, { headers })
    // Of the whole answer: one that comes drop by drop is none either.
    const limit = clock.setTimer(patienceMs, 'answer of etcd', () => {
      const seconds = patienceMs / 1000
      asking.destroy(Object.assign(new Error(`no answer within ${seconds} s`), { code: 'ETIMEDOUT' }))
    })
    asking.on('close', () => limit.cancel())
    asking.on('upgrade', ({ headers: { [PLACE_HEADER]: place } }, socket, head) => {
      limit.cancel()
      socket.on('error', () => {})
      resolve({ socket: socket as Socket, head, ...(typeof place === 'string' ? { place } : {}) })
    })
    asking.on('response', (answer) => {
      answer.destroy()
      reject(
        new Error(
          answer.statusCode === 409
            ? `${shown(server)} already serves another kube-apiserver`
            : `${shown(server)} is not skiff's etcd: this kube-apiserver keeps its objects itself, and takes no other store`,
        ),
      )
    })
    asking.on('error', (error: NodeJS.ErrnoException) => {
      const isHttp = error.code?.startsWith('HPE_') !== true
      reject(isHttp ? error : new Error(`${shown(server)} does not speak HTTP, as etcd does`, { cause: error }))
    })
    asking.end()
  })
}

function linked(clock: Clock, server: string, { socket, head, place }: Upgraded): StoreLink {
  let take: ((connection: Socket) => void) | undefined
  let waiting: string[] = []
  let text = ''
  const dial = (name: string) => {
    // A client that is gone by now has no connection to take over.
    upgraded(clock, server, `${CLIENT_PATH}${name}`, PATIENCE_MS).then(
      (client) => {
        if (client.head.length > 0) client.socket.unshift(client.head)
        if (socket.destroyed) client.socket.destroy()
        else take?.(client.socket)
      },
      () => {},
    )
  }
  const read = (chunk: Buffer) => {
    const lines = (text + chunk.toString('latin1')).split('\n')
    text = lines.pop() ?? ''
    for (const name of lines) {
      if (take === undefined) waiting.push(name)
      else dial(name)
    }
  }
  read(head)
  socket.on('data', read)
  let isHandedOver = false
  return {
    place,
    port: portOf(server),
    gone: new Promise((resolve) => socket.on('close', () => (isHandedOver ? undefined : resolve()))),
    serve(taker) {
      take = taker
      for (const name of waiting) dial(name)
      waiting = []
    },
    handedOver() {
      isHandedOver = true
      socket.write(`${HANDED_OVER}\n`)
    },
    close: () => socket.destroy(),
  }
}

function portOf(server: string): number {
  const { port, protocol } = new URL(server)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
