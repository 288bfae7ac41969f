import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { ca, json, rawAnswer, started } from './fixture.test.ts'

test('what is not HTTP gets 400 and the connection closes', async () => {
  await using it = await started(async (request) => json(request, {}))
  const received = await new Promise<string>((resolve, reject) => {
    let all = ''
    const socket = connectTls({ port: it.server.port, host: '127.0.0.1', ca: ca.cert }, () =>
      socket.write('nonsense\r\n\r\n'),
    )
    socket.on('data', (chunk) => {
      all += chunk.toString()
    })
    socket.on('close', () => resolve(all))
    socket.on('error', reject)
  })
  assert.match(received, /^HTTP\/1.1 400 Bad Request/)
})

test('what no server should take is refused in plain words', async () => {
  await using it = await started(async (request) => json(request, {}))
  const { port } = it.server
  const firstLine = async (sent: string) => (await rawAnswer(port, sent)).split('\r\n')[0]
  assert.equal(await firstLine('GET / HTTP/1.1\r\n\r\n'), 'HTTP/1.1 400 Bad Request: missing required Host header')
  assert.equal(
    await firstLine('GET / HTTP/1.1\r\nHost: a b\r\n\r\n'),
    'HTTP/1.1 400 Bad Request: malformed Host header',
  )
  assert.equal(await firstLine('GET /\r\n\r\n'), 'HTTP/1.1 400 Bad Request')
  for (const line of ['GET /a%zz', 'GET /%', 'G@T /', 'FOO /a%zz', 'CONNECT /a%zz'])
    assert.equal(await firstLine(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`), 'HTTP/1.1 400 Bad Request')
  assert.equal(await firstLine('GET /%E9?a=% HTTP/1.1\r\nHost: a\r\n\r\n'), 'HTTP/1.1 200 OK')
  const other = 'HTTP/1.1 505 HTTP Version Not Supported: unsupported protocol version'
  for (const version of ['2.0', '3.0']) assert.equal(await firstLine(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`), other)
  assert.equal(
    await firstLine('GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n'),
    'HTTP/1.1 417 Expectation Failed',
  )
  const coded = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip'
  for (const more of ['\r\n\r\nx', ', chunked\r\n\r\n'])
    assert.equal(await firstLine(`${coded}${more}`), 'HTTP/1.1 501 Not Implemented')
  assert.equal(await firstLine('GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'), 'HTTP/1.1 400 Bad Request')
  assert.equal(await firstLine('CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n'), 'HTTP/1.1 200 OK')
  assert.match(await rawAnswer(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', false), /HTTP request to an HTTPS server/)
})

test('a target that is no path is refused before its body is waited for', async () => {
  await using it = await started(async (request) => json(request, {}))
  const answer = await rawAnswer(it.server.port, 'POST nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
  assert.match(answer, /^HTTP\/1.1 400 .*/)
})

test('the head of an upgrade is refused as any other', async () => {
  await using it = await started(async (request) => json(request, {}))
  const ask = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const firstLine = async (head: string) => (await rawAnswer(it.server.port, `${head}${ask}`)).split('\r\n')[0]
  assert.equal(await firstLine('GET /a%zz HTTP/1.1\r\nHost: a\r\n'), 'HTTP/1.1 400 Bad Request')
  assert.equal(await firstLine('GET / HTTP/1.1\r\n'), 'HTTP/1.1 400 Bad Request: missing required Host header')
  assert.equal(await firstLine('GET / HTTP/1.1\r\nHost: a\r\n'), 'HTTP/1.1 200 OK')
})

test('what is refused comes after the answers to what was asked before it', async () => {
  for (const bad of ['GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 'x\r\n\r\n']) {
    await using it = await started(async (request) => {
      await new Promise(setImmediate)
      return json(request, {})
    })
    const answers = await rawAnswer(it.server.port, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${bad}`, true, 2)
    assert.deepEqual(answers.match(/(?<=HTTP\/1.1 )\d+/g), ['200', bad.startsWith('FOO') ? '405' : '400'])
  }
})

test('a body with a broken chunk ends its request, and the connection, without a wait for more', async () => {
  const done: string[] = []
  await using it = await started(async (request) => {
    done.push(request.path)
    return json(request, {})
  })
  const posted = 'POST /broken HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const before = 'GET /before HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const [body, words] of [
    ['x\r\n{}', 'invalid byte in chunk length'],
    ['1\r\n{\r\nzz\r\n', 'invalid byte in chunk length'],
    ['2\r\n{}X\r\n0\r\n\r\n', 'malformed chunked encoding'],
    [`${'f'.repeat(18)}\r\n{}`, 'http chunk length too large'],
    [`2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`, 'header line too long'],
  ] as const) {
    const answers = await rawAnswer(it.server.port, `${before}${posted}${body}`, true, 9)
    assert.match(answers, /HTTP\/1.1 200 OK[\s\S]*HTTP\/1.1 500 [\s\S]*connection: close/i)
    assert.deepEqual(answers.match(/(?<=HTTP\/1.1 )\d+/g), ['200', '500'])
    const { message, reason } = JSON.parse(answers.slice(answers.lastIndexOf('\r\n\r\n')))
    assert.deepEqual([message, reason], [words, undefined])
  }
  assert.deepEqual([...new Set(done)], ['/before'])
})

test('what only reads is answered though its body is broken or too large, and the connection ends behind it', async () => {
  const done: string[] = []
  await using it = await started(async (request) => {
    done.push(`${request.method} ${request.body?.kind}`)
    return json(request, {})
  })
  const { port } = it.server
  const head = '/ HTTP/1.1\r\nHost: a\r\n'
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    const answer = await rawAnswer(port, `${method} ${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, true, 9)
    assert.match(answer, method === 'DELETE' ? /^HTTP\/1.1 500 / : /^HTTP\/1.1 200 [\s\S]*connection: close/i)
  }
  assert.match(
    await rawAnswer(port, `GET ${head}Content-Length: 50000000\r\n\r\n`),
    /^HTTP\/1.1 200 [\s\S]*connection: close/i,
  )
  assert.match(await rawAnswer(port, `GET ${head}Content-Length: 2\r\n\r\n{}`), /^HTTP\/1.1 200 /)
  assert.deepEqual(done, ['GET undefined', 'HEAD undefined', 'GET undefined', 'GET bytes'])
})

test('a client that says no more amid a body is answered nothing, and what it asked before is', async () => {
  const done: string[] = []
  await using it = await started(async (request) => {
    done.push(request.path)
    return json(request, {})
  })
  const head = '/b HTTP/1.1\r\nHost: a\r\n'
  for (const method of ['POST', 'GET'])
    for (const rest of ['Content-Length: 500\r\n\r\n{"a', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a']) {
      const socket = connectTls({ port: it.server.port, host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['http/1.1'] })
      socket.write(`GET /before HTTP/1.1\r\nHost: a\r\n\r\n${method} ${head}${rest}`)
      let text = ''
      for await (const chunk of socket) {
        text += chunk
        socket.end()
      }
      assert.deepEqual(text.match(/(?<=HTTP\/1.1 )\d+/g), ['200'])
    }
  assert.deepEqual([...new Set(done)], ['/before'])
})

test('what comes behind something that is refused is not done, and not kept', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const done: string[] = []
  await using it = await started(async (request) => {
    done.push(request.path)
    ask()
    if (request.path === '/slow') await released
    return json(request, {})
  })
  const { port } = it.server
  const next = 'DELETE /behind HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const bad of ['/a%zz HTTP/1.1\r\nHost: a', '/ HTTP/1.1\r\nHost: a\r\nHost: b', '/ HTTP/1.1'])
    assert.match(
      await rawAnswer(port, `GET ${bad}\r\n\r\n${next}`, true, 2),
      /^HTTP\/1.1 400 [\s\S]*close\r\n\r\n400 Bad/,
    )
  assert.deepEqual(done, [])

  const warned: Error[] = []
  const warn = (warning: Error) => void warned.push(warning)
  process.on('warning', warn)
  const socket = connectTls({ port, host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['http/1.1'] })
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
  await asked
  // A connection that is made after a packet is answered when the packet was taken.
  for (let packet = 0; packet < 12; packet++) {
    socket.write('x\r\n')
    await rawAnswer(port, 'GET /later HTTP/1.1\r\nHost: a\r\n\r\n')
  }
  release()
  let text = ''
  for await (const chunk of socket) text += chunk
  process.off('warning', warn)
  assert.deepEqual(text.match(/(?<=HTTP\/1.1 )\d+/g), ['200', '400'])
  assert.deepEqual(warned, [])
})

test('CONNECT over HTTP/2, which names no path, is answered and harms nothing', async () => {
  await using it = await started(async (request) => json(request, {}))
  const session = connectHttp2(`https://127.0.0.1:${it.server.port}`, { ca: ca.cert })
  for (const wanted of [{ ':method': 'CONNECT', ':authority': 'a:1' }, { ':path': '/' }]) {
    const stream = session.request(wanted)
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], ':path' in wanted ? 200 : 405)
    stream.close()
  }
  session.destroy()
})

test('a stream of HTTP/2 with a path that cannot be decoded is reset, the next one answered', async () => {
  await using it = await started(async (request) => json(request, {}))
  const session = connectHttp2(`https://127.0.0.1:${it.server.port}`, { ca: ca.cert })
  const ask = async (path: string) => {
    const stream = session.request({ ':path': path })
    const [headers] = await once(stream, 'response')
    stream.resume()
    return headers[':status']
  }
  await assert.rejects(ask('/a%zz'), /NGHTTP2_PROTOCOL_ERROR/)
  assert.equal(await ask('/a'), 200)
  session.destroy()
})
