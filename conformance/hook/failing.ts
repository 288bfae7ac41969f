/**
 * Servers that a webhook's caller cannot come to an answer with: certificates that are wrong in every way, and what is no
 * TLS, no HTTP or no whole answer. The certificates' authority was made for this purpose and is trusted by nobody else.
 */
import { readFileSync } from 'node:fs'
import { createServer as createPlain } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'

const file = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url))

export const CERTIFICATES = [
  ...['good', 'expired', 'future', 'other-names', 'other-address', 'no-names', 'client-only', 'forged'],
  'forged-expired-elsewhere',
]
export const HABITS = ['plain', 'garbage', 'closing', 'resetting', 'old-tls', 'malformed', 'cut']

export interface FailingServers {
  /** base64 of the authority, as a caBundle. */
  readonly authority: string
  /** `127.0.0.1:port`'s port, by the server's name. */
  readonly ports: Readonly<Record<string, number>>
  close(): void
}

const allowed = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"","allowed":true}}'

export async function startFailingServers(): Promise<FailingServers> {
  const sockets = new Set<Socket>()
  const key = file('key')
  const good = { key, cert: file('good') }
  const written = (text: string) =>
    createTls(good, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(text))
    })
  const servers: Record<string, Server> = {
    plain: createPlain((_, answer) => answer.end(allowed)),
    garbage: createTcp((socket) => socket.end('hello, this is no handshake\r\n')),
    closing: createTcp((socket) => socket.once('data', () => socket.end())),
    resetting: createTcp((socket) => socket.once('data', () => socket.resetAndDestroy())),
    'old-tls': createTls({ ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
    malformed: written('hello, this is no answer\r\n\r\n'),
    cut: written(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n${allowed}`),
  }
  for (const name of CERTIFICATES)
    servers[name] = createServer({ key, cert: file(name) }, (_, answer) => answer.end(allowed))
  const ports: Record<string, number> = {}
  for (const [name, server] of Object.entries(servers)) {
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ports[name] = (server.address() as AddressInfo).port
  }
  return {
    authority: file('authority').toString('base64'),
    ports,
    close() {
      for (const socket of sockets) socket.destroy()
      for (const server of Object.values(servers)) server.close()
    },
  }
}
