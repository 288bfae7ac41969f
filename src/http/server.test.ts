import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2, constants as http2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import type { KubeObject } from '../api/object.ts'
import type { StoredObject, WatchEvent } from '../api/request.ts'
import { notFound, tooManyRequests } from '../api/status.ts'
import { Stream } from '../base/stream.ts'
import { createHttpsClient } from './client.ts'
import { alice, ca, json, mallory, rawAnswer, serving, started, text } from './fixture.test.ts'

test('of a query of too many pairs none counts, and it costs next to nothing', async () => {
  await using it = await started(async (request) => json(request, { q: request.query.getAll('a') }))
  const asked = async (pairs: number) =>
    JSON.parse(await text(await it.client.send({ method: 'GET', path: `/?a=1${'&b'.repeat(pairs - 1)}` }))).q
  assert.deepEqual(await asked(10_000), ['1'])
  assert.deepEqual(await asked(10_001), [])
  assert.deepEqual(await asked(400_000), [])
})

test('of bodies that do not end the oldest are given up when they are too much, and whole ones are taken', async () => {
  const mebibyte = 1024 * 1024
  await using it = await started(async (request) => json(request, {}), { maxHeldBytes: 4 * mebibyte })
  const peer = connectHttp2(it.url, { ca: ca.cert })
  const given: number[] = []
  const held = Array.from({ length: 8 }, (_, i) => {
    const stream = peer.request({ ':method': 'POST', ':path': '/' })
    stream.on('error', () => given.push(i))
    return stream
  })
  for (const stream of held) await new Promise((resolve) => stream.write(Buffer.alloc(mebibyte), resolve))
  for (let i = 0; i < 3; i++) {
    const answer = await it.client.send({ method: 'POST', path: '/', body: Buffer.alloc(mebibyte) })
    assert.equal(answer.status, 200)
    await answer.bytes()
  }
  assert.ok(given.length >= 4 && given.length < 8, String(given))
  assert.deepEqual(given, [...given.keys()])
  peer.destroy()
})

test('a server without an audit log names no answer for one', async () => {
  await using it = await started(async (request) => json(request, {}), { hasAuditIds: false })
  const answer = await it.client.send({ method: 'GET', path: '/', headers: { 'audit-id': 'my-id' } })
  assert.deepEqual([answer.headers['audit-id'], answer.headers['cache-control']], [undefined, 'no-cache, private'])
  await answer.bytes()
})

test('a request reaches the handler whole, and its answer the client', async () => {
  await using it = await started(async (request) =>
    json(request, {
      method: request.method,
      q: request.query.getAll('a'),
      body: request.body?.kind === 'bytes' ? Buffer.from(request.body.bytes).toString() : '',
      type: request.body?.kind === 'bytes' ? request.body.contentType : '',
    }),
  )
  const answer = await it.client.send({
    method: 'POST',
    path: '/a/b%20c?a=1&a=2',
    headers: { 'content-type': 'application/yaml', 'audit-id': 'my-id' },
    body: 'hello',
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['cache-control'], 'no-cache, private')
  assert.equal(answer.headers['audit-id'], 'my-id')
  const { path, method, q, body, type } = JSON.parse(await text(answer))
  assert.deepEqual(
    { path, method, q, body, type },
    { path: '/a/b%20c', method: 'POST', q: ['1', '2'], body: 'hello', type: 'application/yaml' },
  )
})

test('every byte of an answer arrives as it is, over both protocols, in one piece or more', async () => {
  const bytesOf = (path: string) => Buffer.from(Array.from({ length: Number(path.slice(1)) }, (_, i) => i % 256))
  await using it = await started(async ({ path }) => {
    const whole = bytesOf(path)
    // A view into something larger, and several pieces.
    const bytes = path === '/700' ? [whole.subarray(0, 300), whole.subarray(300)] : [whole]
    return { kind: 'bytes', status: 200, contentType: 'application/octet-stream', bytes }
  })
  const peer = connectHttp2(it.url, { ca: ca.cert })
  const overHttp2 = async (path: string) => {
    const chunks: Buffer[] = []
    for await (const chunk of peer.request({ ':path': path })) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  for (const path of ['/0', '/1', '/256', '/700', '/16384', '/16385', '/100000']) {
    const answer = await it.client.send({ method: 'GET', path })
    assert.equal(answer.headers['content-length'], path.slice(1))
    assert.ok(bytesOf(path).equals(await answer.bytes()), path)
    assert.ok(bytesOf(path).equals(await overHttp2(path)), path)
  }
  peer.destroy()
})

test('each of many requests at once is answered with what is its own, with a body and without, at once and later', async () => {
  await using it = await started((request) => {
    const body = request.body?.kind === 'bytes' ? Buffer.from(request.body.bytes).toString() : ''
    const answer = json(request, { body })
    return request.path.endsWith('0')
      ? answer.then((value) => new Promise((done) => setImmediate(done, value)))
      : answer
  })
  const ask = async (i: number) => {
    const body = i % 3 === 0 ? Buffer.from(`body ${i}`) : undefined
    const answer = await it.client.send({ method: body ? 'POST' : 'GET', path: `/${i}`, ...(body ? { body } : {}) })
    const told = JSON.parse(await text(answer))
    assert.deepEqual([told.path, told.body], [`/${i}`, body?.toString() ?? ''])
  }
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 200 }, (_, i) => ask(i)))
})

