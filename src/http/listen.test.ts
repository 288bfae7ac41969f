import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { test } from 'node:test'
import { listen } from './listen.ts'

const HOST = '127.0.0.1'

const answering = (): Server => createServer((socket) => void socket.on('error', () => {}).end('hello'))

function listeningSockets(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .filter((line) => line.includes(`:${hex} 00000000:0000 0A`)).length
}

const heard = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, HOST)
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })

test("several sockets listen, and what any of them accepts is the same server's", {
  skip: process.platform !== 'linux',
}, async () => {
  const listening = await listen(answering(), { host: HOST, port: 0 })
  assert.equal(listeningSockets(listening.port), 8)
  const texts = await Promise.all(Array.from({ length: 100 }, () => heard(listening.port)))
  assert.deepEqual(new Set(texts), new Set(['hello']))
  await listening.close()
  assert.equal(listeningSockets(listening.port), 0)
  await assert.rejects(heard(listening.port), { code: 'ECONNREFUSED' })
})

test('a port that another one listens on is taken, shared or not', async () => {
  for (const reusePort of [false, true]) {
    const other = createServer()
    await new Promise<void>((resolve) => void other.listen({ host: HOST, port: 0, reusePort }, resolve))
    const { port } = other.address() as { port: number }
    await assert.rejects(listen(answering(), { host: HOST, port }), { code: 'EADDRINUSE', port })
    other.close()
  }
})

test('of two that begin at once on a port at most one has it', async () => {
  for (let round = 0; round < 20; round++) {
    const first = await listen(answering(), { host: HOST, port: 0 })
    await first.close()
    const both = await Promise.allSettled([1, 2].map(() => listen(answering(), { host: HOST, port: first.port })))
    const had = both.filter((one) => one.status === 'fulfilled')
    assert.ok(had.length <= 1)
    for (const one of both) if (one.status === 'rejected') assert.equal(one.reason.code, 'EADDRINUSE')
    for (const { value } of had) await value.close()
  }
})

test('a socket that is in use when the server closes is waited for', async () => {
  const held = createServer((socket) => void socket.on('error', () => {}).write('hello'))
  const listening = await listen(held, { host: HOST, port: 0 })
  const socket = connect(listening.port, HOST)
  await new Promise((resolve) => socket.once('data', resolve))
  let isClosed = false
  const closing = listening.close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isClosed, false)
  socket.destroy()
  await closing
})
