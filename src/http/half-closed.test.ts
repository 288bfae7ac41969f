import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectNet } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { Handler, WatchEvent } from '../api/request.ts'
import { Stream } from '../base/stream.ts'
import { ca, runtime, started } from './fixture.test.ts'
import { startPlainServer } from './plain-server.ts'

const SIZE = 8 * 1024 * 1024
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** A server of each kind, and how a client that keeps its half open reaches it. */
const servers = {
  'over TLS': async (handler: Handler) => {
    const it = await started(handler)
    const tls = {
      port: it.server.port,
      host: '127.0.0.1',
      ca: ca.cert,
      ALPNProtocols: ['http/1.1'],
      allowHalfOpen: true,
    }
    const connect = () => connectTls(tls)
    return { connect, stop: () => it[Symbol.asyncDispose]() }
  },
  'over plain HTTP': async (handler: Handler) => {
    const { port, stop } = await startPlainServer(runtime, { handler, host: '127.0.0.1', port: 0, maxBodyBytes: 1000 })
    return { connect: () => connectNet({ port, host: '127.0.0.1', allowHalfOpen: true }), stop }
  },
}

for (const [how, serve] of Object.entries(servers)) {
  test(`a client that ends its half after its requests gets their answers whole, then the end (${how})`, {
    timeout: 20_000,
  }, async ({ signal }) => {
    const { connect, stop } = await serve(async () => {
      // After the client's end is here.
      await ended
      return { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [Buffer.alloc(SIZE, '#')] }
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const socket = connect()
    signal.addEventListener('abort', () => socket.destroy())
    socket.end(GET + GET)
    await once(socket, 'finish')
    const other = connect()
    other.end()
    // An idle one is closed; by then the end of the first is here too.
    for await (const chunk of other) assert.fail(String(chunk))
    resolve()
    let size = 0
    for await (const chunk of socket) size += chunk.toString('latin1').replaceAll(/[^#]/g, '').length
    assert.equal(size, 2 * SIZE)
    await stop()
  })

  test(`a watch ends with its client's half of the connection (${how})`, { timeout: 10_000 }, async ({ signal }) => {
    const closed = Promise.withResolvers<void>()
    const { connect, stop } = await serve(async () => {
      const events = new Stream<WatchEvent>({ onClose: closed.resolve })
      return { kind: 'watch', status: 200, contentType: 'application/json', events, encode: () => Buffer.from('\n') }
    })
    for (const isAtOnce of [true, false]) {
      const socket = connect()
      signal.addEventListener('abort', () => socket.destroy())
      socket.write(GET)
      if (!isAtOnce) await once(socket, 'readable')
      socket.end()
      let all = ''
      for await (const chunk of socket) all += chunk
      assert.match(all, /^HTTP\/1.1 200 OK\r\n.*\r\n0\r\n\r\n$/s)
    }
    await closed.promise
    await stop()
  })
}