test('requests sent one behind the other on one connection are answered in their order', async () => {
  const waiting: (() => void)[] = []
  await using it = await started((request) => {
    const answer = json(request, {})
    if (request.path !== '/0') return answer
    return new Promise((done) => waiting.push(() => done(answer)))
  })
  const socket = connectTls({ port: it.server.port, ca: ca.cert, host: '127.0.0.1' })
  const paths: string[] = []
  const all = new Promise<void>((resolve) =>
    socket.on('data', (chunk: Buffer) => {
      paths.push(...[...chunk.toString().matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path as string))
      if (paths.length === 40) resolve()
    }),
  )
  socket.write(Array.from({ length: 40 }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  while (waiting.length === 0) await new Promise((done) => setImmediate(done))
  waiting[0]?.()
  await all
  socket.destroy()
  assert.deepEqual(
    paths,
    Array.from({ length: 40 }, (_, i) => `/${i}`),
  )
})

test('a body that comes before the client has taken the big answer to the request before it is read whole', async () => {
  const length = 300_000
  await using it = await started(async (request) =>
    request.method === 'POST'
      ? json(request, { got: request.body?.kind === 'bytes' ? request.body.bytes.length : 0 })
      : json(request, { filler: 'x'.repeat(8 * 1024 * 1024) }),
  )
  const socket = connectTls({ port: it.server.port, ca: ca.cert, host: '127.0.0.1', ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  socket.write('GET /big HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'readable')
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'y'.repeat(length)}`)
  let last = ''
  for await (const chunk of socket) {
    last = (last + chunk).slice(-200)
    if (last.includes('"got":')) break
  }
  assert.match(last, new RegExp(`"got":${length}`))
})

test('after each answer that its client took in pieces the next request of the connection is read', {
  timeout: 20_000,
}, async () => {
  await using it = await started((request) =>
    json(request, { filler: 'x'.repeat(request.method === 'GET' ? 1024 * 1024 : 10) }),
  )
  for (let i = 0; i < 100; i++) {
    const body = Buffer.from('{}')
    assert.match(await text(await it.client.send({ method: 'POST', path: '/small', body })), /x{10}/)
    assert.match(await text(await it.client.send({ method: 'GET', path: '/big' })), /x{1024}/)
  }
})

test('a request that came while an answer waited for its client is not the last of its connection that is read', {
  timeout: 20_000,
}, async () => {
  const mebibyte = 1024 * 1024
  const bigBytes = 64 * mebibyte
  let handled = ''
  await using it = await started((request) => {
    handled = request.path
    return json(request, { filler: 'x'.repeat(request.path === '/big' ? bigBytes : 10) })
  })
  const socket = connectTls({ port: it.server.port, ca: ca.cert, host: '127.0.0.1', ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  let taken = ''
  const answer = async (path: string) => {
    for (const end = `"path":"${path}"`; !taken.includes(end); ) {
      const chunk: Buffer | null = socket.read()
      if (chunk === null) await once(socket, 'readable')
      else taken = (taken + chunk).slice(-500)
    }
  }
  const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  ask('/big')
  await once(socket, 'readable')
  ask('/while-it-waits')
  while (handled !== '/while-it-waits') await new Promise((done) => setImmediate(done))
  // Of the first answer there is more left than the system holds on its way.
  assert.ok(socket.bytesRead + 16 * mebibyte < bigBytes, String(socket.bytesRead))
  await answer('/while-it-waits')
  for (const path of ['/after', '/and-after']) {
    ask(path)
    await answer(path)
  }
  socket.destroy()
})

test('who sends request after request and takes no answer is not read any further, however many do so', async () => {
  let handled = 0
  await using it = await started((request) => {
    if (request.path === '/greedy') handled++
    return json(request, {})
  })
  const requests = Buffer.from('GET /greedy HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50_000))
  const greedy = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = connectTls({ port: it.server.port, ca: ca.cert, host: '127.0.0.1' })
      await new Promise((resolve) => socket.once('secureConnect', resolve))
      socket.write(requests)
      return socket
    }),
  )
  // The kernel holds some megabytes of answers for each; then nothing more is read.
  for (let before = -1; handled > before; ) {
    before = handled
    for (let i = 0; i < 200; i++) await text(await it.client.send({ method: 'GET', path: '/modest' }))
  }
  assert.ok(handled > 0 && handled < 100_000, String(handled))
  for (const socket of greedy) socket.destroy()
})

test('a thrown StatusError becomes its Status, with Retry-After; anything else a 500', async () => {
  await using it = await started(async (request) => {
    if (request.path === '/busy') throw tooManyRequests('slow down', 3)
    if (request.path === '/bug') throw new TypeError('undefined is not a function')
    throw notFound({ group: '', resource: 'pods' }, 'x')
  })
  const missing = await it.client.send({ method: 'GET', path: '/' })
  assert.equal(missing.status, 404)
  assert.equal(JSON.parse(await text(missing)).message, 'pods "x" not found')
  const busy = await it.client.send({ method: 'GET', path: '/busy' })
  assert.equal(busy.headers['retry-after'], '3')
  await busy.bytes()
  const bug = await it.client.send({ method: 'GET', path: '/bug' })
  assert.equal(JSON.parse(await text(bug)).reason, 'InternalError')
})

test('a body over 3 MiB is refused with 413, told or found out', async () => {
  await using it = await started(async (request) => json(request, {}))
  const body = Buffer.alloc(3 * 1024 * 1024 + 1)
  const told = await it.client.send({ method: 'POST', path: '/', body }).catch((error) => error)
  if (told instanceof Error) assert.match(String((told as NodeJS.ErrnoException).code), /EPIPE|ECONNRESET/)
  else assert.equal(JSON.parse(await text(told)).message, 'Request entity too large: limit is 3145728')
  const fits = await it.client.send({ method: 'POST', path: '/', body: body.subarray(1) })
  assert.equal(fits.status, 200)
  await fits.bytes()
})

const items = (count: number, size: number): StoredObject[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `/registry/x/${at}`,
    revision: at,
    object: { apiVersion: 'v1', kind: 'X', metadata: { name: String(at) } },
    json: () => Buffer.from(JSON.stringify({ metadata: { name: String(at) }, data: 'x'.repeat(size) })),
  }))
const list: KubeObject = {
  kind: 'XList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '7' } as KubeObject['metadata'],
}

test('lists of any length arrive complete, and compressed when that was asked for and is worth it', async () => {
  await using it = await started(async (request) => ({
    kind: 'list',
    status: 200,
    list,
    items: items(Number(request.query.get('n')), 1000),
  }))
  for (const n of [0, 1, 100, 3000]) {
    for (const encoding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': encoding }
      const answer = await it.client.send({ method: 'GET', path: `/?n=${n}`, headers })
      const bytes = await answer.bytes()
      const compressed = answer.headers['content-encoding'] === 'gzip'
      assert.equal(compressed, encoding === 'gzip' && n === 3000)
      assert.equal(answer.headers['vary'], compressed ? 'Accept-Encoding' : undefined)
      const parsed = JSON.parse((compressed ? gunzipSync(bytes) : Buffer.from(bytes)).toString())
      assert.equal(parsed.items.length, n)
      assert.deepEqual(Object.keys(parsed), ['kind', 'apiVersion', 'metadata', 'items'])
    }
  }
})

test('a watch delivers events as they come, and ends when the handler ends it', async () => {
  const events = new Stream<WatchEvent>()
  await using it = await started(async () => ({
    kind: 'watch',
    status: 200,
    contentType: 'application/json',
    events,
    encode: (event) => Buffer.from(`${JSON.stringify(event)}\n`),
  }))
  const answer = await it.client.send({ method: 'GET', path: '/?watch=1' })
  assert.equal(answer.status, 200)
  events.push({ type: 'ADDED', object: list })
  events.push({ type: 'DELETED', object: list })
  const types: string[] = []
  let rest = ''
  for await (const chunk of answer.chunks()) {
    rest += Buffer.from(chunk).toString()
    while (rest.includes('\n')) {
      types.push(JSON.parse(rest.slice(0, rest.indexOf('\n'))).type)
      rest = rest.slice(rest.indexOf('\n') + 1)
    }
    if (types.length === 2) events.close()
  }
  assert.deepEqual(types, ['ADDED', 'DELETED'])
})

test('a client that goes away ends its watch', async () => {
  const closed = Promise.withResolvers<void>()
  const events = new Stream<WatchEvent>({ onClose: closed.resolve })
  await using it = await started(async () => ({
    kind: 'watch',
    status: 200,
    contentType: 'application/json',
    events,
    encode: () => Buffer.from('\n'),
  }))
  const gone = new AbortController()
  await it.client.send({ method: 'GET', path: '/', signal: gone.signal })
  gone.abort()
  await closed.promise
})

for (const [how, leave] of Object.entries({
  'gives up one request': (stream: ClientHttp2Stream) => stream.close(http2.NGHTTP2_CANCEL),
  'goes away': (stream: ClientHttp2Stream) => stream.session?.socket.destroy(),
}))
  test(`an HTTP/2 client that ${how} ends its watch, and the signal tells it`, { timeout: 10_000 }, async () => {
    const [closed, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const events = new Stream<WatchEvent>({ onClose: closed.resolve })
    await using it = await started(async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return { kind: 'watch', status: 200, contentType: 'application/json', events, encode: () => Buffer.from('\n') }
    })
    const session = connectHttp2(it.url, { ca: ca.cert, cert: alice.cert, key: alice.key })
    session.on('error', () => {})
    const stream = session.request({ ':path': '/?watch=1' })
    stream.on('error', () => {})
    await once(stream, 'response')
    leave(stream)
    await Promise.all([closed.promise, aborted.promise])
    session.destroy()
  })

test('HTTP/2 clients are served on the same port', async () => {
  await using it = await started(async (request) => json(request, { body: request.body !== undefined }))
  const session = connectHttp2(it.url, { ca: ca.cert, cert: alice.cert, key: alice.key })
  const get = (headers: Record<string, string>, body?: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const stream = session.request(headers, { endStream: body === undefined })
      let status = 0
      let received = ''
      stream.on('response', (head) => {
        status = Number(head[':status'])
      })
      stream.setEncoding('utf8').on('data', (chunk) => {
        received += chunk
      })
      stream.on('end', () => resolve({ status, text: received }))
      stream.on('error', reject)
      if (body !== undefined) stream.end(body)
    })
  const plain = await get({ ':path': '/x' })
  assert.equal(plain.status, 200)
  assert.equal(JSON.parse(plain.text).body, false)
  const posted = await get({ ':path': '/x', ':method': 'POST' }, '{}')
  assert.equal(JSON.parse(posted.text).body, true)
  session.close()
})

test('only a certificate of the client CA is an identity; another is told apart from none', async () => {
  await using it = await started(async (request) =>
    json(request, {
      cert: request.connection?.peerCertificate !== undefined,
      error: request.connection?.certificateError !== undefined,
    }),
  )
  const seen = async (pair?: { cert: string; key: string }) => {
    const client = createHttpsClient({ server: it.url, ca: ca.cert, ...pair })
    const { cert, error } = JSON.parse(await text(await client.send({ method: 'GET', path: '/' })))
    client.close()
    return { cert, error }
  }
  assert.deepEqual(await seen(), { cert: false, error: false })
  assert.deepEqual(await seen(alice), { cert: true, error: false })
  assert.deepEqual(await seen(mallory), { cert: false, error: true })
  assert.deepEqual(await seen(serving), { cert: false, error: true })
})

test('an upgrade that comes while earlier requests of its socket are answered waits for them', async () => {
  const held: (() => void)[] = []
  await using it = await started(async (request) => {
    if (request.path !== '/exec') {
      await new Promise<void>((resolve) => {
        held.push(resolve)
        if (held.length === 2) for (const answer of held.reverse()) answer()
      })
      return json(request, { path: request.path })
    }
    return { kind: 'upgrade', status: 101, takeOver: (socket) => (socket as NodeJS.WritableStream).end('taken over') }
  })
  const received = await new Promise<string>((resolve, reject) => {
    let all = ''
    const head = 'HTTP/1.1\r\nHost: a\r\n'
    const socket = connectTls({ port: it.server.port, host: '127.0.0.1', ca: ca.cert }, () =>
      socket.write(
        `GET /one ${head}\r\nGET /two ${head}\r\nGET /exec ${head}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`,
      ),
    )
    socket.on('data', (chunk) => {
      all += chunk.toString()
    })
    socket.on('close', () => resolve(all))
    socket.on('error', reject)
  })
  assert.match(received, /"path":"\/one".*"path":"\/two".*taken over$/s)
})

for (const inOneWrite of [true, false]) {
  const how = inOneWrite ? 'at once with it' : 'while it waits'
  test(`an upgrade behind an answer that waits for its client, asked for ${how}, comes when that answer is taken`, {
    timeout: 10_000,
  }, async ({ signal }) => {
    const bytes = Buffer.alloc(64 * 1024 * 1024, 'x')
    let answered = 0
    await using it = await started(async ({ path }) => {
      if (path !== '/up') return { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [bytes] }
      const takeOver = (socket: unknown) => {
        answered++
        ;(socket as NodeJS.WritableStream).end('taken over')
      }
      return { kind: 'upgrade', status: 101, takeOver }
    })
    const socket = connectTls({ port: it.server.port, host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['http/1.1'] })
    signal.addEventListener('abort', () => socket.destroy())
    const big = 'GET /big HTTP/1.1\r\nHost: a\r\n\r\n'
    const up = 'GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    socket.write(inOneWrite ? big + up : big)
    await once(socket, 'readable')
    if (!inOneWrite) await new Promise((written) => socket.write(up, written))
    // What the server sees of it it has seen by now, and the answer is more than the system holds.
    await text(await it.client.send({ method: 'GET', path: '/other', headers: { 'accept-encoding': 'gzip' } }))
    assert.equal(answered, 0)
    let [size, last] = [0, '']
    for await (const chunk of socket) {
      size += chunk.length
      last = (last + chunk).slice(-20)
    }
    assert.match(last, /x{10}taken over$/)
    assert.ok(size > bytes.length, String(size))
  })
}

test('an upgrade that is answered with more than its client takes at once is answered whole', {
  timeout: 20_000,
}, async ({ signal }) => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, 'x')
  await using it = await started(async () => ({
    kind: 'bytes',
    status: 200,
    contentType: 'text/plain',
    bytes: [bytes],
  }))
  const sent = httpsRequest(it.url, { ca: ca.cert, headers: { connection: 'Upgrade', upgrade: 'x' }, signal }).end()
  const [answer] = await once(sent, 'response')
  let size = 0
  for await (const chunk of answer) size += chunk.length
  assert.equal(size, bytes.length)
})

test('an upgrade hands the socket over; one that is refused is answered on it', { timeout: 10_000 }, async () => {
  await using it = await started(async (request) => {
    if (request.path !== '/exec') throw notFound({ group: '', resource: 'pods' }, 'x')
    return {
      kind: 'upgrade',
      status: 101,
      takeOver: (socket) => {
        ;(socket as NodeJS.WritableStream).end(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhi',
        )
      },
    }
  })
  const upgrade = (path: string) =>
    new Promise<string>((resolve, reject) => {
      const sent = httpsRequest(`${it.url}${path}`, { ca: ca.cert, headers: { connection: 'Upgrade', upgrade: 'x' } })
      sent.on('upgrade', (_response, _socket, head) => resolve(head.toString()))
      sent.on('response', (response) => {
        response.resume()
        resolve(String(response.statusCode))
      })
      sent.on('error', reject)
      sent.end()
    })
  assert.equal(await upgrade('/exec'), 'hi')
  assert.equal(await upgrade('/other'), '404')
})

test('the signal tells the end of what goes on after its answer', { timeout: 10_000 }, async () => {
  const [streamed, takenOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using it = await started(async (request) => {
    const ended = request.path === '/stream' ? streamed : takenOver
    request.signal.addEventListener('abort', () => ended.resolve())
    if (request.path === '/stream') {
      const chunks = (async function* () {
        yield Buffer.from('all of it')
      })()
      return { kind: 'stream', status: 200, contentType: 'text/plain', chunks }
    }
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    return { kind: 'upgrade', status: 101, takeOver: (socket) => (socket as NodeJS.WritableStream).end(head) }
  })
  const client = createHttpsClient({ server: it.url, ca: ca.cert })
  assert.equal(await text(await client.send({ method: 'GET', path: '/stream' })), 'all of it')
  await streamed.promise
  client.close()
  const sent = httpsRequest(`${it.url}/exec`, { ca: ca.cert, headers: { connection: 'Upgrade', upgrade: 'x' } })
  sent.on('upgrade', (_response, socket) => socket.end())
  sent.end()
  await takenOver.promise
})

test('half a megabyte of headers, and thousands of them, are taken', async () => {
  await using it = await started(async (request) => json(request, {}))
  const firstLine = async (headers: string) =>
    (await rawAnswer(it.server.port, `GET / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)).split('\r\n')[0]
  assert.equal(await firstLine(`x: ${'y'.repeat(500_000)}\r\n`), 'HTTP/1.1 200 OK')
  assert.equal(await firstLine(Array.from({ length: 3000 }, (_, i) => `x${i}: y\r\n`).join('')), 'HTTP/1.1 200 OK')
})

test('who asks before he sends is told to go on only where his body is taken', async () => {
  await using it = await started(async (request) => json(request, {}))
  const asked = (headers: string) =>
    rawAnswer(it.server.port, `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${headers}\r\n`)
  assert.match(await asked('Content-Length: 2\r\n'), /^HTTP\/1.1 100 Continue/)
  assert.match(await asked('Content-Length: 99999999\r\n'), /^HTTP\/1.1 413 /)
})

test('a part of a document is never compressed: its place is told in bytes as they are', async () => {
  const bytes = [Buffer.alloc(300_000, 'x')]
  await using it = await started(async ({ path }) => ({
    kind: 'bytes',
    status: path === '/part' ? 206 : 200,
    contentType: 'text/plain',
    bytes,
  }))
  for (const [path, encoding] of [
    ['/part', undefined],
    ['/whole', 'gzip'],
  ] as const) {
    const answer = await it.client.send({ method: 'GET', path, headers: { 'accept-encoding': 'gzip' } })
    await answer.bytes()
    assert.equal(answer.headers['content-encoding'], encoding)
  }
})

test('of a header that is given twice the first counts, as in Go', async () => {
  const seen: unknown[] = []
  await using it = await started((request) => {
    const { accept, origin } = request.headers
    seen.push([accept, origin, request.headers['if-none-match']])
    return json(request, {})
  })
  const ask = (headers: string) =>
    rawAnswer(it.server.port, `GET / HTTP/1.1\r\nHost: a\r\n${headers}\r\nConnection: close\r\n\r\n`)
  await ask('Accept: text/x\r\naccept: application/json\r\nOrigin: http://a\r\nOrigin: http://b')
  await ask('Accept:\r\nAccept: application/yaml\r\nIf-None-Match: "a"\r\nIf-None-Match: "b"')
  await ask('Accept: text/x, application/json')
  assert.deepEqual(seen, [
    ['text/x', 'http://a', undefined],
    ['', undefined, '"a"'],
    ['text/x, application/json', undefined, undefined],
  ])
})
