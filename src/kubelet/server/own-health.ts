/**
 * What a kubelet tells of its health: to those on its machine by plain HTTP (port 10248), which init systems and kubeadm ask, and to permitted
 * clients by its server (port 10250).
 */
import { posix } from 'node:path'
import type { Runtime } from '../../base/runtime.ts'
import { createHealth, type HealthCheck } from '../../http/health-pages.ts'
import { smallServer } from '../../http/small-server.ts'
import { keepListening } from './keep-listening.ts'

export interface HealthzAddress {
  readonly host: string
  /** 0: nothing listens. */
  readonly port: number
}

export const HEALTHZ: HealthzAddress = { host: '127.0.0.1', port: 10_248 }

const ping: HealthCheck = { name: 'ping', check: () => {} }
/** What an answer proves by itself: all pods' work, and what is logged, is done in the turns of the process that answers. */
const ALIVE: readonly HealthCheck[] = [
  ping,
  ...['log', 'syncloop', 'device-plugin'].map((name) => ({ name, check: () => {} })),
]

/** Those of the kubelet's server, by name. */
export const CHECKS: ReadonlySet<string> = new Set(ALIVE.map(({ name }) => name))

/** The pages of the kubelet's server. Of these endpoints it has /healthz alone. */
export const serverHealth = () => createHealth(ALIVE)

/** Serves /healthz, with the one check that a kubelet has there, until the signal. Gives what ends it. */
export function serveHealthz(runtime: Runtime, address: HealthzAddress, signal: AbortSignal): () => Promise<void> {
  const { host, port } = address
  if (port === 0) return async () => {}
  const pages = createHealth([ping])
  const server = smallServer(async (response, path, query) => {
    const clean = posix.normalize(path)
    if (clean !== path && path.startsWith('/')) {
      const location = query === '' ? clean : `${clean}?${query}`
      const link = location.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
      const body = `<a href="${link}">Temporary Redirect</a>.\n\n`
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        location,
        'content-length': Buffer.byteLength(body),
      }
      response.writeHead(307, headers).end(body)
      return
    }
    const asked = { path, query: new URLSearchParams(query) }
    const found = path.startsWith('/healthz') ? await pages.answer(asked) : undefined
    const text = found === undefined ? '404 page not found\n' : Buffer.concat(found.bytes)
    response.writeHead(found?.status ?? 404, {
      'content-type': 'text/plain; charset=utf-8',
      ...(found === undefined ? { 'x-content-type-options': 'nosniff' } : found.headers),
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  })
  const stopping = new AbortController()
  signal.addEventListener('abort', () => stopping.abort(), { once: true })
  const listen = () => server.listen(host, port)
  const listening = keepListening(runtime, 'Failed to start healthz server', address, listen, stopping.signal)
  return async () => {
    stopping.abort()
    await listening
    await server.close()
  }
}
