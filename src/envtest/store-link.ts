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

/** Resolves when the first of the servers that answers has taken this process. @throws Error with what to mend */
export async function attach(clock: Clock, servers: readonly string[]): Promise<StoreLink> {
  const until = clock.monotonic() + PATIENCE_MS
  for (;;) {
    let why = ''
    for (const server of servers) {
      try {
        return linked(server, await upgraded(server, ATTACH_PATH))
      } catch (error) {
        if (!isNotThereYet(error)) throw error
        why = messageOf(error)
      }
    }
    if (clock.monotonic() > until) throw new Error(`no etcd answers at ${servers.join(', ')}: ${why}`)
    await new Promise<void>((resolve) => clock.setTimer(AGAIN_MS, 'etcd', resolve))
  }
}

const isNotThereYet = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ECONNRESET', 'EADDRNOTAVAIL'].includes((error as NodeJS.ErrnoException).code ?? '')

interface Upgraded {
  readonly socket: Socket
  /** What came with the answer. */
  readonly head: Buffer
  readonly place?: string
}

function upgraded(server: string, path: string): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, server)
    const headers = { connection: 'upgrade', upgrade: ATTACH_PROTOCOL }
    const asking = request(url, { headers, timeout: PATIENCE_MS })
    asking.on('timeout', () => asking.destroy(new Error(`${server} takes connections and does not answer`)))
    asking.on('upgrade', ({ headers: { [PLACE_HEADER]: place } }, socket, head) => {
      ;(socket as Socket).setTimeout(0)
      socket.on('error', () => {})
      resolve({ socket: socket as Socket, head, ...(typeof place === 'string' ? { place } : {}) })
    })
    asking.on('response', (answer) => {
      answer.resume()
      reject(
        new Error(
          answer.statusCode === 409
            ? `${server} already serves another kube-apiserver`
            : `${server} is not skiff's etcd: this kube-apiserver keeps its objects itself, and takes no other store`,
        ),
      )
    })
    asking.on('error', reject)
    asking.end()
  })
}

function linked(server: string, { socket, head, place }: Upgraded): StoreLink {
  let take: ((connection: Socket) => void) | undefined
  let waiting: string[] = []
  let text = ''
  const dial = (name: string) => {
    // A client that is gone by now has no connection to take over.
    upgraded(server, `${CLIENT_PATH}${name}`).then(
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
