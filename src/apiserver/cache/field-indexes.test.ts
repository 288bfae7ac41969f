import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { parseFieldSelector } from '../../api/objects/field-selector.ts'
import { everything, parseLabelSelector } from '../../api/objects/label-selector.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openStorage } from '../../storage/open.ts'
import { prefixEnd } from '../../storage/tables.ts'
import { createCaches } from './caches.ts'
import { type CacheEntry, encodeStored } from './entry.ts'
import { createFieldIndexes } from './field-indexes.ts'
import { createSelectedFields, type EntrySelection, type FieldsOf } from './selected.ts'

const ROOT = '/registry/pods/'
const NODES = 40

const fieldsOf: FieldsOf = (object) => {
  const { node, phase } = object['data'] as Record<string, string>
  return { node: node ?? '', phase: phase ?? '' }
}
const selects = (fields: string): EntrySelection => ({
  labels: everything,
  fields: parseFieldSelector(fields),
  fieldsOf,
  namespaced: true,
})

async function fixture(count: number) {
  const runtime = simulatedRuntime(7)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const caches = await done(createCaches(runtime, storage))
  const cache = caches.resource('pods')
  const revisions = new Map<string, number>()
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const put = async (i: number, phase = random(9) === 0 ? 'Failed' : 'Running', namespace = `n${i % 3}`) => {
    const key = `${ROOT}${namespace}/p${i}`
    const data = { node: `node-${random(NODES)}`, phase }
    const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: `p${i}`, namespace }, data } as KubeObject
    const expectRevision = revisions.get(key) ?? 0
    const result = await done(storage.write({ type: 'put', key, value: caches.encode(object), expectRevision }))
    assert.ok(result.ok)
    revisions.set(key, result.revision)
  }
  const remove = async (i: number) => {
    const key = `${ROOT}n${i % 3}/p${i}`
    const expectRevision = revisions.get(key)
    if (expectRevision === undefined) return
    assert.ok((await done(storage.write({ type: 'delete', key, expectRevision }))).ok)
    revisions.delete(key)
  }
  for (let i = 0; i < count; i++) await put(i)
  return { runtime, storage, cache, done, random, put, remove }
}

/** Lists that look at all of it, until its index is paid for. */
async function listed(
  { cache, runtime }: Pick<Awaited<ReturnType<typeof fixture>>, 'cache' | 'runtime'>,
  selection: EntrySelection,
) {
  for (let i = 0; i < 2; i++) assert.equal(cache.found(selection, {}), undefined)
  await runtime.settle()
}

const told = (entries: readonly { readonly key: string; readonly revision: number }[]) =>
  entries.map(({ key, revision }) => `${key}@${revision}`)

test('what an index finds is what looking at all finds, now and at revisions before, under random writes', async () => {
  const { runtime, storage, cache, done, random, put, remove } = await fixture(400)
  for (let i = 0; i < 2; i++) assert.equal(cache.found(selects('node=node-1'), {}), undefined)
  // The index is being made while there are writes.
  await put(3)
  await remove(4)
  await runtime.settle()
  const before: number[] = []
  let indexed = 0
  for (let round = 0; round < 150; round++) {
    if (random(3) === 0) await remove(random(420))
    else await put(random(420))
    before.push(cache.page({}).revision)
    const prefix = random(2) === 0 ? ROOT : `${ROOT}n${random(3)}/`
    const selection = selects(`node=node-${random(NODES)}${random(3) === 0 ? ',phase=Failed' : ''}`)
    const revision = random(2) === 0 ? undefined : before[random(before.length)]
    const start = random(3) === 0 ? `${prefix}p${random(420)}` : prefix
    const options = { prefix, start, ...(revision === undefined ? {} : { revision }) }
    const matches = cache.matcher(selection)
    const found = cache.found(selection, options)
    if (found === undefined) {
      // Few follow in that namespace.
      assert.notEqual(prefix, ROOT)
      assert.ok(cache.page({ prefix, start }).items.length < 420 / NODES + 10)
      continue
    }
    indexed++
    const at = revision ?? found.revision
    const range = await done(storage.range(start, prefixEnd(prefix), { revision: at }))
    const all = range.items.map(({ key, modRevision }) => ({ key, revision: modRevision }))
    assert.deepEqual(told((await done(cache.pageAt(at, { prefix, start }))).items), told(all))
    const page = await done(cache.pageAt(at, { prefix, start, limit: 5 }))
    const five = await done(storage.range(start, prefixEnd(prefix), { revision: at, limit: 5 }))
    assert.deepEqual([page.more, page.remaining, page.revision], [five.more, five.remaining, five.revision])
    const wanted = (await done(cache.pageAt(at, { prefix, start }))).items.filter(matches)
    assert.deepEqual(told(found.items.filter(matches)), told(wanted))
    assert.equal(found.lastKey, all.at(-1)?.key)
  }
  assert.ok(indexed > 120, `${indexed}`)
})

