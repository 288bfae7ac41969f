import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveClock } from '../base/live-clock.ts'
import { readPlace, takeOver } from './hand-over.ts'
import { listenersOf } from './listeners.ts'

const PLACE = { node: 3, shell: 2, parent: 1, addresses: [{ host: '127.0.0.1', port: 2379 }] }

test('what etcd says of its place is read whole, or not at all', () => {
  const read = (place: unknown) => readPlace(JSON.stringify(place), 2379)
  assert.deepEqual(read(PLACE), PLACE)
  assert.equal(readPlace(undefined, 2379), undefined)
  assert.equal(readPlace('{', 2379), undefined)
  for (const wrong of [
    null,
    [],
    { ...PLACE, node: '../1' },
    { ...PLACE, shell: -1 },
    { ...PLACE, parent: null },
    { ...PLACE, addresses: [] },
    { ...PLACE, addresses: undefined },
    { ...PLACE, addresses: [{ host: '0.0.0.0', port: 1 }] },
    { ...PLACE, addresses: [{ host: '127.0.0.1', port: '1' }] },
    // Not the one that was asked.
    { ...PLACE, addresses: [{ host: '127.0.0.1', port: 2380 }] },
  ])
    assert.equal(read(wrong), undefined, JSON.stringify(wrong))
})

test('processes that are not what etcd says they are: its port stays with it', async () => {
  const place = { ...PLACE, node: process.pid, shell: process.pid }
  assert.equal(await takeOver(liveClock(), place, {}, () => {}), undefined)
})

test('who listens on a port is found in the table of connections', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:094B 0100007F:B0F2 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:094C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
`
  assert.deepEqual(listenersOf(table, 2379, 0), [{ inode: 4711, address: '0100007F' }])
  assert.deepEqual(listenersOf(table, 2379, 1000), [], 'those of others')
  assert.deepEqual(listenersOf('', 2379, 0), [])
})
