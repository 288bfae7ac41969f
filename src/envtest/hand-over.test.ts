import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveClock } from '../base/live-clock.ts'
import { readPlace, takeOver } from './hand-over.ts'

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
  const here = { take: () => {}, json: async () => undefined, metrics: async () => '' }
  assert.equal(await takeOver(liveClock(), place, {}, here), undefined)
})
