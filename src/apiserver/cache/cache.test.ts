import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { parseFieldSelector } from '../../api/objects/field-selector.ts'
import { everything, parseLabelSelector } from '../../api/objects/label-selector.ts'
import type { StoredObject, WatchEvent } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { StreamReader } from '../../base/stream.ts'
import { openStorage } from '../../storage/open.ts'
import { FutureRevisionError } from '../../storage/storage.ts'
import { createCaches } from './caches.ts'
import { decodeStored, encodeStored } from './entry.ts'
import type { EntrySelection } from './selected.ts'
import type { CacheWatchOptions } from './watch-bookmarks-too-old-and-too-slow.ts'

type Labels = Record<string, string>
const configMap = (name: string, data: Labels = {}, labels: Labels = {}, namespace = 'default'): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace, labels },
  data,
})
const keyOf = (name: string, namespace = 'default') => `/registry/configmaps/${namespace}/${name}`
const selects = (labels: string, fields = ''): EntrySelection => ({
  labels: labels === '' ? everything : parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
  namespaced: true,
})

async function fixture(seed = 1, { mayBeGarbled = false } = {}) {
  const runtime = simulatedRuntime(seed)
  const opened = await openStorage({ runtime, driver: 'memory' })
  const storage: typeof opened = mayBeGarbled ? Object.assign(Object.create(opened), { mayBeGarbled }) : opened
  const caches = await runtime.complete(createCaches(runtime, storage))
  const maps = caches.resource('configmaps')
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const write = async (
    object: KubeObject,
    expectRevision = 0,
    key = keyOf(object.metadata.name!, object.metadata.namespace),
  ) => {
    const result = await done(storage.write({ type: 'put', key, value: caches.encode(object), expectRevision }))
    assert.ok(result.ok)
    return result.revision
  }
  const remove = async (key: string, expectRevision: number) => {
    const result = await done(storage.write({ type: 'delete', key, expectRevision }))
    assert.ok(result.ok)
    return result.revision
  }
  const watch = (options: Partial<CacheWatchOptions> = {}) =>
    maps.watch({ from: 'now', kind: 'ConfigMap', apiVersion: 'v1', signal: new AbortController().signal, ...options })
  /** What the watch has to tell, after everything has settled. */
  const told = async (reader: StreamReader<WatchEvent>) => {
    const events: WatchEvent[] = []
    for (;;) {
      let next: WatchEvent | undefined
      let arrived = false
      void reader.next().then((event) => {
        next = event
        arrived = true
      })
      await runtime.settle()
      if (!arrived || !next) return events.map(summary)
      events.push(next, ...reader.drain())
    }
  }
  return { runtime, storage, caches, maps, done, write, remove, watch, told }
}

function summary({ type, object }: WatchEvent): string {
  const { name = '', resourceVersion = '', annotations } = object.metadata
  return `${type} ${name}@${resourceVersion}${annotations ? ' end' : ''}${type === 'ERROR' ? object['message'] : ''}`
}

test('a write is in the cache when its writer is answered, as the very object written', async () => {
  const { storage, caches, maps, runtime } = await fixture()
  const object = configMap('a', { x: '1' })
  const answered = storage
    .write({ type: 'put', key: keyOf('a'), value: caches.encode(object), expectRevision: 0 })
    .then((result) => {
      const entry = maps.get(keyOf('a'))
      assert.ok(result.ok)
      assert.equal(entry?.revision, result.revision)
      assert.equal(entry?.object.metadata.resourceVersion, '2')
      assert.equal(entry?.object['data'], object['data'])
      assert.equal(caches.revision, 2)
    })
  await runtime.complete(answered)
})

test('so it is when thousands are on their way, and of the first that comes', async () => {
  const { storage, caches, maps, done } = await fixture()
  const objects = Array.from({ length: 5000 }, (_, index) => configMap(`a-${index}`, { x: '1' }))
  const values = objects.map((object) => caches.encode(object))
  assert.ok((await done(storage.write({ type: 'put', key: keyOf('a-0'), value: values[0]!, expectRevision: 0 }))).ok)
  assert.equal(maps.get(keyOf('a-0'))?.object['data'], objects[0]!['data'])
})

