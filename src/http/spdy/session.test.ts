import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createDeflate, constants as zlib } from 'node:zlib'
import { resetFrame, SpdyError, synStream } from './frames.ts'
import { DICTIONARY } from './header-block.ts'
import { chunksOf, createSpdySession, type SpdyStream } from './session.ts'

function pair(t: TestContext, onStream: (stream: SpdyStream) => void, more: { maxStreams?: number } = {}) {
  const [near, far] = duplexPair()
  t.after(() => {
    near.destroy()
    far.destroy()
  })
  const server = createSpdySession(far, { role: 'server', onStream, ...more })
  return { near, far, client: createSpdySession(near, { role: 'client' }), server }
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('a stream carries what is written both ways, and each side ends on its own', async (t) => {
  const { client } = pair(t, (stream) => {
    void text(stream).then((heard) => stream.end(`${stream.headers['streamtype']} heard ${heard}`))
  })
  const stream = await client.open({ streamType: 'stdin' })
  stream.end('hello')
  assert.equal(await text(stream), 'stdin heard hello')
})

test('several streams share the connection, each with its own headers', async (t) => {
  const { client } = pair(t, (stream) => void stream.end(stream.headers['port']))
  const ports = await Promise.all(['80', '443', '8080'].map(async (port) => text(await client.open({ port }))))
  assert.deepEqual(ports, ['80', '443', '8080'])
})

test('megabytes come through whole, however they are cut', async (t) => {
  const sent = randomBytes(5_000_000)
  const { client } = pair(t, (stream) => void stream.pipe(stream))
  const stream = await client.open({})
  const back = buffer(stream)
  for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 7) % 99_991) {
    size = Math.max(1, size)
    if (!stream.write(sent.subarray(at, at + size))) await once(stream, 'drain')
  }
  stream.end()
  assert.equal(sha256(await buffer([await back] as unknown as NodeJS.ReadableStream)), sha256(sent))
})

