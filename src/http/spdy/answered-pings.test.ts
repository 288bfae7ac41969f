import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { passUpgrade } from '../join.ts'
import { answeringPings, answerPings } from './answered-pings.ts'
import { createFrameParser, dataHead, type Frame, pingFrame, synReply, synStream } from './frames.ts'

const { clock } = simulatedRuntime(1)
const sha256 = (bytes: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(bytes)).digest('hex')
const none = Buffer.alloc(0)

/** A numbered choice, the same at each run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % sides
  }
}

/** The answer 101 of a server. */
const upgraded = (socket: Duplex) => ({ status: 101, rawHeaders: ['Upgrade', 'SPDY/3.1'], socket, head: none }) as const

async function write(to: Duplex, bytes: Buffer): Promise<void> {
  if (!to.write(bytes)) await once(to, 'drain')
}

/** Frames of data with others between them, and pings at their ends. */
function conversation(roll: (sides: number) => number, firstPing: number) {
  const frames: Buffer[] = []
  const data: Buffer[] = []
  const pings: number[] = []
  for (let i = 0; i < 400; i++) {
    const kind = roll(10)
    if (kind < 3) {
      pings.push(firstPing + 2 * pings.length)
      frames.push(pingFrame(pings.at(-1) as number))
    } else if (kind < 5)
      frames.push(roll(2) === 0 ? synStream(1, randomBytes(roll(99))) : synReply(1, randomBytes(roll(99))))
    else {
      const bytes = randomBytes([roll(3), roll(40), roll(70_000)][roll(3)] as number)
      data.push(bytes)
      frames.push(dataHead(1, bytes.length, false), bytes)
    }
  }
  return { bytes: Buffer.concat(frames), data, pings }
}

async function pieces(to: Duplex, bytes: Buffer, roll: (sides: number) => number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + roll([3, 12, 100, 9_000, 200_000][roll(5)] as number)
    await write(to, bytes.subarray(at, at + size))
    at += size
    if (roll(4) === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

function heardBy(side: Duplex): { readonly frames: Frame[]; readonly ended: Promise<void> } {
  const frames: Frame[] = []
  const parser = createFrameParser()
  const ended = (async () => {
    for await (const chunk of side as AsyncIterable<Buffer>) for (const frame of parser.push(chunk)) frames.push(frame)
  })()
  return { frames, ended }
}

const dataOf = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.kind === 'data' ? [frame.bytes] : []))
const pingsOf = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.kind === 'ping' ? [frame.id] : []))

for (const seed of [1, 2, 3, 4, 5, 6])
  test(`however it is cut (${seed}), what both sides say comes whole, and the client's pings are answered between frames`, async () => {
    const roll = dice(seed)
    const [server, near] = duplexPair()
    const client = answerPings(clock, near, none)
    const byClient = conversation(roll, 1)
    const byServer = conversation(roll, 2)
    const atServer = heardBy(server)
    const atClient = heardBy(client)
    await Promise.all([pieces(client, byClient.bytes, roll), pieces(server, byServer.bytes, roll)])
    client.end()
    await atServer.ended
    server.end()
    await atClient.ended
    assert.equal(sha256(dataOf(atServer.frames)), sha256(byClient.data))
    assert.equal(sha256(dataOf(atClient.frames)), sha256(byServer.data))
    assert.deepEqual(pingsOf(atServer.frames), [])
    const [own, theirs] = [1, 0].map((odd) => pingsOf(atClient.frames).filter((id) => id % 2 === odd))
    assert.deepEqual([own, theirs], [byClient.pings, byServer.pings])
    const others = (frames: readonly Frame[]) => frames.filter(({ kind }) => kind.startsWith('syn')).length
    assert.ok(others(atServer.frames) > 0 && others(atClient.frames) > 0)
  })

