/** What is sent by mistake or malice: bodies, names and bytes on the wire. All of it is refused, and the server lives on. */
import assert from 'node:assert/strict'
import net from 'node:net'
import { after, before, test } from 'node:test'
import { startTarget, type Target } from './attacker.ts'
import { refusedToEveryone } from './inputs.ts'

let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target?.stop())

const NS = '/api/v1/namespaces/attacked'

async function isAlive(): Promise<void> {
  const { code, body } = await target.asAdmin('GET', '/readyz')
  assert.equal(`${code} ${body}`, '200 ok', 'the server must live on')
}

for (const [what, { code, attacker = 403, ...attempt }] of Object.entries(refusedToEveryone))
  test(`bad input is refused to everyone, and the server lives on: ${what}`, async () => {
    const refused = await target.attempt({ ...attempt, token: target.token })
    assert.equal(refused.code, attacker, refused.body.slice(0, 300))
    const { code: got, body } = await target.attempt({ ...attempt, cert: target.admin })
    assert.equal(got, code, body.slice(0, 300))
    await isAlive()
  })

test('a body over 3 MiB is not read to its end', async () => {
  const body = 'x'.repeat(4 * 1024 * 1024)
  const { code } = await target.asAdmin('POST', `${NS}/configmaps`, body)
  // The sender may meet the closed connection before it reads the answer.
  assert.ok(code === 413 || code === 0, String(code))
  await isAlive()
})

test('what is left of a body that is too large is not waited for', async () => {
  const answer = await target.raw(`POST ${NS}/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n{`)
  assert.match(answer, /^HTTP\/1\.1 4\d\d [\s\S]*connection: close/i)
  await isAlive()
})

// Names that mean something to JavaScript are plain data.
for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])
  for (const [where, body] of Object.entries({
    data: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-"},"data":{"${name}":"x"}}`,
    labels: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-","labels":{"${name}":"x"}}}`,
    annotations: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-","annotations":{"${name}":"x"}}}`,
    root: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-"},"${name}":{"polluted":"yes"}}`,
  }))
    test(`${name} in ${where} pollutes nothing`, async () => {
      const { code, body: answer } = await target.asAdmin('POST', `${NS}/configmaps`, body)
      assert.ok(code === 201 || code === 400 || code === 422, `${code} ${answer}`)
      const plain = await target.asAdmin('POST', `${NS}/configmaps`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'clean-' },
      })
      assert.ok(!plain.body.includes('polluted') && !plain.body.includes('"x"'), plain.body)
      if (code === 201 && where !== 'root' && !/^__/.test(name)) assert.ok(answer.includes(`"${name}":"x"`), answer)
    })

// Requests as text, for what no client library would send.
const line = (text: string, ...headers: string[]) => `${[text, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`
const raw: Readonly<Record<string, string>> = {
  'two content lengths': `${line('POST /healthz HTTP/1.1', 'Content-Length: 5', 'Content-Length: 50')}hello`,
  'a length and chunks': `${line('POST /healthz HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\nGET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n`,
  'chunks spelled oddly': `${line('POST /healthz HTTP/1.1', 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
  'a space before the colon': line('GET /healthz HTTP/1.1', 'Authorization : Bearer x'),
  'a header that goes on in the next line': line('GET /healthz HTTP/1.1', 'X-A: b\r\n c'),
  'a newline in a header': line('GET /healthz HTTP/1.1', 'X-A: b\nX-Remote-User: admin'),
  'headers of a megabyte': line('GET /healthz HTTP/1.1', `X-A: ${'a'.repeat(1024 * 1024)}`),
  'ten thousand headers': line('GET /healthz HTTP/1.1', ...Array.from({ length: 10_000 }, (_, i) => `X-${i}: a`)),
  'no method': line(' /healthz HTTP/1.1'),
  'a line of garbage': `${'\u0001\u0002\u0003'.repeat(50)}\r\n\r\n`,
  'HTTP/9': line('GET /healthz HTTP/9.9'),
  'an absolute form of another host': line('GET https://evil.example.com/api/v1/secrets HTTP/1.1'),
  CONNECT: line('CONNECT 127.0.0.1:22 HTTP/1.1'),
  TRACE: line('TRACE / HTTP/1.1', 'Authorization: Bearer secret'),
}

for (const [what, bytes] of Object.entries(raw))
  test(`the wire is not fooled: ${what}`, async () => {
    const answer = await target.raw(bytes)
    assert.ok(!answer.includes('SecretList') && !answer.includes('Bearer secret'), answer.slice(0, 300))
    assert.ok((answer.match(/^HTTP\/1\.1 2/gm) ?? []).length <= 1, answer.slice(0, 300))
    await isAlive()
  })

test('connections that never say a word do not keep others out', async () => {
  const silent = Array.from({ length: 300 }, () => net.connect(target.port, target.host).on('error', () => {}))
  await isAlive()
  for (const socket of silent) socket.destroy()
})

test('requests that come a byte at a time do not keep others out', async () => {
  const slow = Array.from({ length: 50 }, () => target.raw('GET /healthz HT', { quietMs: 1500 }))
  await isAlive()
  await Promise.all(slow)
})