test('bytes: stored without resourceVersion, served with it, items without kind and apiVersion', async () => {
  const { write, maps, caches } = await fixture()
  const object = { ...configMap('ü', { x: '1' }), metadata: { name: 'ü', resourceVersion: '99' } }
  assert.equal(
    Buffer.from(caches.encode(object)).toString(),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"ü"},"data":{"x":"1"}}',
  )
  await write(object, 0, keyOf('u'))
  const entry = maps.get(keyOf('u'))!
  const full = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"2","name":"ü"},"data":{"x":"1"}}'
  assert.equal(Buffer.from(entry.json('full')).toString(), full)
  assert.equal(Buffer.from(entry.json('item')).toString(), `{${full.slice(full.indexOf('"metadata"'))}`)
  assert.equal(`{${Buffer.from(entry.tail()).toString()}`, Buffer.from(entry.json('item')).toString())
  assert.equal(entry.line?.(), entry.line?.())
  assert.equal(Buffer.from(entry.line?.() ?? []).toString(), `${full}\n`)
})

test('bytes another API server wrote, in another order, are served alike', async () => {
  const { storage, done, maps } = await fixture()
  const value = Buffer.from('{"apiVersion":"v1","data":{"x":"{\\"metadata\\":{"},"metadata":{},"kind":"ConfigMap"}')
  await done(storage.write({ type: 'put', key: keyOf('a'), value, expectRevision: 0 }))
  const entry = maps.get(keyOf('a'))!
  assert.deepEqual(JSON.parse(Buffer.from(entry.json('full')).toString()), entry.object)
  assert.deepEqual(JSON.parse(Buffer.from(entry.json('item')).toString()), {
    metadata: { resourceVersion: '2' },
    data: { x: '{"metadata":{' },
  })
})

test('integers that a double cannot hold keep every digit', () => {
  const object = { ...configMap('a'), big: 9223372036854775807n, text: '12345678901234567890' } as unknown as KubeObject
  const decoded = decodeStored(encodeStored(object), 7)
  assert.equal(decoded['big'], 9223372036854775807n)
  assert.equal(decoded['text'], '12345678901234567890')
  assert.equal(decoded.metadata.resourceVersion, '7')
})

test('a map key __proto__ is data, from bytes and from objects', () => {
  const data = JSON.parse('{"__proto__":"x"}')
  const decoded = decodeStored(encodeStored({ ...configMap('a'), data }), 1)
  assert.deepEqual(Object.keys(decoded['data']), ['__proto__'])
})

test('objects are frozen under test', async () => {
  const { write, maps } = await fixture()
  await write(configMap('a', { x: '1' }))
  assert.throws(() => {
    maps.get(keyOf('a'))!.object['data'].x = '2'
  }, TypeError)
})

test('lists are in key order, by namespace, in pages, and exact at older revisions', async () => {
  const { write, remove, maps, done } = await fixture()
  await write(configMap('b', {}, {}, 'one')) // 2
  await write(configMap('a', {}, {}, 'two')) // 3
  await write(configMap('a', {}, {}, 'one')) // 4
  await write(configMap('c', {}, {}, 'one')) // 5
  await remove(keyOf('a', 'one'), 4) // 6
  const names = (items: readonly StoredObject[]) =>
    items.map(({ key }) => key.slice('/registry/configmaps/'.length)).join()
  assert.equal(names(maps.list()), 'one/b,one/c,two/a')
  const prefix = '/registry/configmaps/one/'
  assert.equal(names(maps.list(prefix)), 'one/b,one/c')
  const page = maps.page({ prefix, limit: 1 })
  assert.deepEqual([names(page.items), page.more, page.remaining, page.revision], ['one/b', true, 1, 6])
  assert.equal(names(maps.page({ prefix, start: `${page.items[0]!.key}\0` }).items), 'one/c')
  const old = await done(maps.pageAt(5, { prefix, limit: 2 }))
  assert.deepEqual([names(old.items), old.more, old.remaining, old.revision], ['one/a,one/b', true, 1, 5])
  await assert.rejects(done(maps.pageAt(99, {})), FutureRevisionError)
})

const nodeNameOf = ({ spec }: Pod) => ({ 'spec.nodeName': spec?.nodeName ?? '' })

