import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Duplex, duplexPair } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { joinConnections, passUpgrade, SESSION_IDLE_MS } from './join.ts'

/** Two connections, each with its far end in the test's hands. */
function connections() {
  const [client, one] = duplexPair()
  const [server, other] = duplexPair()
  return { client, one, server, other }
}

const { clock } = simulatedRuntime(1)

test('the answer to a change of protocol is passed on without what is of its connection alone', async () => {
  const { client, one, server, other } = connections()
  const rawHeaders = [
    'connection',
    'upgrade, X-Hop',
    'Upgrade',
    'SPDY/3.1',
    'X-Hop',
    '1',
    'Keep-Alive',
    '5',
    'X-Own',
    '2',
  ]
  const joined = passUpgrade(clock, one, Buffer.from('first, '), {
    status: 101,
    rawHeaders,
    socket: other,
    head: Buffer.from('hello'),
  })
  client.end('then')
  server.end()
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    'X-Own: 2',
    '',
    'hello',
  ]
  assert.deepEqual((await text(client)).split('\r\n'), lines)
  assert.equal(await text(server), 'first, then')
  await joined
})

test('what one side does not read the other can write no more of', async () => {
  const { client, one, other } = connections()
  void joinConnections(clock, one, other)
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  const write = () => {
    if (written < 64 * 1024 * 1024)
      client.write(chunk, () => {
        written += chunk.length
        write()
      })
  }
  write()
  for (let turns = 0, last = written; turns < 50; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (written !== last) turns = 0
    last = written
  }
  assert.ok(written < 1024 * 1024, `${written} bytes were taken`)
})

test('when one side breaks, the other has what came before, and is cut a while after if it does not end', async () => {
  const runtime = simulatedRuntime(1)
  const { client, one, server, other } = connections()
  const joined = joinConnections(runtime.clock, one, other)
  client.write('the last words')
  await once(one, 'data')
  one.destroy(new Error('broken'))
  assert.equal(await text(server), 'the last words')
  const begin = runtime.clock.now()
  await runtime.run({ until: () => other.destroyed })
  assert.equal(runtime.clock.now() - begin, 10_000)
  await joined
})

test('when one side breaks and the other takes nothing, that is cut too, and later as long as it takes something', async () => {
  const runtime = simulatedRuntime(1)
  const { clock } = runtime
  const { client, one } = connections()
  const taken: (() => void)[] = []
  const other = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => void taken.push(done) })
  const joined = joinConnections(clock, one, other)
  for (let part = 0; part < 5; part++) client.write(Buffer.alloc(1_000))
  for (let turn = 0; other.writableLength < 5_000 && turn < 100; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.equal(other.writableLength, 5_000)
  one.destroy(new Error('broken'))
  const begin = clock.now()
  clock.setTimer(8_000, 'takes something', () => taken.shift()?.())
  clock.setTimer(60_000, 'a minute', () => {})
  await runtime.run({ until: () => other.destroyed || clock.now() - begin >= 60_000 })
  assert.equal(clock.now() - begin, 20_000)
  assert.equal(other.writableLength, 4_000)
  await joined
})

test('a reader that takes little of a large write in ten seconds is not cut for it', async () => {
  const runtime = simulatedRuntime(1)
  const { clock } = runtime
  const { client, one } = connections()
  /** Of a write that is under way a socket's handle knows what is left. */
  const handle = { writeQueueSize: 0 }
  const other = new Duplex({
    read: () => {},
    write(bytes: Buffer) {
      handle.writeQueueSize += bytes.length
    },
  })
  const joined = joinConnections(clock, one, Object.assign(other, { _handle: handle }))
  client.write(Buffer.alloc(5_000))
  for (let turn = 0; handle.writeQueueSize === 0 && turn < 100; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  one.destroy(new Error('broken'))
  const begin = clock.now()
  for (let second = 5; second <= 45; second += 10)
    clock.setTimer(second * 1000, 'takes some', () => handle.writeQueueSize--)
  clock.setTimer(90_000, 'long after', () => {})
  await runtime.run({ until: () => other.destroyed || clock.now() - begin >= 90_000 })
  assert.equal(clock.now() - begin, 60_000)
  await joined
})

test('what comes for a side that has said all, and is ending, takes nothing from what the other is still to read', async () => {
  const { client, one } = connections()
  const whole = randomBytes(10_000)
  /** As a TLS socket does: its own end follows that of its peer, and takes a moment. */
  const other = new Duplex({
    allowHalfOpen: false,
    read() {
      this.push(whole)
      this.push(null)
    },
    write: (_bytes, _encoding, done) => done(),
    final: () => {},
  })
  const joined = joinConnections(clock, one, other)
  await once(other, 'end')
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(other.writableEnded && !other.writableFinished)
  client.write('a ping')
  await new Promise((resolve) => other.once('close', resolve))
  assert.deepEqual(await buffer(client), whole)
  client.end()
  await joined
})

test('a session in which nothing is said for hours is cut', async () => {
  const runtime = simulatedRuntime(1)
  const { one, other } = connections()
  const joined = joinConnections(runtime.clock, one, other)
  const begin = runtime.clock.now()
  await runtime.run({ until: () => one.destroyed })
  assert.equal(runtime.clock.now() - begin, SESSION_IDLE_MS)
  await joined
  assert.equal(other.destroyed, true)
})

test('a side that ends only after the other is gone is seen to end, whatever it said meanwhile', async () => {
  const { client, one, server, other } = connections()
  const joined = joinConnections(clock, one, other)
  client.write('before')
  server.resume()
  client.resume()
  other.destroy()
  await once(one, 'finish')
  client.write('x'.repeat(1_000_000))
  client.end()
  await joined
  assert.ok(one.destroyed && other.destroyed)
})
