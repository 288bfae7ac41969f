import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { configMap, createFakeServer } from './fake-server.ts'
import { createInformerFactory } from './informer.ts'
import { createClient, inProcessTransport } from './transport.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

function start(seed = 1) {
  const runtime = simulatedRuntime(seed)
  const server = createFakeServer()
  const client = createClient(runtime, inProcessTransport(server.handler), { userAgent: 'test' })
  const stop = new AbortController()
  const factory = createInformerFactory(runtime, client, stop.signal)
  const informer = factory.informer(configMaps)
  const told: string[] = []
  informer.addHandlers({
    added: (object, initial) => told.push(`added ${object.metadata.name}${initial ? ' initial' : ''}`),
    updated: (_, object) => told.push(`updated ${object.metadata.name} ${object['data'].v}`),
    deleted: (object) => told.push(`deleted ${object.metadata.name}`),
  })
  return { runtime, server, client, stop, factory, informer, told }
}

test('an informer tells its handlers the list, then each change, in order', async () => {
  const { runtime, server, informer, factory, told } = start()
  server.put(configMap('a', { v: '1' }))
  factory.start()
  await runtime.complete(informer.whenSynced())
  server.put(configMap('b', { v: '1' }))
  server.put(configMap('a', { v: '2' }))
  server.put(configMap('a', { v: '3' }))
  server.remove('default/b')
  await runtime.settle()
  assert.deepEqual(told, ['added a initial', 'added b', 'updated a 2', 'updated a 3', 'deleted b'])
  assert.equal(informer.store.get('default/a')?.['data'].v, '3')
})

test('what informers keep has no managedFields, as with Kubernetes own components', async () => {
  const { runtime, server, informer, factory } = start()
  const managed = (name: string) => {
    const object = configMap(name, { v: '1' })
    return { ...object, metadata: { ...object.metadata, managedFields: [{ manager: 'm' }] } }
  }
  server.put(managed('listed'))
  factory.start()
  await runtime.complete(informer.whenSynced())
  server.put(managed('watched'))
  await runtime.settle()
  const kept = informer.store.list().map(({ metadata }) => [metadata.name, metadata.managedFields])
  assert.deepEqual(kept, [
    ['listed', undefined],
    ['watched', undefined],
  ])
})

test('a long first list is told in turns, and whole before the informer has synced', async () => {
  const { runtime, server, informer, factory, told } = start()
  for (let index = 0; index < 1000; index++) server.put(configMap(`c${index}`, { v: '1' }))
  factory.start()
  let turns = 0
  runtime.scheduler.later('others', function again() {
    if (!informer.hasSynced && informer.store.size > 0) turns++
    if (!informer.hasSynced) runtime.scheduler.later('others', again)
  })
  await runtime.complete(informer.whenSynced())
  assert.equal(told.length, 1000)
  assert.ok(told.every((line) => line.endsWith(' initial')))
  assert.ok(turns >= 3, `${turns} turns in between`)
})

test('changes to one object keep their order whatever order the scheduler chooses', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const { runtime, server, factory, told } = start(seed)
    factory.start()
    await runtime.settle()
    for (let index = 0; index < 8; index++) server.put(configMap('a', { v: String(index) }))
    await runtime.settle()
    assert.deepEqual(told, ['added a', ...[1, 2, 3, 4, 5, 6, 7].map((v) => `updated a ${v}`)])
  }
})

test('a broken watch is taken up where it broke, without a new list', async () => {
  const { runtime, server, factory, told } = start()
  factory.start()
  await runtime.settle()
  server.dropWatches(new Error('connection reset'))
  server.put(configMap('a', { v: '1' }))
  await runtime.advance(60_000)
  assert.deepEqual(told, ['added a'])
  assert.equal(server.requests.filter((request) => !request.query.has('watch')).length, 1)
})

test('a watch that is too old begins with a list, and what vanished meanwhile is told as deleted', async () => {
  const { runtime, server, factory, told } = start()
  server.put(configMap('a', { v: '1' }))
  server.put(configMap('b', { v: '1' }))
  factory.start()
  await runtime.settle()
  told.length = 0
  server.dropWatches()
  server.remove('default/a')
  server.put(configMap('b', { v: '2' }))
  server.put(configMap('c', { v: '1' }))
  server.compact()
  await runtime.advance(60_000)
  assert.deepEqual(told.toSorted(), ['added c', 'deleted a', 'updated b 2'])
})

test('a list that fails is tried again', async () => {
  const { runtime, server, factory, informer } = start()
  server.put(configMap('a'))
  server.fail('GET', new Error('connection refused'))
  factory.start()
  await runtime.settle()
  assert.equal(informer.hasSynced, false)
  await runtime.advance(10_000)
  assert.equal(informer.hasSynced, true)
})

test('indexes follow the objects', async () => {
  const { runtime, server, factory, informer } = start()
  informer.addIndex('v', (object) => (object['data'].v === undefined ? [] : [object['data'].v]))
  server.put(configMap('a', { v: 'x' }))
  server.put(configMap('b', { v: 'x' }))
  factory.start()
  await runtime.settle()
  const names = (value: string) =>
    informer.store
      .byIndex('v', value)
      .map((object) => object.metadata.name)
      .toSorted()
  assert.deepEqual(names('x'), ['a', 'b'])
  server.put(configMap('a', { v: 'y' }))
  server.remove('default/b')
  await runtime.settle()
  assert.deepEqual([names('x'), names('y')], [[], ['a']])
  server.put(configMap('a', { v: 'y', w: 'new' }))
  await runtime.settle()
  assert.equal(informer.store.byIndex('v', 'y')[0]?.['data'].w, 'new')
})

test('equal arguments share an informer, late handlers are told what is there', async () => {
  const { runtime, server, factory, informer } = start()
  assert.equal(factory.informer(configMaps), informer)
  assert.equal(factory.informer(configMaps, { metadataOnly: true }), informer)
  assert.notEqual(factory.informer(configMaps, { namespace: 'x' }), informer)
  server.put(configMap('a'))
  factory.start()
  await runtime.settle()
  const told: string[] = []
  const stop = informer.addHandlers({ added: (object, initial) => told.push(`${object.metadata.name} ${initial}`) })
  await runtime.settle()
  stop()
  server.put(configMap('b'))
  await runtime.settle()
  assert.deepEqual(told, ['a true'])
})

test('a resync tells every object again', async () => {
  const { runtime, server, factory, informer } = start()
  server.put(configMap('a', { v: '1' }))
  let updates = 0
  informer.addHandlers({ updated: () => updates++ }, { resyncMs: 1000 })
  factory.start()
  await runtime.settle()
  await runtime.advance(3500)
  assert.equal(updates, 3)
})
