import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createClientPool } from './client-pool.ts'
import { text } from './fixture.test.ts'

test('an endpoint has one client, and of many endpoints those asked last are kept', () => {
  const events: string[] = []
  const inUse = new Set(['https://b'])
  const pool = createClientPool(2, ({ server }) => ({
    send: () => Promise.reject(new Error('not asked')),
    upgrade: () => Promise.reject(new Error('not asked')),
    retire: () => events.push(`retired ${server}`),
    get inUse() {
      return inUse.has(server)
    },
    close: () => events.push(`closed ${server}`),
  }))
  const first = pool.clientOf({ server: 'https://a' })
  pool.clientOf({ server: 'https://b' })
  assert.equal(pool.clientOf({ server: 'https://a' }), first)
  assert.notEqual(pool.clientOf({ server: 'https://a', serverName: 'other' }), first)
  assert.deepEqual(events, ['retired https://b'])
  pool.clientOf({ server: 'https://c' })
  pool.close()
  // What is no longer kept, and was still in use, ends with the pool; what was not is not held on to.
  const closed = ['https://a', 'https://c', 'https://b'].map((server) => `closed ${server}`)
  assert.deepEqual(events, ['retired https://b', 'retired https://a', ...closed])
})

/** A server whose answers end when the test says so. */
async function startServer(t: TestContext) {
  const answers: ServerResponse[] = []
  const server = createServer((_, response) => {
    response.write('begun, ')
    answers.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, answers, endpoint: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }
}

const get = { method: 'GET', path: '/' } as const

test('what is under way with a client that is no longer kept comes whole, and then its connection ends', async (t) => {
  const { server, answers, endpoint } = await startServer(t)
  const connected = once(server, 'connection')
  const pool = createClientPool(1)
  t.after(() => pool.close())
  const client = pool.clientOf(endpoint)
  const answer = await client.send(get)
  const [socket] = (await connected) as [Socket]
  const ended = once(socket, 'close')
  pool.clientOf({ server: 'http://127.0.0.1:1' })
  assert.equal(client.inUse, true)
  const whole = text(answer)
  answers[0]?.end('done')
  assert.equal(await whole, 'begun, done')
  await ended
  assert.equal(client.inUse, false)
})

test('a connection that waits for its next request ends at once when its client is no longer kept', async (t) => {
  const { server, answers, endpoint } = await startServer(t)
  const connected = once(server, 'connection')
  const pool = createClientPool(1)
  t.after(() => pool.close())
  const client = pool.clientOf(endpoint)
  const whole = client.send(get).then(text)
  const [socket] = (await connected) as [Socket]
  const ended = once(socket, 'close')
  while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve))
  answers[0]?.end('done')
  assert.equal(await whole, 'begun, done')
  while (client.inUse) await new Promise((resolve) => setImmediate(resolve))
  pool.clientOf({ server: 'http://127.0.0.1:1' })
  await ended
})

test('closing the pool cuts what is under way with clients that are no longer kept', async (t) => {
  const { endpoint } = await startServer(t)
  const pool = createClientPool(1)
  const answer = await pool.clientOf(endpoint).send(get)
  pool.clientOf({ server: 'http://127.0.0.1:1' })
  const whole = text(answer)
  pool.close()
  await assert.rejects(whole)
})