test('indexes follow what happens', async () => {
  const { write, remove, maps } = await fixture()
  maps.addIndex('owner', ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [])
  const node = { field: 'spec.nodeName', fieldsOf: nodeNameOf, namespaced: true }
  const onNode = (value: string) => [...maps.eachByField(node, value)].map(({ object }) => object.metadata.name).sort()
  const owned = (name: string, uid: string): KubeObject => ({
    ...configMap(name),
    metadata: { name, namespace: 'default', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid }] },
    spec: { nodeName: `node-${uid}` },
  })
  const names = (value: string) => maps.byIndex('owner', value).map(({ object }) => object.metadata.name)
  await write(owned('b', 'u1'))
  assert.deepEqual(names('u1'), ['b'])
  const revision = await write(owned('a', 'u1'))
  assert.deepEqual(names('u1'), ['a', 'b'])
  assert.deepEqual(onNode('node-u1'), ['a', 'b'])
  const moved = await write(owned('a', 'u2'), revision)
  assert.deepEqual([names('u1'), names('u2')], [['b'], ['a']])
  assert.deepEqual([onNode('node-u1'), onNode('node-u2')], [['b'], ['a']])
  await remove(keyOf('a'), moved)
  assert.deepEqual([names('u2'), names('none')], [[], []])
  assert.deepEqual([onNode('node-u1'), onNode('node-u2')], [['b'], []])
})

test('a watch from now, from a revision and from the initial state', async () => {
  const { write, remove, watch, told } = await fixture()
  const first = await write(configMap('a', { x: '1' })) // 2
  const now = watch()
  await write(configMap('b')) // 3
  await write(configMap('a', { x: '2' }), first) // 4
  await remove(keyOf('b'), 3) // 5
  const after = ['ADDED b@3', 'MODIFIED a@4', 'DELETED b@5']
  assert.deepEqual(await told(now), after)
  assert.deepEqual(await told(watch({ from: first })), after)
  assert.deepEqual(await told(watch({ from: 4 })), ['DELETED b@5'])
  assert.deepEqual(await told(watch({ from: 'initial' })), ['ADDED a@4'])
  assert.deepEqual(await told(watch({ from: 'initial', initialEventsEnd: true })), ['ADDED a@4', 'BOOKMARK @5 end'])
})

test('a watch that begins in the future is told only what is newer', async () => {
  const { write, watch, told } = await fixture()
  const reader = watch({ from: 3 })
  await write(configMap('a')) // 2
  await write(configMap('b')) // 3
  await write(configMap('c')) // 4
  assert.deepEqual(await told(reader), ['ADDED c@4'])
})

test('a watch of one namespace sees no other, not even one whose name begins alike', async () => {
  const { write, watch, told } = await fixture()
  const reader = watch({ prefix: '/registry/configmaps/one/' })
  await write(configMap('a', {}, {}, 'one'))
  await write(configMap('a', {}, {}, 'one2'))
  assert.deepEqual(await told(reader), ['ADDED a@2'])
})

test('what comes to match is added, what no longer does is deleted with its last matching state', async () => {
  const { write, remove, watch, told } = await fixture()
  const reader = watch({ selection: selects('x=1') })
  let revision = await write(configMap('a', { data: 'first' }, { x: '1' })) // 2
  revision = await write(configMap('a', { data: 'second' }, { x: '2' }), revision) // 3
  revision = await write(configMap('a', { data: 'third' }, { x: '2' }), revision) // 4
  revision = await write(configMap('a', { data: 'fourth' }, { x: '1' }), revision) // 5
  revision = await write(configMap('a', { data: 'fifth' }, { x: '1' }), revision) // 6
  await remove(keyOf('a'), revision) // 7
  assert.deepEqual(await told(reader), ['ADDED a@2', 'DELETED a@3', 'ADDED a@5', 'MODIFIED a@6', 'DELETED a@7'])
  const again = watch({ from: 2, selection: selects('x=1') })
  const left = await again.next()
  assert.equal(left?.object['data'].data, 'first')
  assert.equal(left?.object.metadata.resourceVersion, '3')
})

test('an event is encoded once for all watchers of a form', async () => {
  const { write, watch, runtime } = await fixture()
  const readers = [watch(), watch(), watch({ selection: selects('') })]
  const form = { name: 'v2', convert: (object: KubeObject) => ({ ...object, apiVersion: 'v2' }) }
  const converted = [watch({ form }), watch({ form })]
  await write(configMap('a'))
  const events = await runtime.complete(Promise.all([...readers, ...converted].map((reader) => reader.next())))
  const lines = events.map((event) => event!.json!())
  assert.equal(new Set(lines.slice(0, 3)).size, 1)
  assert.equal(new Set(lines.slice(3)).size, 1)
  const text = Buffer.from(lines[0]!).toString()
  assert.ok(text.endsWith('}\n'))
  assert.deepEqual(JSON.parse(text), { type: 'ADDED', object: events[0]!.object })
  assert.equal(JSON.parse(Buffer.from(lines[3]!).toString()).object.apiVersion, 'v2')
})

