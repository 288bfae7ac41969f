import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import { createEngine } from './engine.ts'
import { createJournalBounds, type JournalAddition, type JournalEntry } from './journal.ts'
import { createMemory, endMemoryWrite, memoryTables } from './memory.ts'
import { NoRoomError, type Storage } from './storage.ts'

const entry = (revision: number, length = 1) => ({ revision, value: ' '.repeat(length) })
const added = (revision: number, length = 1): JournalAddition => ({
  revision,
  text: { shared: ' '.repeat(length - 1), own: ' ' },
})
const empty = { journal: () => [] as JournalEntry[] }

test('the oldest entries go, a part at once, when there are too many or they are too large; the newest never', () => {
  const many = createJournalBounds(empty, { entries: 32, bytes: 1000 })
  for (let revision = 1; revision <= 32; revision++) assert.deepEqual(many.step([added(revision)]).dropped, [])
  assert.deepEqual(many.step([added(33)]).dropped, [1, 2])
  assert.deepEqual(many.step([added(34)]).dropped, [])
  const large = createJournalBounds(empty, { entries: 32, bytes: 1000 })
  assert.deepEqual(large.step([added(1, 600), added(2, 400)]).dropped, [])
  assert.deepEqual(large.step([added(3, 100)]).dropped, [1])
  assert.deepEqual(large.step([added(4, 5000)]).dropped, [2, 3])
})

test('what a store has already counts; it is read when the first entry comes', () => {
  let reads = 0
  const bounds = createJournalBounds(
    {
      journal: () => {
        reads++
        return [entry(1), entry(2)]
      },
    },
    { entries: 2, bytes: 1000 },
  )
  assert.equal(reads, 0)
  assert.deepEqual(bounds.step([added(3)]).dropped, [1, 2])
  bounds.step([added(4)])
  assert.equal(reads, 1)
})

const remove = (storage: Storage, name: string, expectRevision: number) =>
  storage.write({
    type: 'delete',
    key: `/registry/${name}`,
    expectRevision,
    journal: () => ({ shared: '', own: name }),
  })
const put = (storage: Storage, name: string) =>
  storage.write({ type: 'put', key: `/registry/${name}`, value: Buffer.from(name), expectRevision: 0 })

test('after a kill the journal has exactly the removals that are there, those answered among them', async () => {
  const partly = new Set<number>()
  for (let seed = 0; seed < 40; seed++) {
    const runtime = simulatedRuntime(seed)
    const memory = createMemory()
    const process = new AbortController()
    const before = createEngine(
      stoppable(runtime, process.signal),
      memoryTables(stoppable(runtime, process.signal), memory),
    )
    for (const name of ['a', 'b', 'c']) await runtime.complete(put(before, name))
    const answered: string[] = []
    for (const [at, name] of ['a', 'b', 'c'].entries())
      void remove(before, name, at + 2).then(() => answered.push(name))
    for (let steps = seed % 12; steps > 0; steps--) await runtime.step()
    process.abort()
    await runtime.settle()
    endMemoryWrite(memory, seed % 2 === 0)

    const after = createEngine(runtime, memoryTables(runtime, memory))
    const { items } = await runtime.complete(after.range('/registry/', '/registry0'))
    const left = items.map(({ key }) => key.slice('/registry/'.length))
    const gone = ['a', 'b', 'c'].filter((name) => !left.includes(name))
    const journal = (await runtime.complete(after.journal(0))).map(({ value }) => value)
    assert.deepEqual(journal, gone, `seed ${seed}`)
    for (const name of answered) assert.ok(journal.includes(name))
    partly.add(gone.length)
  }
  assert.ok(partly.size > 1, 'some kill came between')
})

test('a group that found no room is counted as it is on disk', async () => {
  const runtime = simulatedRuntime(1)
  const memory = createMemory()
  const tables = memoryTables(runtime, memory)
  let isFull = false
  const storage = createEngine(
    runtime,
    {
      ...tables,
      flush: (group) => (isFull ? Promise.reject(new NoRoomError('full')) : tables.flush(group)),
      reload: async () => memory.state.revision,
      makeRoom: async () => {
        if (isFull) throw new NoRoomError('full')
      },
    },
    { journal: { entries: 2, bytes: 1000 } },
  )
  for (const name of ['a', 'b', 'c']) await runtime.complete(put(storage, name))
  isFull = true
  await assert.rejects(runtime.complete(remove(storage, 'a', 2)), NoRoomError)
  isFull = false
  await runtime.advance(1000)
  await runtime.complete(remove(storage, 'b', 3))
  await runtime.complete(remove(storage, 'c', 4))
  const journal = await runtime.complete(storage.journal(0))
  assert.deepEqual(
    journal.map(({ value }) => value),
    ['b', 'c'],
  )
})
