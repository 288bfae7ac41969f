import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import type { HistoryEvent, Storage, StorageEvent, StorageSubscriber } from './storage.ts'
import { type Transformer, transformed } from './transform.ts'

const reversed = (_: string, value: Uint8Array) => Uint8Array.from(value).reverse()
const transformer: Transformer = { encode: reversed, decode: reversed, isStale: () => false }

test('what is told of a write is decoded, and the value before it not even read', () => {
  let told: (event: StorageEvent) => void = () => {}
  const store = {
    isShared: false,
    subscribe: (_prefix: string, _after: number, { events }: StorageSubscriber) => {
      told = (event) => events([event], event.revision)
      return () => {}
    },
  } as unknown as Storage
  const seen: StorageEvent[] = []
  transformed(store, transformer).subscribe('/', 1, { events: (events) => seen.push(...events) })
  const put: HistoryEvent = {
    type: 'put',
    key: '/a',
    revision: 2,
    value: Uint8Array.of(1, 2),
    get previous(): undefined {
      throw new Error('the value before was read')
    },
  }
  told(put)
  assert.deepEqual(seen, [{ type: 'put', key: '/a', revision: 2, value: Uint8Array.of(2, 1) }])
})

test('events that cannot be read yet wait, those behind them too, and so does who asks for what is fresh', async () => {
  let told: (revision: number, ...bytes: number[]) => void = () => {}
  const store = {
    isShared: true,
    revision: 4,
    fresh: async () => {},
    subscribe: (_prefix: string, _after: number, { events }: StorageSubscriber) => {
      told = (revision, ...bytes) =>
        events([{ type: 'put', key: '/a', revision, value: Uint8Array.from(bytes) }], revision)
      return () => {}
    },
  } as unknown as Storage
  let ready = () => {}
  const isReady = new Promise<void>((resolve) => {
    ready = resolve
  })
  let prepare: Transformer['prepare'] = (items) => (items.some(({ value }) => value[0] === 9) ? isReady : undefined)
  const storage = transformed(store, {
    ...transformer,
    get prepare() {
      return prepare
    },
  })
  const seen: number[] = []
  storage.subscribe('/', 1, { events: (events) => seen.push(...events.map(({ revision }) => revision)) })
  told(2, 1)
  assert.deepEqual(seen, [2])
  told(3, 9)
  told(4, 1)
  // As a configuration without plugins, which is used from now on.
  prepare = undefined
  let isFresh = false
  const fresh = storage.fresh()?.then(() => {
    isFresh = true
  })
  for (let turn = 0; turn < 9; turn++) await Promise.resolve()
  assert.deepEqual([seen, isFresh, storage.revision], [[2], false, 2])
  ready()
  await fresh
  assert.deepEqual([seen, storage.revision], [[2, 3, 4], 4])
  told(5, 1)
  assert.deepEqual(seen, [2, 3, 4, 5])
})

test('what is read is made ready first', async () => {
  let isThere = false
  const item = { key: '/a', value: Uint8Array.of(9), modRevision: 1, createRevision: 1 }
  const store = {
    get: async () => ({ item, revision: 1 }),
    range: async () => ({ items: [item], revision: 1, more: false, remaining: 0 }),
    history: async () => ({ events: [{ type: 'put', ...item, revision: 1, previous: item }], revision: 1 }),
  } as unknown as Storage
  const storage = transformed(store, {
    ...transformer,
    decode(_key, value) {
      if (!isThere) throw new Error('it was not made ready')
      return value
    },
    prepare: async () => {
      await Promise.resolve()
      isThere = true
    },
  })
  for (const read of [() => storage.get('/a'), () => storage.range('/a', '/b'), () => storage.history('/', 0)]) {
    isThere = false
    assert.doesNotMatch(inspect(await read()), /not made ready/)
  }
})