/** A connection whose bytes come in pieces of any size. */
function cutInPieces(t: TestContext, roll: (most: number) => number): readonly [Duplex, Duplex] {
  const [near, middle] = duplexPair()
  const [otherMiddle, far] = duplexPair()
  t.after(() => [near, middle, otherMiddle, far].map((side) => side.destroy()))
  const cut = async (from: Duplex, to: Duplex) => {
    for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
      for (let at = 0, size = 0; at < chunk.length; at += size) {
        size = 1 + roll([2, 11, 900, 70_000][roll(4)] as number)
        if (!to.write(chunk.subarray(at, at + size))) await once(to, 'drain')
        if (roll(3) === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    to.end()
  }
  for (const [from, to] of [
    [middle, otherMiddle],
    [otherMiddle, middle],
  ] as const)
    cut(from, to).catch(() => {})
  return [near, far]
}

for (const seed of [1, 2, 3, 4])
  test(`many streams at once, whose writers and readers pause, each come whole both ways (${seed})`, async (t) => {
    let state = seed
    const roll = (most: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return (state >>> 8) % most
    }
    const pause = () => new Promise((resolve) => setImmediate(resolve))
    async function say(stream: SpdyStream): Promise<string> {
      const bytes = randomBytes([0, 1, roll(5000), roll(900_000)][roll(4)] as number)
      for (let at = 0, size = 0; at < bytes.length; at += size) {
        size = 1 + roll([3, 2000, 200_000][roll(3)] as number)
        if (!stream.write(bytes.subarray(at, at + size))) await once(stream, 'drain')
        if (roll(3) === 0) await pause()
      }
      stream.end()
      return sha256(bytes)
    }
    async function hear(stream: SpdyStream): Promise<string> {
      const hash = createHash('sha256')
      for await (const bytes of chunksOf(stream)) {
        hash.update(bytes)
        if (roll(4) === 0) await pause()
      }
      return hash.digest('hex')
    }
    const [near, far] = cutInPieces(t, roll)
    const others = new Map<number, Promise<readonly [string, string]>>()
    const talk = (stream: SpdyStream) => Promise.all([say(stream), hear(stream)])
    const server = createSpdySession(far, {
      role: 'server',
      onStream: (stream) => others.set(stream.id, talk(stream)),
    })
    const client = createSpdySession(near, { role: 'client' })
    const each = async () => {
      const stream = await client.open({})
      const [said, heard] = await talk(stream)
      assert.deepEqual(await others.get(stream.id), [heard, said])
    }
    await Promise.all(Array.from({ length: 12 }, each))
    server.close()
    assert.equal(await client.ended, undefined)
  })

test('while a reader is slow its writer waits, and little is held', async (t) => {
  let other: SpdyStream | undefined
  const { client, near, far } = pair(t, (stream) => {
    other = stream
  })
  const stream = await client.open({})
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  while (written < 64 * 1024 * 1024 && stream.write(chunk)) written += chunk.length
  await new Promise((resolve) => setImmediate(resolve))
  const held = (one: Duplex) => one.readableLength + one.writableLength
  assert.ok(written < 1024 * 1024, `${written} bytes were taken`)
  assert.ok(held(near) + held(far) + held(other as Duplex) < 1024 * 1024)
})

test('headers compressed as other implementations do are read', async (t) => {
  const [near, far] = duplexPair()
  t.after(() => near.destroy())
  const opened = new Promise<SpdyStream>((resolve) => {
    createSpdySession(far, { role: 'server', onStream: resolve })
  })
  const deflate = createDeflate({ dictionary: DICTIONARY, level: 9 })
  const name = 'streamtype'
  const plain = Buffer.concat([word(1), word(name.length), Buffer.from(name), word(5), Buffer.from('error')])
  deflate.write(plain)
  await new Promise<void>((resolve) => deflate.flush(zlib.Z_SYNC_FLUSH, resolve))
  near.write(synStream(1, deflate.read() as Buffer))
  assert.deepEqual((await opened).headers, { streamtype: 'error' })
})

test('names of headers are sent in lower case', async (t) => {
  const [near, far] = duplexPair()
  t.after(() => near.destroy())
  void createSpdySession(near, { role: 'client' })
    .open({ streamType: 'error' })
    .catch(() => {})
  const [bytes] = (await once(far, 'data')) as [Buffer]
  assert.ok(bytes.includes('streamtype'))
})

test('a stream beyond the bound is refused, and the others go on', async (t) => {
  const { client } = pair(t, (stream) => void stream.resume(), { maxStreams: 1 })
  await client.open({})
  await assert.rejects(client.open({}), /reset with code 3/)
})

test('what has come whole can be read after the connection has ended', async (t) => {
  const { client, server } = pair(t, (stream) => {
    stream.resume()
    stream.end('the last words', () => server.close())
  })
  const stream = await client.open({})
  await client.ended
  assert.equal(await text(stream), 'the last words')
})

test('a stream that its peer breaks off ends, after what had come, and takes no more', async (t) => {
  const { client } = pair(t, (stream) => {
    stream.write('the last words', () => stream.destroy())
  })
  const stream = await client.open({})
  assert.equal(await text(stream), 'the last words')
  await new Promise<void>((resolve, reject) => stream.write('unheard', (error) => (error ? reject(error) : resolve())))
})

test('when the connection ends, every stream ends', async (t) => {
  const { client, server } = pair(t, (stream) => void stream.resume())
  const stream = await client.open({})
  const failed = once(stream, 'error')
  server.close()
  assert.equal(await client.ended, undefined)
  assert.match(((await failed) as [Error])[0].message, /the connection has ended/)
  await assert.rejects(client.open({}), SpdyError)
})

for (const [what, bytes, words] of [
  ['another version', Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]), /version 2/],
  [
    'a control frame that is too large',
    Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]),
    /control frame of 16777215 bytes/,
  ],
  ['a control frame that is too short', Buffer.from([0x80, 3, 0, 1, 0, 0, 0, 1, 0]), /type 1 with 1 bytes/],
  ['headers that are no zlib', synStream(1, Buffer.from('nonsense')), /cannot be inflated/],
  ['headers that end in the middle', synStream(1, storedHeaders(Buffer.from([0, 0, 0, 9]))), /end in the middle/],
  ['headers that inflate without end', synStream(1, bomb()), /headers of more than 65536 bytes/],
] as const)
  test(`${what} ends the connection`, async (t) => {
    const { near, server } = pair(t, () => {})
    near.write(bytes)
    assert.match((await server.ended)?.message ?? '', words)
  })

test('a stream of the wrong parity, or one that was there already, is refused', async (t) => {
  const opened: number[] = []
  const [near, far] = duplexPair()
  t.after(() => near.destroy())
  createSpdySession(far, { role: 'server', onStream: (stream) => opened.push(stream.id) })
  const none = storedHeaders(Buffer.alloc(4), false)
  near.write(Buffer.concat([synStream(3, storedHeaders(Buffer.alloc(4))), synStream(2, none), synStream(3, none)]))
  const answered: Buffer[] = []
  const refusals = [resetFrame(2, 1), resetFrame(3, 1)]
  while (!refusals.every((refusal) => Buffer.concat(answered).includes(refusal)))
    answered.push(((await once(near, 'data')) as [Buffer])[0])
  assert.deepEqual(opened, [3])
})

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** As one stored block, after the beginning of the zlib stream where it is the first. */
function storedHeaders(plain: Buffer, first = true): Buffer {
  const head = Buffer.from([0, plain.length, 0, ~plain.length & 0xff, 0xff])
  return Buffer.concat([first ? Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]) : Buffer.alloc(0), head, plain])
}

/** A run of one byte, repeated 258 bytes at a time by a fixed-code block: a thousand times what is sent. */
function bomb(): Buffer {
  const { deflateSync } = process.getBuiltinModule('node:zlib')
  return deflateSync(Buffer.alloc(10_000_000), { dictionary: DICTIONARY })
}
