import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { listenersOf, listeningSockets } from './listening-sockets.ts'

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 00000000:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 100 0 0 10 0
   2: 0100007F:094C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
   3: 0100007F:094B 0100007F:B0F2 01 00000000:00000000 00:00000000 00000000     0        0 4714 1 0000000000000000 20 4 30 10 -1
   4: 0100007F:094B 0100007F:B0F3 01 00000000:00000000 00:00000000 00000000     0        0 4715 1 0000000000000000 20 4 30 10 -1
`

/** In parts of so many bytes; how many were read is told by the second. */
function inParts(text: string, bytes: number): readonly [read: () => string, taken: () => number] {
  let at = 0
  const read = () => {
    at += bytes
    return text.slice(at - bytes, at)
  }
  return [read, () => at]
}

test('who listens on a port is found in a table that comes in parts of any size', () => {
  const wanted = [
    { address: '0100007F', owner: 0, inode: 4711 },
    { address: '00000000', owner: 1000, inode: 4712 },
  ]
  for (const bytes of [1, 7, 150, 1024]) assert.deepEqual(listenersOf(inParts(TABLE, bytes)[0], 2379), wanted)
  assert.deepEqual(listenersOf(inParts('', 1)[0], 2379), [])
})

test('a table is read no further than to the first connection', () => {
  const [read, taken] = inParts(TABLE, 10)
  listenersOf(read, 2379)
  assert.ok(taken() <= TABLE.indexOf('   4:') + 10)
})

test('a line that is in two parts, since the table changed meanwhile, counts once', () => {
  const [first = '', ...others] = TABLE.split('\n')
  const twice = [first, others[0], ...others].join('\n')
  assert.equal(listenersOf(inParts(twice, 300)[0], 2379).length, 2)
})

test('a socket of this process is found', { skip: process.platform !== 'linux' }, async () => {
  for (const [host, family] of [
    ['127.0.0.1', 'IPv4'],
    ['::1', 'IPv6'],
  ] as const) {
    const server = createServer().listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    assert.deepEqual(
      listeningSockets(family, port).map(({ owner }) => owner),
      [process.geteuid?.()],
    )
    server.close()
    await once(server, 'close')
    assert.deepEqual(listeningSockets(family, port), [])
  }
})
