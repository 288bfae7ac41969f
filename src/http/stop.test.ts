/** What clients see of a server that stops. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import type { Handler, WatchEvent } from '../api/request.ts'
import { Stream } from '../base/stream.ts'
import { ca, json, started } from './fixture.test.ts'

test('stop ends watches, lets requests finish and closes idle connections', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const events = new Stream<WatchEvent>()
  const it = await started(async (request) => {
    if (request.path === '/watch')
      return { kind: 'watch', status: 200, contentType: 'application/json', events, encode: () => Buffer.from('\n') }
    if (request.path === '/slow') {
      begun.resolve()
      await finish.promise
    }
    return json(request, {})
  })
  await (await it.client.send({ method: 'GET', path: '/' })).bytes()
  const watch = await it.client.send({ method: 'GET', path: '/watch' })
  const slow = it.client.send({ method: 'GET', path: '/slow' })
  await begun.promise
  const stopped = it.server.stop(10_000)
  assert.equal((await watch.bytes()).length, 0)
  finish.resolve()
  const answer = await slow
  assert.equal(answer.status, 200)
  await answer.bytes()
  await stopped
  it.client.close()
})

test('what still runs when the time to stop is over is cut', async () => {
  const begun = Promise.withResolvers<void>()
  const it = await started(() => {
    begun.resolve()
    return new Promise(() => {})
  })
  const stuck = it.client.send({ method: 'GET', path: '/' })
  stuck.catch(() => {})
  await begun.promise
  await it.server.stop(10)
  await assert.rejects(stuck)
  it.client.close()
})

/** `/watch` tells of these events, `/slow` is answered when `finish` was called. */
function slowly() {
  const watched = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const events = new Stream<WatchEvent>()
  const handler: Handler = async (request) => {
    if (request.path === '/watch') {
      watched.resolve()
      return {
        kind: 'watch',
        status: 200,
        contentType: 'application/json',
        events,
        encode: ({ object }) => Buffer.from(`${object.metadata.name}\n`),
      }
    }
    if (request.path === '/slow') {
      begun.resolve()
      await finish.promise
    }
    return json(request, {})
  }
  const tell = (name: string) =>
    events.push({ type: 'ADDED', object: { apiVersion: 'v1', kind: 'X', metadata: { name } } })
  return { handler, watching: watched.promise, begun: begun.promise, finish: finish.resolve, tell }
}

test('over HTTP/2 a stop is told by GOAWAY without an error: watches end behind their last event, what is under way is answered, and nothing new is taken', async () => {
  const { handler, begun, finish, tell } = slowly()
  const it = await started(handler)
  const session = connectHttp2(it.url, { ca: ca.cert })
  const ask = (path: string) => {
    const stream = session.request({ ':path': path })
    let text = ''
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    return { answered: once(stream, 'response'), ended: once(stream, 'end').then(() => text) }
  }
  const watch = ask('/watch')
  await watch.answered
  const slow = ask('/slow')
  await begun
  const idle = connectHttp2(it.url, { ca: ca.cert })
  await once(idle, 'connect')
  const gone = [once(session, 'goaway'), once(idle, 'goaway')]
  tell('last')
  const stopped = it.server.stop(10_000)
  for (const [code] of await Promise.all(gone)) assert.equal(code, constants.NGHTTP2_NO_ERROR)
  assert.equal(await watch.ended, 'last\n')
  await assert.rejects(once(session.request({ ':path': '/' }), 'response'), { code: 'ERR_HTTP2_GOAWAY_SESSION' })
  finish()
  assert.equal(JSON.parse(await slow.ended).kind, 'X')
  await stopped
  it.client.close()
})

test('over HTTP/1.1 the last answer says that the connection ends, and nothing is sent behind it', async () => {
  const { handler, watching, begun, finish, tell } = slowly()
  const it = await started(handler)
  const agent = new Agent({ keepAlive: true, ca: ca.cert })
  const ask = (path: string) =>
    new Promise<{ connection: string | undefined; text: string }>((resolve, reject) => {
      const sent = httpsRequest(it.url + path, { agent }, async (answer) => {
        let text = ''
        for await (const chunk of answer) text += chunk
        resolve({ connection: answer.headers.connection, text })
      })
      sent.on('error', reject)
      sent.end()
    })
  const watch = ask('/watch')
  await watching
  const slow = ask('/slow')
  await begun
  tell('last')
  const stopped = it.server.stop(10_000)
  assert.equal((await watch).text, 'last\n')
  await assert.rejects(ask('/'), { code: /^ECONN(REFUSED|RESET)$/ })
  finish()
  const { connection, text } = await slow
  assert.equal(connection, 'close')
  assert.equal(JSON.parse(text).kind, 'X')
  await stopped
  agent.destroy()
  it.client.close()
})

test('where answers are the last of their connections, new connections are taken all the same', async () => {
  const it = await started(async (request) => json(request, {}))
  it.server.lastAnswers()
  for (let i = 0; i < 2; i++) {
    const answer = await it.client.send({ method: 'GET', path: '/' })
    assert.deepEqual([answer.status, answer.headers['connection']], [200, 'close'])
    await answer.bytes()
    const session = connectHttp2(it.url, { ca: ca.cert })
    const [head] = await once(session.request({ ':path': '/' }).resume(), 'response')
    assert.equal(head[':status'], 200)
    session.close()
  }
  await it.server.stop(1000)
  it.client.close()
})
