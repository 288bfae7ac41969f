/** A TCP proxy that cuts connections, swallows what passes, or delays it: the network between an API server and a member of etcd. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface MemberProxy {
  readonly port: number
  /** Ends every connection at once, in the midst of whatever it carries. */
  cut(): void
  /** While it lasts nothing passes in either direction, and nothing is said of it. */
  swallow(isSwallowing: boolean): void
  /** While it lasts each piece takes a tenth of a second longer. */
  delay(isDelaying: boolean): void
  stop(): Promise<void>
}

const DELAY_MS = 100

export async function startProxy(target: number): Promise<MemberProxy> {
  const sockets = new Set<Socket>()
  let isSwallowing = false
  let isDelaying = false
  const server = createServer((from) => {
    const to = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one)
      let waiting = 0
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.on('data', (bytes) => {
        if (isSwallowing) return
        if (!isDelaying && waiting === 0) {
          other.write(bytes)
          return
        }
        // Nothing overtakes what waits.
        waiting++
        setTimeout(() => {
          waiting--
          if (!other.destroyed) other.write(bytes)
        }, DELAY_MS)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    swallow: (swallowing) => {
      isSwallowing = swallowing
      // What was swallowed is missing from the stream: a connection that lives on would carry nonsense.
      if (!swallowing) cut()
    },
    delay: (delaying) => {
      isDelaying = delaying
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
