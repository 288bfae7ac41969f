import assert from 'node:assert/strict'
import { type Duplex, duplexPair } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { acceptMessages, channelsOf, subprotocolsOf } from './channels.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': KEY,
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'v5.channel.k8s.io',
}
const QUIET_TURNS = 50

/** A client's side as bare bytes, after the handshake's answer, and the server's peer. */
async function pair(t: TestContext) {
  const [near, far] = duplexPair()
  t.after(() => {
    near.destroy()
    far.destroy()
  })
  const peer = await acceptMessages({ method: 'GET', headers: handshake }, far, new Uint8Array(), 'v5.channel.k8s.io')
  const answer = near.read() as Buffer
  assert.match(answer.toString(), /^HTTP\/1\.1 101 .*\r\nSec-WebSocket-Protocol: v5\.channel\.k8s\.io\r\n/s)
  return { near, far, peer }
}

/** A binary message as clients send it, masked with zeros. */
function message(channel: number, size: number): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(size + 1))
  return Buffer.concat([Buffer.from([0x82, 0xff]), length, Buffer.alloc(4), Buffer.from([channel]), Buffer.alloc(size)])
}

/** Everything here is in memory: what has not moved for so many turns of the event loop waits for someone. */
async function untilQuiet(progress: () => number): Promise<void> {
  for (let turns = 0, last = progress(); turns < QUIET_TURNS; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (progress() !== last) turns = 0
    last = progress()
  }
}

/** Writes messages of the channels in turn, as long as they are taken, or 64 MiB. */
function writeWhileTaken(near: Duplex, channels: readonly number[]) {
  let written = 0
  const write = (at: number) => {
    if (written >= 64 * 1024 * 1024) return
    const bytes = Buffer.concat(channels.map((channel) => message(channel, at % 2 === 0 ? 32_000 : 1)))
    near.write(bytes, () => {
      written += bytes.length
      write(at + 1)
    })
  }
  write(0)
  return () => written
}

test('a message that is not taken holds back all that follow it, whatever channel they are of', async (t) => {
  const { near, peer } = await pair(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  let given = 0
  channelsOf(peer, {
    data: (channel, bytes) => {
      given += bytes.length
      return channel === 0 ? promise : Promise.resolve()
    },
    end: () => {},
  })
  const written = writeWhileTaken(near, [0, 4])
  await untilQuiet(written)
  assert.ok(given > 0 && written() < 1024 * 1024, `${written()} bytes were taken`)
  const before = written()
  resolve()
  await untilQuiet(written)
  assert.ok(written() > before + 1024 * 1024, 'the rest is read once it is taken')
})

test('what a client does not read is not sent on', async (t) => {
  const { peer } = await pair(t)
  let sent = 0
  const channels = channelsOf(peer, { data: () => {}, end: () => {} })
  void (async () => {
    for (; sent < 64 * 1024 * 1024; sent += 32_000) await channels.send(1, Buffer.alloc(32_000))
  })()
  await untilQuiet(() => sent)
  assert.ok(sent < 1024 * 1024, `${sent} bytes were sent`)
})

test('a channel ends by the message that says so, and what says nothing is passed over', async (t) => {
  const { near, peer } = await pair(t)
  const heard: string[] = []
  channelsOf(peer, {
    data: (channel, bytes) => void heard.push(`${channel}: ${bytes.length}`),
    end: (channel) => void heard.push(`${channel} ended`),
  })
  const empty = Buffer.concat([Buffer.from([0x82, 0x80]), Buffer.alloc(4)])
  const end = Buffer.concat([Buffer.from([0x82, 0x82]), Buffer.alloc(4), Buffer.from([255, 0])])
  near.write(Buffer.concat([empty, message(0, 3), end]))
  await untilQuiet(() => heard.length)
  assert.deepEqual(heard, ['0: 3', '0 ended'])
})

test('a subprotocol may have a name that is no token, as the port-forward tunnel has', async () => {
  const [near, far] = duplexPair()
  const name = 'SPDY/3.1+portforward.k8s.io'
  const headers = { ...handshake, 'sec-websocket-protocol': name }
  const peer = await acceptMessages({ method: 'GET', headers }, far, new Uint8Array(), name)
  const answer = String(near.read())
  assert.match(answer, /^HTTP\/1\.1 101 /)
  assert.equal(answer.match(/^Sec-WebSocket-Protocol: .*$/gm)?.join(), `Sec-WebSocket-Protocol: ${name}`)
  peer.close()
  near.destroy()
})

test('a client that asks for no subprotocol is told of none', async () => {
  const [near, far] = duplexPair()
  const { 'sec-websocket-protocol': _, ...headers } = handshake
  const peer = await acceptMessages({ method: 'GET', headers }, far, new Uint8Array(), '')
  assert.doesNotMatch(String(near.read()), /Sec-WebSocket-Protocol/)
  peer.close()
  near.destroy()
})

test('a handshake that is no WebSocket is told so', async () => {
  const [near, far] = duplexPair()
  await assert.rejects(acceptMessages({ method: 'GET', headers: {} }, far, new Uint8Array(), 'x'))
  assert.match(String(near.read()), /^HTTP\/1\.1 400 /)
})

test('a client that has gone before the handshake rejects', async () => {
  const [, far] = duplexPair()
  far.destroy()
  await assert.rejects(acceptMessages({ method: 'GET', headers: handshake }, far, new Uint8Array(), 'x'), /has gone/)
})

test('a token among the subprotocols is none', () => {
  const names = 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.dG9r, ,v4.channel.k8s.io'
  assert.deepEqual(subprotocolsOf({ headers: { 'sec-websocket-protocol': names } }), [
    'v5.channel.k8s.io',
    'v4.channel.k8s.io',
  ])
  assert.deepEqual(subprotocolsOf({ headers: {} }), [])
})
