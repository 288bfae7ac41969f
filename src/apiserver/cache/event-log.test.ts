import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openStorage } from '../../storage/open.ts'
import { createCaches } from './caches.ts'
import { type CacheEntry, createEntry, encodeStored } from './entry.ts'
import { createEntryMemory } from './entry-memory.ts'
import { type Change, createChange, createEventLog } from './event-log.ts'

const entryOf = (name: string, revision: number, filling = ''): CacheEntry => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { filling } }
  return createEntry(`/registry/configmaps/x/${name}`, revision, encodeStored(object), {
    freeze: false,
    memory: createEntryMemory(),
  })
}
const changeOf = (revision: number, time: number, filling = '') =>
  createChange(`k${revision}`, revision, entryOf(`k${revision}`, revision, filling), undefined, time)

function logOf() {
  const evicted: number[] = []
  const log = createEventLog(0, (change: Change) => evicted.push(change.revision))
  return { log, evicted }
}

test('for want of memory all but the newest changes are given up', () => {
  const { log, evicted } = logOf()
  for (let i = 1; i <= 1000; i++) log.append(changeOf(i, 0))
  log.shrink()
  assert.equal(evicted.length, 1000 - 128)
  assert.equal(log.at(log.first).revision, 1000 - 127)
})

test('history is bounded by bytes: the oldest changes go first, and each is told of once', () => {
  const { log, evicted } = logOf()
  const filling = 'x'.repeat(1 << 20)
  for (let i = 1; i <= 20; i++) log.append(changeOf(i, 0, filling))
  assert.deepEqual(evicted, [1, 2, 3, 4, 5])
  assert.equal(log.floor, 5)
  assert.equal(log.at(log.first).revision, 6)
  assert.equal(log.at(log.after(9)).revision, 10)
})

test('history is bounded by age, also when nothing follows; the last changes stay', () => {
  const { log, evicted } = logOf()
  for (let i = 1; i <= 300; i++) log.append(changeOf(i, i))
  assert.equal(log.trim(75_000), true)
  assert.deepEqual(evicted, [])
  assert.equal(log.trim(200_000), false)
  assert.equal(evicted.length, 300 - 128)
  assert.equal(log.end - log.first, 128)
})

test('an event is made once for the watchers of a time, and again for one that asks much later', () => {
  const { log } = logOf()
  const change = changeOf(1, 0)
  log.append(change)
  const line = change.event('ADDED', undefined).json?.()
  assert.equal(change.event('ADDED', undefined).json?.(), line)
  for (let i = 2; i <= 513; i++) log.append(changeOf(i, 0))
  const again = change.event('ADDED', undefined).json?.()
  assert.notEqual(again, line)
  assert.deepEqual(again, line)
})

test('an object that outlives its history is served with the same bytes', async () => {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const caches = await runtime.complete(createCaches(runtime, storage))
  const maps = caches.resource('configmaps')
  const write = async (name: string) => {
    const key = `/registry/configmaps/x/${name}`
    const value = caches.encode({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { name } })
    await runtime.complete(storage.write({ type: 'put', key, value, expectRevision: 0 }))
    return maps.get(key) as CacheEntry
  }
  const served = await write('served')
  const unserved = await write('unserved')
  const before = Buffer.from(served.tail())
  const memory = (entry: CacheEntry) => entry.tail().buffer
  const shared = memory(served)
  for (let i = 0; i < 200; i++) await write(`m${i}`)
  await runtime.advance(80_000)
  assert.notEqual(memory(served), shared)
  assert.equal(memory(served), memory(unserved))
  assert.deepEqual(Buffer.from(served.tail()), before)
  assert.deepEqual(JSON.parse(Buffer.from(unserved.json('full')).toString()), unserved.object)
})
