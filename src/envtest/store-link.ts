/**
 * Between the two executables: kube-apiserver holds the objects, and etcd's port stands for them. kube-apiserver attaches itself to
 * that port by a connection that stays, so that each knows of the other's end.
 */
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'

/** The path that kube-apiserver attaches at, and the protocol that is spoken from then on. */
export const ATTACH_PATH = '/skiff.dev/attach'
export const ATTACH_PROTOCOL = 'skiff-store'

/** As long as kube-apiserver waits for an etcd that does not answer. */
const PATIENCE_MS = 20_000
const AGAIN_MS = 50

export interface StoreLink {
  /** Resolves when etcd is gone. */
  readonly gone: Promise<void>
  close(): void
}

/** Resolves when the first of the servers that answers has taken this process. @throws Error with what to mend */
export async function attach(clock: Clock, servers: readonly string[]): Promise<StoreLink> {
  const until = clock.monotonic() + PATIENCE_MS
  for (;;) {
    let why = ''
    for (const server of servers) {
      try {
        return linked(await upgraded(server))
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

function upgraded(server: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const url = new URL(ATTACH_PATH, server)
    const headers = { connection: 'upgrade', upgrade: ATTACH_PROTOCOL }
    const asking = request(url, { headers, timeout: PATIENCE_MS })
    asking.on('timeout', () => asking.destroy(new Error(`${server} takes connections and does not answer`)))
    asking.on('upgrade', (_answer, socket) => {
      ;(socket as Socket).setTimeout(0)
      resolve(socket as Socket)
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

function linked(socket: Socket): StoreLink {
  socket.on('error', () => {})
  socket.resume()
  return {
    gone: new Promise((resolve) => socket.on('close', () => resolve())),
    close: () => socket.destroy(),
  }
}
