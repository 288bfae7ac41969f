import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openStorage } from '../../storage/open.ts'
import { createCaches } from './caches.ts'

const HISTORY_MS = 160_000

async function fixture() {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const caches = await runtime.complete(createCaches(runtime, storage))
  const maps = caches.resource('configmaps')
  const keyOf = (i: number) => `/registry/configmaps/default/m${i}`
  const metadata = (i: number) => ({ name: `m${i}`, namespace: 'default' })
  const data = { text: 'x'.repeat(2000) }
  const put = async (i: number) => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: metadata(i), data }
    const value = caches.encode(object)
    const expectRevision = maps.get(keyOf(i))?.revision ?? 0
    const write = storage.write({ type: 'put', key: keyOf(i), value, expectRevision })
    assert.ok((await runtime.complete(write)).ok)
    maps.get(keyOf(i))?.json('full')
  }
  const remove = async (i: number) => {
    const expectRevision = maps.get(keyOf(i))?.revision ?? 0
    assert.ok((await runtime.complete(storage.write({ type: 'delete', key: keyOf(i), expectRevision }))).ok)
  }
  /** Of all memory that holds something of what is there. */
  const held = () => {
    const buffers = new Set(maps.list().map((entry) => entry.json('full').buffer))
    return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }
  return { runtime, maps, put, remove, held, text: (i: number) => String(maps.get(keyOf(i))?.json('full')) }
}

test('what few of many deleted objects leave behind is moved together, and the memory of the others is given up', async () => {
  const { runtime, maps, put, remove, held, text } = await fixture()
  for (let i = 0; i < 1500; i++) await put(i)
  await runtime.advance(HISTORY_MS)
  assert.ok(held() < 1500 * 2200 * 1.3, `${held()} bytes for 1,500`)
  const before = text(750)
  for (let i = 0; i < 1500; i++) if (i % 50 !== 0) await remove(i)
  assert.ok(held() > 1500 * 2200 * 0.7, 'they lie in all slabs')
  await runtime.advance(HISTORY_MS)
  assert.equal(maps.size, 30)
  assert.ok(held() < 600_000, `${held()} bytes for 30`)
  assert.equal(text(750), before)
})