test('a value that most have is not indexed, a rare one of the same selector is', async () => {
  const { runtime, cache } = await fixture(300)
  await listed({ runtime, cache }, selects('phase=Running'))
  await listed({ runtime, cache }, selects('phase=Running'))
  await listed({ runtime, cache }, selects('phase=Running,node=node-2'))
  const found = cache.found(selects('phase=Running,node=node-2'), {})
  assert.ok(found !== undefined && found.items.length < 300 / 8)
})

test('a list is not taken from the cache at a revision that the storage has compacted', async () => {
  const { runtime, storage, cache, done, put } = await fixture(300)
  await listed({ runtime, cache }, selects('node=node-1'))
  const { revision } = cache.page({})
  await put(1)
  assert.ok(cache.found(selects('node=node-1'), { revision }))
  await done(storage.compact(revision + 1))
  assert.equal(cache.found(selects('node=node-1'), { revision }), undefined)
  await assert.rejects(done(cache.pageAt(revision, {})))
})

test('an index of names serves kinds that have fields of their own too', async () => {
  const { runtime, cache } = await fixture(300)
  await listed({ runtime, cache }, selects('metadata.name=p7'))
  assert.equal(cache.found(selects('metadata.name=p7'), {})?.items.length, 1)
  assert.equal(cache.found(selects('metadata.name=p8'), {})?.items.length, 1)
})

test('what more follows is known of the revision that the objects are of, whatever is deleted before it is asked', async () => {
  const { runtime, cache, remove } = await fixture(300)
  await listed({ runtime, cache }, selects('node=node-1'))
  const keys = cache
    .list()
    .map(({ key }) => key)
    .sort()
  const found = cache.found(selects('node=node-1'), {})
  for (let i = 0; i < 300; i++) await remove(i)
  assert.equal(found?.lastKey, keys.at(-1))
})

test('a value that was too frequent is asked about again once as much has changed as there was', async () => {
  const { runtime, cache, put } = await fixture(300)
  await listed({ runtime, cache }, selects('phase=Running'))
  await listed({ runtime, cache }, selects('phase=Running'))
  assert.equal(cache.found(selects('phase=Running'), {}), undefined)
  for (let i = 0; i < 300; i++) await put(i, 'Succeeded')
  await listed({ runtime, cache }, selects('phase=Running'))
  assert.equal(cache.found(selects('phase=Running'), {})?.items.length, 0)
})

test('objects are found by a label that few have, also once it changes, and those without it by none', async () => {
  const { runtime, cache, storage, done } = await fixture(300)
  const byLabel = (text: string): EntrySelection => ({ ...selects(''), labels: parseLabelSelector(text) })
  const label = async (i: number, labels: Record<string, string>) => {
    const entry = cache.list().find(({ key }) => key.endsWith(`/p${i}`))
    assert.ok(entry)
    const { object, key, revision: expectRevision } = entry
    const value = encodeStored({ ...object, metadata: { ...object.metadata, labels } })
    assert.ok((await done(storage.write({ type: 'put', key, value, expectRevision }))).ok)
  }
  const names = (text: string) => cache.found(byLabel(text), {})?.items.map(({ object }) => object.metadata.name)
  for (let i = 0; i < 200; i++) await label(i, { app: `a${i % 50}`, tier: 'web' })
  await listed({ runtime, cache }, byLabel('app=a7'))
  assert.deepEqual(names('app=a7')?.sort(), ['p107', 'p157', 'p57', 'p7'])
  assert.deepEqual(names('tier=web,app in (a8)')?.length, 4)
  assert.deepEqual(names('app=constructor'), [])
  await label(7, { app: 'a8' })
  await label(250, { app: 'a7' })
  assert.deepEqual(names('app=a7')?.sort(), ['p107', 'p157', 'p250', 'p57'])
  await label(250, {})
  assert.deepEqual(names('app=a7')?.sort(), ['p107', 'p157', 'p57'])
  for (const open of ['app!=a7', 'app', '!app', 'app in (a7,a8)']) assert.equal(names(open), undefined, open)
})

