/** How a port speaks where an administrator says so, as a Kubernetes v1.37.1 was heard to (2026-11-27). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type Settings } from 'node:http2'
import { test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { issue } from '../cluster/certificate.ts'
import { alice, ca, json, runtime, started } from './fixture.test.ts'
import type { Http2Limits } from './limits.ts'
import { byServerName } from './sni.ts'

const http2: Http2Limits = { disabled: false, goawayChance: 0 }
const certificateOf = (commonName: string, hosts: readonly string[] = []) =>
  issue(runtime, { commonName, usage: 'server', hosts, validDays: 1 }, ca)

async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket | string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  try {
    await once(socket, 'secureConnect')
    return socket
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  }
}

test('a certificate is chosen by the name that is asked for: the first that has it, or has its first label as *', () => {
  const names = { a: ['a.example', '*.b.example'], b: ['*.b.example', 'A.b.example', '*', '*.*.c.example'], own: [] }
  const certificates = Object.entries(names).map(
    ([key, names]) => [{ key, names, cert: certificateOf('Common.example', ['own.example']).cert }, key] as const,
  )
  const of = byServerName(certificates)
  assert.deepEqual(
    ['a.example', 'A.Example', 'x.b.example', 'a.b.example', 'one', 'x.y.b.example', 'x.y.c.example', ''].map(of),
    ['a', 'a', 'a', 'b', 'b', undefined, undefined, 'b'],
  )
  assert.deepEqual(['common.example', 'own.example', 'x.own.example'].map(of), ['own', 'own', undefined])
})

test('one that asks for another name is shown its certificate, and is known by its own as elsewhere', async () => {
  const named = [{ ...certificateOf('other'), names: ['other.example'] }]
  let seen: Uint8Array | undefined
  await using server = await started(
    (request) => {
      seen = request.connection?.peerCertificate
      return json(request, {})
    },
    { named },
  )
  const shown = async (servername: string) => {
    const socket = await handshake(server.server.port, { servername, cert: alice.cert, key: alice.key })
    assert.ok(typeof socket !== 'string')
    const { CN } = socket.getPeerCertificate().subject
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
    return CN
  }
  assert.equal(await shown('other.example'), 'other')
  assert.ok(seen !== undefined)
  assert.equal(await shown('unknown.example'), 'server')
  server.server.setCertificate({ ...certificateOf('renewed'), clientCas: [ca.cert], named: [] })
  assert.equal(await shown('other.example'), 'renewed')
})

test('without HTTP/2 a client that speaks it alone is refused', async () => {
  await using server = await started((request) => json(request, {}), {
    limits: { http2: { ...http2, disabled: true } },
  })
  const both = await handshake(server.server.port, { ALPNProtocols: ['h2', 'http/1.1'] })
  assert.ok(typeof both !== 'string')
  assert.equal(both.alpnProtocol, 'http/1.1')
  both.destroy()
  const alone = await handshake(server.server.port, { ALPNProtocols: ['h2'] })
  assert.equal(alone, 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
})

test('a connection of HTTP/2 has as many requests at once as are allowed, and may be told to end behind one', async () => {
  await using server = await started((request) => json(request, {}), {
    limits: { http2: { ...http2, maxStreams: 7, goawayChance: 1 } },
  })
  const session = connectHttp2(server.url, { ca: ca.cert })
  const [settings] = (await once(session, 'remoteSettings')) as [Settings]
  assert.equal(settings.maxConcurrentStreams, 7)
  const told = once(session, 'goaway')
  const asked = session.request({ ':path': '/' })
  const [headers] = await once(asked, 'response')
  assert.equal(headers[':status'], 200)
  assert.equal((await told)[0], 0)
  asked.resume()
  await once(session, 'close')
})
