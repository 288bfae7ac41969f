import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { copyTo, fillTables, verify } from './copy-to-another-store.ts'
import { createEngine } from './engine.ts'
import { createMemory, memoryTables } from './memory.ts'
import type { Storage } from './storage.ts'

const items = Array.from({ length: 2500 }, (_, i) => ({
  key: `/registry/${i % 7 === 0 ? 'events' : 'configmaps'}/default/n${String(i).padStart(5, '0')}`,
  value: Buffer.from(String(i)),
  modRevision: 10 + ((i * 37) % 2500) * 2,
  createRevision: 7,
}))
const source = { items, revision: 9000 }

test('tables are filled with the revisions of the source, also when that is broken off in between', async () => {
  const runtime = simulatedRuntime(1)
  const memory = createMemory()
  let groups = 0
  const tables = memoryTables(runtime, memory)
  const failing = {
    ...tables,
    flush: (group: Parameters<typeof tables.flush>[0]) =>
      ++groups === 3 ? Promise.reject(new Error('killed')) : tables.flush(group),
  }
  await assert.rejects(runtime.complete(fillTables(runtime, failing, source, false)), /killed/)
  assert.ok(memory.keys.size > 0 && memory.keys.size < items.length)
  await assert.rejects(
    runtime.complete(fillTables(runtime, memoryTables(runtime, memory), source, false)),
    /holds a cluster/,
  )
  await runtime.complete(fillTables(runtime, memoryTables(runtime, memory), source, true))
  const storage = createEngine(runtime, memoryTables(runtime, memory))
  const { items: found, revision } = await runtime.complete(storage.range('/registry/', '/registry0'))
  verify(items, found, true)
  assert.equal(revision, 9001)
  await assert.rejects(runtime.complete(storage.history('', 8999)), /compacted/)
  await runtime.advance(3_700_000)
  const left = await runtime.complete(storage.range('/registry/events/', '/registry/events0'))
  assert.equal(left.items.length, 0, 'events end in an hour')
})

test('a store that is copied to holds the same, at a revision that is not below', async () => {
  const runtime = simulatedRuntime(2)
  const target = createEngine(runtime, memoryTables(runtime))
  const { objects } = await runtime.complete(copyTo(target, source, 'a'))
  assert.equal(objects, items.length)
  assert.ok(target.revision >= 9000)
  const { items: found } = await runtime.complete(target.range('/registry/', '/registry0'))
  verify(items, found)
  assert.throws(() => verify(items, found.slice(1)), /was not copied/)
  assert.throws(() => verify(items.slice(1), found), /which the source has not/)
  const [one] = found
  assert.ok(one !== undefined)
  assert.throws(() => verify(items, [{ ...one, value: Buffer.from('x') }, ...found.slice(1)]), /was not copied/)
})

test('a copy that was broken off at any write is whole when it is begun again, and nothing of the first is left', async () => {
  const few = { items: items.slice(0, 20).map((item) => ({ ...item, modRevision: 5 })), revision: 60 }
  let isWhole = false
  for (let dies = 1; !isWhole; dies++) {
    const runtime = simulatedRuntime(dies)
    const target = createEngine(runtime, memoryTables(runtime))
    let writes = 0
    const dying: Storage = {
      ...target,
      get revision() {
        return target.revision
      },
      write: (request) => (++writes >= dies ? Promise.reject(new Error('killed')) : target.write(request)),
    }
    isWhole = await runtime.complete(
      copyTo(dying, few, 'a').then(
        () => true,
        () => false,
      ),
    )
    // What was on its way is done.
    await runtime.settle()
    if (!isWhole) await runtime.complete(copyTo(target, few, 'a'))
    const { items: found } = await runtime.complete(target.range('/registry/', '/registry0'))
    assert.deepEqual(
      found.map(({ key }) => key),
      few.items.map(({ key }) => key).sort(),
      `killed at write ${dies}`,
    )
    assert.ok(target.revision >= 60)
  }
})