test('what is older than the log comes out of storage, and what is compacted is an ERROR event', async () => {
  const { runtime, storage, write, done } = await fixture()
  let revision = await write(configMap('a', { x: '0' }, { x: '1' })) // 2
  for (let i = 1; i < 700; i++) revision = await write(configMap('a', { x: `${i}` }, { x: `${i % 2}` }), revision)
  // A server that starts anew has an empty log.
  const maps = (await done(createCaches(runtime, storage))).resource('configmaps')
  const options = { kind: 'ConfigMap', apiVersion: 'v1', signal: new AbortController().signal }
  const reader = maps.watch({ ...options, from: 2, selection: selects('x=1') })
  const seen: string[] = []
  while (seen.length < 699) {
    const event = await done(reader.next())
    seen.push(summary(event!))
  }
  assert.deepEqual(seen.slice(0, 2), ['MODIFIED a@3', 'DELETED a@4'])
  assert.equal(seen.at(-1), `ADDED a@${revision}`)
  await write(configMap('a', { x: 'live' }, { x: '1' }), revision)
  assert.equal(summary((await done(reader.next()))!), `MODIFIED a@${revision + 1}`)
  await done(storage.compact(100))
  const late = maps.watch({ ...options, from: 50 })
  assert.equal(summary((await done(late.next()))!), 'ERROR @too old resource version: 50 (100)')
  assert.equal(await late.next(), undefined)
})

test('a watch cannot begin before the cache does, whatever the log and the storage remember', async () => {
  const { caches, maps, write, watch, told } = await fixture()
  const first = await write(configMap('a'))
  const second = await write(configMap('b'))
  maps.beginAt(caches.revision)
  await write(configMap('c'))
  assert.deepEqual(await told(watch({ from: first, bookmarks: true })), [
    `ERROR @too old resource version: ${first} (${second})`,
  ])
  assert.deepEqual(await told(watch({ from: second })), [`ADDED c@${second + 1}`])
  assert.equal((await told(watch({ from: 'initial' }))).length, 3)
  const early = watch({ from: second })
  maps.beginAt(caches.revision)
  assert.deepEqual(await told(early), [`ADDED c@${second + 1}`], 'one that began before goes on')
})

test('bookmarks come about once a minute, after the events before them, with the revision of the cluster', async () => {
  const { runtime, storage, write, watch } = await fixture()
  const reader = watch({ bookmarks: true })
  await write(configMap('a'))
  await runtime.complete(
    storage.write({ type: 'put', key: '/registry/pods/x/y', value: encodeStored(configMap('y')), expectRevision: 0 }),
  )
  const events: string[] = []
  void (async () => {
    for (let event = await reader.next(); event; event = await reader.next()) events.push(summary(event))
  })()
  await runtime.advance(50_000)
  assert.deepEqual(events, ['ADDED a@2'])
  await runtime.advance(20_000)
  assert.deepEqual(events, ['ADDED a@2', 'BOOKMARK @3'])
  await runtime.advance(600_000)
  assert.ok(events.length >= 10 && events.length <= 13)
})

test('a watcher too slow to keep up is disconnected', async () => {
  const { runtime, storage, caches, watch, maps } = await fixture()
  const slow = watch()
  let head = 0
  for (let round = 0; round < 20; round++) {
    const writes = Array.from({ length: 1000 }, (_, i) => {
      const expectRevision = head === 0 ? 0 : head + i
      const value = caches.encode(configMap('a', { round: `${round}-${i}` }))
      return storage.write({
        type: 'put',
        key: keyOf('a'),
        value,
        expectRevision: head === 0 && i > 0 ? i + 1 : expectRevision,
      })
    })
    const results = await runtime.complete(Promise.all(writes))
    const last = results.at(-1)!
    assert.ok(last.ok)
    head = last.revision
  }
  assert.equal(maps.generation > 20_000, true)
  assert.equal(await slow.next(), undefined)
  assert.equal(slow.closed, true)
})

test('a watch ends with its signal, with the caches, and with the storage', async () => {
  const { caches, watch } = await fixture()
  const controller = new AbortController()
  const reader = watch({ signal: controller.signal })
  const pending = reader.next()
  controller.abort()
  assert.equal(await pending, undefined)
  assert.equal(watch({ signal: controller.signal }).closed, true)
  const other = watch().next()
  caches.close()
  assert.equal(await other, undefined)
})

