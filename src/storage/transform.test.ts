import assert from 'node:assert/strict'
import { test } from 'node:test'
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
