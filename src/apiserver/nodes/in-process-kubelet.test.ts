import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { duplexPair } from '../../http/duplex-pair.ts'
import { inProcessKubelet } from './in-process-kubelet.ts'

test('a kubelet of this process is asked as any other is', async () => {
  const asked: ApiRequest[] = []
  const client = inProcessKubelet(async (request): Promise<ApiResponse> => {
    asked.push(request)
    if (request.path === '/stream') {
      const chunks = (async function* () {
        yield Buffer.from('a')
        yield Buffer.from('b')
      })()
      return { kind: 'stream', status: 200, contentType: 'text/plain', chunks }
    }
    return { kind: 'bytes', status: 404, contentType: 'text/plain', bytes: [Buffer.from('no '), Buffer.from('such')] }
  })
  const stream = await client.send({ method: 'GET', path: '/stream?x=1%202&x=3', headers: { a: ['1', '2'] } })
  assert.deepEqual([stream.status, Buffer.from(await stream.bytes()).toString()], [200, 'ab'])
  assert.deepEqual(asked[0]?.query.getAll('x'), ['1 2', '3'])
  assert.equal(asked[0]?.headers['a'], '1, 2')
  const refused = await client.upgrade({ method: 'POST', path: '/exec' })
  assert.ok(!('socket' in refused))
  assert.deepEqual([refused.status, Buffer.from(await refused.bytes()).toString()], [404, 'no such'])
  await client.send({ method: 'PUT', path: '/set', headers: { 'content-type': 'text/plain' }, body: '4' })
  await client.send({ method: 'PUT', path: '/set', body: Buffer.from('5') })
  assert.deepEqual(
    asked.map(({ body }) => body?.kind === 'bytes' && [Buffer.from(body.bytes).toString(), body.contentType]),
    [false, false, ['4', 'text/plain'], ['5', '']],
  )
  const gone = AbortSignal.abort(new Error('gone'))
  await assert.rejects(client.send({ method: 'GET', path: '/', signal: gone }), /gone/)
})

test('its answer 101 is read as from a socket, and what follows it is whole', async () => {
  const takeOver = (given: unknown) => {
    const socket = given as Duplex
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgr')
    socket.write('ade: SPDY/3.1\r\n\r\nfirst')
    socket.pipe(socket)
  }
  const abort = new AbortController()
  const client = inProcessKubelet(async () => ({ kind: 'upgrade', status: 101, takeOver }))
  const upgraded = await client.upgrade({ method: 'POST', path: '/exec', signal: abort.signal })
  assert.ok('socket' in upgraded)
  assert.deepEqual([upgraded.rawHeaders, upgraded.head.toString()], [['Upgrade', 'SPDY/3.1'], 'first'])
  upgraded.socket.end('x'.repeat(1_000_000))
  let length = 0
  for await (const chunk of upgraded.socket) length += (chunk as Buffer).length
  assert.equal(length, 1_000_000)

  const cut = await client.upgrade({ method: 'POST', path: '/exec', signal: abort.signal })
  assert.ok('socket' in cut)
  abort.abort()
  assert.ok(cut.socket.destroyed)

  const ending = inProcessKubelet(async () => ({
    kind: 'upgrade',
    status: 101,
    takeOver: (socket) => (socket as Duplex).end('HTTP/1.1 101'),
  }))
  await assert.rejects(ending.upgrade({ method: 'POST', path: '/exec' }), /ended the connection/)
})

test('what the other end does not take waits at its writer; an end that goes takes the other with it', async () => {
  const [near, far] = duplexPair()
  let written = 0
  while (near.write(Buffer.alloc(10_000)) && written < 100) written++
  assert.ok(written < 100)
  far.resume()
  await new Promise((resolve) => near.once('drain', resolve))
  far.on('error', () => {})
  near.destroy()
  assert.ok(far.destroyed)
})