test('many watchers are all told, in order, and the writer does not wait for them', async () => {
  const { runtime, write, watch } = await fixture()
  const seen: string[][] = []
  for (let i = 0; i < 200; i++) {
    const mine: string[] = []
    seen.push(mine)
    const reader = watch()
    void (async () => {
      for (let event = await reader.next(); event; event = await reader.next()) mine.push(summary(event))
    })()
  }
  let revision = await write(configMap('a'))
  assert.ok(seen.some((mine) => mine.length === 0))
  revision = await write(configMap('a', { x: '1' }), revision)
  await runtime.advance(100)
  await write(configMap('a', { x: '2' }), revision)
  await runtime.advance(100)
  for (const mine of seen) assert.deepEqual(mine, ['ADDED a@2', 'MODIFIED a@3', 'MODIFIED a@4'])
})

test('a resource asked for late has what is there, and follows it', async () => {
  const { storage, done, caches, write } = await fixture()
  const service = { ...configMap('web'), kind: 'Service' }
  await write(service, 0, '/registry/services/specs/default/web')
  await write({ ...configMap('web'), kind: 'Endpoints' }, 0, '/registry/services/endpoints/default/web')
  const services = caches.resource('services/specs')
  assert.deepEqual(
    services.list().map(({ object }) => object.kind),
    ['Service'],
  )
  await write({ ...service, spec: {} }, 2, '/registry/services/specs/default/web')
  assert.equal(services.get('/registry/services/specs/default/web')?.revision, 4)
  assert.equal(caches.resource('services/endpoints').size, 1)
  await done(storage.write({ type: 'delete', key: '/registry/services/specs/default/web', expectRevision: 4 }))
  assert.equal(services.size, 0)
})

test('waiting for a revision ends when the caches reach it, or when the time is up', async () => {
  const { runtime, caches, write } = await fixture()
  const soon = caches.reached(2, 3000)
  const never = caches.reached(99, 3000)
  await write(configMap('a'))
  assert.equal(await soon, true)
  await runtime.advance(3000)
  assert.equal(await never, false)
  assert.equal(await caches.reached(2, 0), true)
})

test('what the caches of two servers keep lies in memory of each', async () => {
  const { runtime, storage, write, done } = await fixture()
  for (const name of ['a', 'b', 'c']) await write(configMap(name))
  const servers = [1, 2].map(async () => (await done(createCaches(runtime, storage))).resource('configmaps'))
  const [one, other] = (await Promise.all(servers)).map(
    (maps) => new Set(['a', 'b', 'c'].map((name) => maps.get(keyOf(name))!.json('full').buffer)),
  )
  assert.deepEqual([one!.size, other!.size], [1, 1])
  assert.ok(one!.isDisjointFrom(other!))
})

test('what others have stored without metadata cannot be read; what is written with it reaches the cache, and its deletion listeners', async () => {
  const { maps, storage, done, remove, caches, told, watch } = await fixture(1, { mayBeGarbled: true })
  const selected = watch({ selection: selects('x=1') })
  const heard: string[] = []
  maps.onChange(({ key, entry }) => heard.push(`${key.slice(key.lastIndexOf('/') + 1)} ${entry ? 'is' : 'is gone'}`))
  const value = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1"}')
  const puts = [
    { type: 'put', key: keyOf('bad'), value, expectRevision: 0 },
    { type: 'put', key: keyOf('good'), value: caches.encode(configMap('good', {}, { x: '1' })), expectRevision: 0 },
  ] as const
  await done(Promise.all(puts.map((put) => storage.write(put))))
  assert.match(String(maps.get(keyOf('bad'))?.unreadable?.message), /Object 'metadata' is missing in/)
  assert.equal(maps.get(keyOf('good'))?.object.metadata.name, 'good')
  assert.deepEqual(await told(selected), [])
  await remove(keyOf('bad'), maps.get(keyOf('bad'))!.revision)
  assert.deepEqual(heard, ['good is', 'bad is gone'])
  assert.equal(maps.unreadable().length, 0)
})

test('a change that the cache fails at ends the watches, and those that came with it are taken', async () => {
  const { maps, storage, done, caches, watch } = await fixture()
  maps.addIndex('data', ({ data }) => {
    const { x = '' } = data as Labels
    return [x]
  })
  assert.deepEqual(maps.byIndex('data', '1'), [])
  const reader = watch()
  const { data: _, ...bad } = configMap('bad')
  const put = (object: KubeObject) =>
    storage.write({ type: 'put', key: keyOf(object.metadata.name!), value: caches.encode(object), expectRevision: 0 })
  await done(Promise.all([put(bad), put(configMap('good', { x: '1' }))]))
  assert.deepEqual(
    maps.byIndex('data', '1').map(({ key }) => key),
    [keyOf('good')],
  )
  assert.equal(await done(reader.next()), undefined)
})
