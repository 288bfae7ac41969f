/** HTTP servers of simulated containers (annotation `serve`): each request is answered with the pod's hostname, its method and its path. */
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { duplexPair } from '../../../http/duplex-pair.ts'
import { createServer } from '../../../http/node-http.ts'

/** `8080`, `80,443`: the ports. @throws Error */
export function readServed(text: string): ReadonlySet<number> {
  const parts = text.split(',').map((part) => part.trim())
  const ports = new Set(parts.map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : 0)))
  for (const port of ports)
    if (port < 1 || port > 65_535) throw new Error(`${JSON.stringify(text)} names no ports: write 8080 or 80,443`)
  return ports
}

/** Makes connections to what serves; one server answers all of them, and is made with the first. */
export function createServing(): (hostname: string) => Duplex {
  const hostnames = new WeakMap<object, string>()
  let server: Server | undefined
  const started = () => {
    const made = createServer({ requireHostHeader: false })
    made.on('request', (incoming, outgoing) => {
      // What is sent along is taken and thrown away.
      incoming.resume()
      outgoing.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
      outgoing.end(`${hostnames.get(incoming.socket) ?? ''} ${incoming.method} ${incoming.url}\n`)
    })
    return made
  }
  return (hostname) => {
    server ??= started()
    const [own, other] = duplexPair()
    hostnames.set(own, hostname)
    server.emit('connection', own)
    return other
  }
}