test('a ping that finds the server silent for a minute goes on to it, so that a session at rest does not end for its silence', async () => {
  const { clock: moved, run } = simulatedRuntime(1)
  const [server, near] = duplexPair()
  const client = answerPings(moved, near, none)
  const { frames } = heardBy(server)
  client.resume()
  await write(client, pingFrame(1))
  const begin = moved.now()
  moved.setTimer(60_000, 'a minute', () => {})
  await run({ until: () => moved.now() - begin >= 60_000 })
  await write(client, pingFrame(3))
  server.write(pingFrame(3))
  await once(client, 'data')
  await write(client, pingFrame(5))
  client.end()
  await once(server, 'end')
  assert.deepEqual(pingsOf(frames), [3])
})

test('a ping after the end of what the server says takes nothing of what is still to be read', async () => {
  const [server, near] = duplexPair()
  const client = answerPings(clock, near, none)
  const said = Buffer.concat([dataHead(1, 10_000, false), randomBytes(10_000)])
  server.end(said)
  await once(near, 'end')
  await write(client, pingFrame(1))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await buffer(client), said)
})

test('a client that pings without end and does not read is not read either', async () => {
  const [, near] = duplexPair()
  const client = answerPings(clock, near, none)
  let id = 1
  while (client.write(pingFrame(id)) && id < 1_000_000) id += 2
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(id < 1_000_000 && client.readableLength < 100_000)
  for (let turns = 0; turns < 10 && client.writableNeedDrain; turns++) {
    client.read()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(!client.writableNeedDrain)
})

test('while a server stalls within a frame, what a client that reads says goes on to it, however often the client pings', async () => {
  const [server, near] = duplexPair()
  const client = answerPings(clock, near, none)
  const atServer = heardBy(server)
  const atClient = heardBy(client)
  await write(server, dataHead(1, 3, false))
  await new Promise((resolve) => setImmediate(resolve))
  const ids = Array.from({ length: 1_200 }, (_, at) => 2 * at + 1)
  await write(client, Buffer.concat(ids.map((id) => pingFrame(id))))
  client.end(Buffer.concat([dataHead(1, 5, false), Buffer.from('stdin')]))
  await atServer.ended
  assert.equal(Buffer.concat(dataOf(atServer.frames)).toString(), 'stdin')
  assert.deepEqual(pingsOf(atServer.frames), [])
  server.end('out')
  await atClient.ended
  // Those that wait are limited: the newest are answered.
  assert.deepEqual(pingsOf(atClient.frames), ids.slice(-1_000))
})

test('answers to the pings of the server, which have its own ids, go on to it', async () => {
  const [server, near] = duplexPair()
  const client = answerPings(clock, near, none)
  client.end(Buffer.concat([pingFrame(1), pingFrame(2)]))
  assert.deepEqual(await buffer(server), pingFrame(2))
})

test('another protocol than SPDY is passed on as it is', () => {
  const [socket] = duplexPair()
  const webSocket = { status: 101, rawHeaders: ['Upgrade', 'websocket'], socket, head: none } as const
  assert.equal(answeringPings(clock, webSocket), webSocket)
})

/** Takes one connection, says `bytes`, and closes it as soon as the kernel has all of them. */
async function hastyServer(t: TestContext, bytes: Buffer): Promise<Socket> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.write(bytes, () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('what a server has said before it closed comes whole to a client that pings and reads slowly', async (t) => {
  const size = 12_000_000
  const said = randomBytes(size)
  const server = await hastyServer(t, Buffer.concat([dataHead(1, size, false), said]))
  const [client, near] = duplexPair()
  const joined = passUpgrade(clock, near, none, answeringPings(clock, upgraded(server)))
  const parser = createFrameParser()
  const heard: Buffer[] = []
  let id = 1
  let isHead = true
  for await (const chunk of client as AsyncIterable<Buffer>) {
    if (!isHead) heard.push(...dataOf([...parser.push(chunk)]))
    isHead = false
    await write(client, pingFrame(id))
    id += 2
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.end()
  await joined
  assert.equal(
    heard.reduce((sum, { length }) => sum + length, 0),
    size,
  )
  assert.equal(sha256(heard), sha256([said]))
})
