import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import { storageContract } from './contract.ts'
import { createMemory, endMemoryWrite } from './memory.ts'
import { openStorage } from './open.ts'
import type { Storage } from './storage.ts'

storageContract({
  name: 'memory',
  open: async (runtime) => {
    const memory = createMemory()
    let storage = await openStorage({ runtime, driver: 'memory', memory })
    const reopen = async () => {
      await storage.close()
      storage = await openStorage({ runtime, driver: 'memory', memory })
      return storage
    }
    return { storage, reopen }
  },
  complete: (runtime, promise) => runtime.complete(promise),
})

test('after a kill everything answered is there, and of the rest a whole group or nothing', async () => {
  const lost = new Set<string>()
  for (let seed = 0; seed < 60; seed++) {
    const runtime = simulatedRuntime(seed)
    const memory = createMemory()
    const process = new AbortController()
    const before = await openStorage({ runtime: stoppable(runtime, process.signal), driver: 'memory', memory })
    const answered: string[] = []
    for (const name of ['a', 'b', 'c']) void put(before, name).then(() => answered.push(name))
    for (let steps = seed % 12; steps > 0; steps--) await runtime.step()
    for (const name of ['d', 'e']) void put(before, name).then(() => answered.push(name))
    for (let steps = seed % 7; steps > 0; steps--) await runtime.step()
    process.abort()
    await runtime.settle()
    const isThere = seed % 2 === 0
    const writing = memory.writing?.changes.map(({ key }) => key.slice('/registry/'.length)) ?? []
    endMemoryWrite(memory, isThere)

    const after = await openStorage({ runtime, driver: 'memory', memory })
    const { items, revision } = await runtime.complete(after.range('/registry/', '/registry0'))
    const names = items.map(({ key }) => key.slice('/registry/'.length))
    for (const name of answered) assert.ok(names.includes(name), `seed ${seed}: ${name} was answered, and is lost`)
    for (const name of writing) assert.equal(names.includes(name), isThere)
    assert.equal(revision, 1 + names.length)
    for (const name of ['a', 'b', 'c', 'd', 'e']) if (!names.includes(name)) lost.add(name)
    assert.deepEqual(await runtime.complete(put(after, 'f')), { ok: true, revision: revision + 1 })
  }
  assert.ok(lost.size > 1, 'some kill came before a write')
})

const put = (storage: Storage, name: string) =>
  storage.write({ type: 'put', key: `/registry/${name}`, value: Buffer.from(name), expectRevision: 0 })
