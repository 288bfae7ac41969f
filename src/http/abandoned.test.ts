import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, constants, createServer, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { asKubeObject } from '../api/object.ts'
import type { ApiRequest, ApiResponse, WatchEvent } from '../api/request.ts'
import { Stream } from '../base/stream.ts'
import { runtime } from './fixture.test.ts'
import { createResponder } from './respond.ts'

const MEBIBYTE = 1024 * 1024
const object = asKubeObject({ kind: 'X', apiVersion: 'v1', metadata: {} })

/** More than any buffer takes, and it does not become less by compression. */
function* bytes() {
  for (let i = 0; i < 16; i++) yield randomBytes(MEBIBYTE)
}

/** Sends an answer over HTTP/2 to a client that reads nothing of it and then gives it up; resolves when the answer has ended here. */
async function abandoned(t: TestContext, response: ApiResponse, headers: ApiRequest['headers'] = {}) {
  const responder = createResponder(runtime)
  const began = Promise.withResolvers<{
    readonly sent: Promise<void> | undefined
    readonly outgoing: Http2ServerResponse
  }>()
  const server = createServer((_, outgoing) => {
    // Never aborts: the answer itself has to see that its client has gone.
    const { signal } = new AbortController()
    const request = { method: 'GET', path: '/', headers, query: new URLSearchParams(), auditId: 'id', signal }
    began.resolve({ sent: responder.send(request, response, outgoing), outgoing })
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  const { sent, outgoing } = await began.promise
  await once(stream, 'response')
  while (!outgoing.stream.writableNeedDrain) await new Promise(setImmediate)
  stream.close(constants.NGHTTP2_CANCEL)
  await sent
  assert.equal(responder.watches.written(runtime.clock, 0), undefined)
}

test('a slow watch that its client gives up over HTTP/2 ends', { timeout: 10_000 }, async (t) => {
  const closed = Promise.withResolvers<void>()
  const events = new Stream<WatchEvent>({ onClose: closed.resolve })
  for (let i = 0; i < 16; i++) events.push({ type: 'ADDED', object })
  await abandoned(t, {
    kind: 'watch',
    status: 200,
    contentType: 'application/json',
    events,
    encode: () => randomBytes(MEBIBYTE),
  })
  await closed.promise
})

test('so does a stream, and its source is told', { timeout: 10_000 }, async (t) => {
  let isOver = false
  const chunks = (async function* () {
    try {
      yield* bytes()
    } finally {
      isOver = true
    }
  })()
  await abandoned(t, { kind: 'stream', status: 200, contentType: 'text/plain', chunks })
  assert.ok(isOver)
})

for (const [what, headers] of Object.entries({ plain: {}, compressed: { 'accept-encoding': 'gzip' } }))
  test(`so does a large ${what} list`, { timeout: 10_000 }, async (t) => {
    let made = 0
    const pieces = function* () {
      for (const piece of bytes()) {
        made++
        yield piece
      }
    }
    const size = 16 * MEBIBYTE
    await abandoned(
      t,
      { kind: 'pieces', status: 200, contentType: 'text/plain', pieces, size, object: () => object },
      headers,
    )
    assert.ok(made < 16, String(made))
  })
