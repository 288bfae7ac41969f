import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { asKubeObject } from '../api/object.ts'
import type { ApiRequest, WatchEvent } from '../api/request.ts'
import { notFound } from '../api/status.ts'
import { Stream } from '../base/stream.ts'
import { ca, runtime, serving } from './fixture.test.ts'
import { startHttpServer } from './server.ts'

const event = (name: string): WatchEvent => ({
  type: 'ADDED',
  object: asKubeObject({ apiVersion: 'v1', kind: 'Pod', metadata: { name } }),
})

/** A server whose every path but /none is a watch of `events`. */
async function watching(contentType = 'application/json', prefix = '') {
  const ended = Promise.withResolvers<void>()
  const events = new Stream<WatchEvent>({ onClose: ended.resolve })
  const requests: ApiRequest[] = []
  const server = await startHttpServer(runtime, {
    handler: (request) => {
      requests.push(request)
      if (request.path === '/none') throw notFound({ group: '', resource: 'pods' }, 'x')
      const encode = ({ object }: WatchEvent) => Buffer.from(`${prefix}${object.metadata?.name ?? object.kind}\n`)
      return { kind: 'watch', status: 200, contentType, events, encode }
    },
    host: '127.0.0.1',
    port: 0,
    tls: { cert: serving.cert, key: serving.key, clientCas: [ca.cert] },
  })
  const url = `wss://127.0.0.1:${server.port}/`
  return {
    server,
    events,
    /** Resolves when the events have been closed. */
    ended: ended.promise,
    requests,
    port: server.port,
    open: (protocols: string[] = []) => new WebSocket(url, protocols, { ca: ca.cert, origin: 'https://127.0.0.1' }),
    [Symbol.asyncDispose]: () => server.stop(1000),
  }
}

test('over WebSocket each event of a watch is a text message, and its end a close with 1000', async () => {
  await using it = await watching()
  const peer = it.open()
  const messages: string[] = []
  peer.on('message', (data, binary) => messages.push(`${binary ? 'binary' : 'text'} ${data}`))
  await once(peer, 'open')
  for (const name of ['a', 'b']) it.events.push(event(name))
  await once(peer, 'message')
  it.events.push(event('c'))
  it.events.close()
  const [code] = await once(peer, 'close')
  assert.deepEqual(messages, ['text a\n', 'text b\n', 'text c\n'])
  assert.equal(code, 1000)
  assert.equal(it.requests[0]?.signal.aborted, true)
})

test('protobuf events are binary messages without the length that goes before them in a stream', async () => {
  await using it = await watching('application/vnd.kubernetes.protobuf;stream=watch', '1234')
  const peer = it.open()
  it.events.push(event('a'))
  const [data, binary] = await once(peer, 'message')
  assert.deepEqual([String(data), binary], ['a\n', true])
  peer.terminate()
})

test('what a watch is broken off with is its last message', async () => {
  await using it = await watching()
  const peer = it.open()
  it.events.close(new Error('broken'))
  const [data] = await once(peer, 'message')
  assert.equal(String(data), 'Status\n')
  await once(peer, 'close')
})

test('a client that closes its WebSocket, or is gone, ends its watch; what it says does not matter', {
  timeout: 10_000,
}, async () => {
  for (const leave of [(peer: WebSocket) => peer.close(), (peer: WebSocket) => peer.terminate()]) {
    await using it = await watching()
    const peer = it.open()
    await once(peer, 'open')
    peer.send('hello')
    peer.ping('are you there')
    const [pong] = await once(peer, 'pong')
    assert.equal(String(pong), 'are you there')
    leave(peer)
    await it.ended
  }
})

test('stop ends watches over WebSocket', async () => {
  await using it = await watching()
  const peer = it.open()
  await once(peer, 'open')
  const [[code]] = await Promise.all([once(peer, 'close'), it.server.stop(5000)])
  assert.equal(code, 1000)
})

test('the one subprotocol asked for is taken, beside a token', async () => {
  await using it = await watching()
  const peer = it.open(['base64url.bearer.authorization.k8s.io.YWJj', 'base64.binary.k8s.io'])
  await once(peer, 'open')
  assert.equal(peer.protocol, 'base64.binary.k8s.io')
  peer.terminate()
})

test('a handshake that lacks something, and a request that fails, are refused in HTTP', async () => {
  await using it = await watching()
  const whole = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    origin: 'https://127.0.0.1',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const ask = (headers: Record<string, string>, path = '/') =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = httpsRequest(`https://127.0.0.1:${it.port}${path}`, {
        ca: ca.cert,
        headers: { ...whole, ...headers },
      })
      sent.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.statusCode)
      })
      sent.on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on('error', reject)
      sent.end()
    })
  assert.equal(await ask({}), 101)
  assert.equal(await ask({ upgrade: 'WebSocket', connection: 'keep-alive, upgrade' }), 101)
  assert.equal(await ask({ origin: '' }), 403)
  assert.equal(await ask({ origin: 'null' }), 403)
  assert.equal(await ask({ 'sec-websocket-version': '8' }), 400)
  assert.equal(await ask({ 'sec-websocket-key': '' }), 400)
  assert.equal(await ask({ 'sec-websocket-key': 'short' }), 400)
  assert.equal(await ask({ 'sec-websocket-protocol': 'a, b' }), 400)
  assert.equal(await ask({}, '/none'), 404)
})