test('an index is made once lists without it have looked at as much as making it does, and none goes that lists use', async () => {
  const { runtime, cache } = await fixture(300)
  let looked = 0
  const values = Array.from({ length: 300 }, (_, i) => ({ labels: { a: `${i}`, b: `${i}` }, values: [] }))
  const entries = cache
    .list()
    .map((entry, i) => ({ key: entry.key, selected: () => values[i] }) as unknown as CacheEntry)
  const indexes = createFieldIndexes(
    runtime,
    () => entries.length,
    function* () {
      for (const entry of entries) {
        looked++
        yield entry
      }
    },
  )
  const selected = createSelectedFields(fieldsOf)
  const list = async (label: string) => {
    const selection = { ...selects(''), labels: parseLabelSelector(`${label}=x`) }
    const found = indexes.find(selection, selected, () => entries.length)
    await runtime.settle()
    return found !== undefined
  }
  const listEach = async (labels: readonly string[]) => {
    let found = 0
    for (const label of labels) if (await list(label)) found++
    return found
  }
  await list('a')
  assert.equal(looked, 0)
  await list('a')
  assert.equal(looked, 600)
  assert.equal(await list('a'), true)

  const five = ['a', 'b', 'c', 'd', 'e']
  await listEach(five)
  await listEach(five)
  assert.equal(looked, 4 * 600)
  for (let i = 0; i < 40; i++) assert.equal(await listEach(five), 4)
  assert.equal(looked, 4 * 600)
  // What fields are asked by has places of its own.
  const byName = selects('metadata.name=none')
  for (let i = 0; i < 2; i++)
    assert.equal(
      indexes.find(byName, selected, () => entries.length),
      undefined,
    )
  await runtime.settle()
  assert.equal(looked, 5 * 600)
  // One that no list has used for long makes room.
  for (let i = 0; i < 60; i++) await listEach(['b', 'c', 'd', 'e', 'e'])
  assert.equal(looked, 6 * 600)
  assert.equal(await list('e'), true)
  assert.equal(await list('a'), false)
  assert.ok(indexes.find(byName, selected, () => entries.length))
})

test('a namespace that holds no more than an index would find is gone through, and pays for no index', async () => {
  const { runtime, cache, put } = await fixture(300)
  const small = { prefix: `${ROOT}n3/` }
  for (let i = 0; i < 3; i++) await put(i, 'Pending', 'n3')
  const selection = selects('node=node-1')
  for (let i = 0; i < 20; i++) assert.equal(cache.found(selection, small), undefined)
  await runtime.settle()
  await listed({ runtime, cache }, selection)
  const all = cache.found(selection, {})
  assert.ok(all !== undefined && all.items.length > 3)
  assert.equal(cache.found(selection, small), undefined)
  assert.ok(cache.found(selection, { prefix: `${ROOT}n1/` }))
  assert.equal(cache.found(selects('node=none'), small)?.items.length, 0)
})

test('an index that the server asks for itself is there at once, stays, and lists use it too', async () => {
  const { cache, put, remove } = await fixture(300)
  const field = { field: 'node', fieldsOf, namespaced: true }
  const on = (node: string) => told([...cache.eachByField(field, node)]).sort()
  const wanted = (node: string) => told(cache.list().filter(({ object }) => fieldsOf(object)['node'] === node)).sort()
  assert.deepEqual(on('node-3'), wanted('node-3'))
  // Found without a first list that looks at all.
  assert.deepEqual(told(cache.found(selects('node=node-3'), {})?.items ?? []).sort(), wanted('node-3'))
  for (let i = 0; i < 100; i++) await put(i)
  for (let i = 100; i < 150; i++) await remove(i)
  for (const node of ['node-3', 'node-4', 'none']) assert.deepEqual(on(node), wanted(node))
  // Fields are read otherwise: lists may not use it, and it is there for the server.
  const others: FieldsOf = (object) => fieldsOf(object)
  assert.equal(cache.found({ ...selects('node=node-3'), fieldsOf: others }, {}), undefined)
  assert.deepEqual(on('node-3'), wanted('node-3'))
})
