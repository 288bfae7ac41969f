import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createEngine, type EngineOptions, type StoreState } from './engine.ts'
import { memoryTables } from './memory.ts'
import { NoRoomError, StoreError, type Write } from './storage.ts'
import type { Group, Tables } from './tables.ts'

/** An engine whose disk answers when told. */
function fixture(seed = 1, options: EngineOptions = {}) {
  const runtime = simulatedRuntime(seed)
  const memory = memoryTables(runtime)
  /** What the disk says after a flush found no room. */
  const disk = { revision: 1, hasRoom: false, asked: [] as { bytes: number; isFreed: boolean }[], reloads: 0 }
  const groups: { readonly group: Group; finish(error?: Error): Promise<void> }[] = []
  const tables: Tables = {
    ...memory,
    flush: (group) =>
      new Promise((resolve, reject) => {
        groups.push({
          group,
          async finish(error) {
            if (error) reject(error)
            else memory.flush(group).then(resolve)
            await runtime.settle()
          },
        })
      }),
    reload: async () => {
      disk.reloads++
      return disk.revision
    },
    makeRoom: async (bytes, isFreed) => {
      disk.asked.push({ bytes, isFreed })
      if (!disk.hasRoom) throw new NoRoomError('still full')
    },
  }
  const states: StoreState[] = []
  const storage = createEngine(runtime, tables, { ...options, onState: (state) => states.push(state) })
  const log: string[] = []
  const write = (name: string, expectRevision: number, type: 'put' | 'delete' = 'put') => {
    const key = `/registry/${name}`
    const request: Write =
      type === 'put' ? { type, key, value: Buffer.from(name), expectRevision } : { type, key, expectRevision }
    storage.write(request).then(
      (result) =>
        log.push(`${name} ${result.ok ? result.revision : `conflict ${result.current?.modRevision ?? 'none'}`}`),
      (error) => log.push(`${name} ${error instanceof StoreError ? 'failed' : error}`),
    )
  }
  return { runtime, storage, groups, states, log, write, disk }
}

test('one group is in flight; what comes meanwhile makes the next one', async () => {
  const { runtime, groups, write, log } = fixture()
  write('a', 0)
  await runtime.settle()
  write('b', 0)
  write('c', 0)
  await runtime.settle()
  assert.equal(groups.length, 1)
  assert.deepEqual(log, [])
  await groups[0]!.finish()
  assert.deepEqual(log, ['a 2'])
  assert.deepEqual(
    groups[1]!.group.changes.map(({ key }) => key),
    ['/registry/b', '/registry/c'],
  )
  await groups[1]!.finish()
  assert.deepEqual([...log].sort(), ['a 2', 'b 3', 'c 4'])
  write('d', 0)
  await runtime.settle()
  assert.deepEqual(
    groups.map(({ group }) => group.hasWaited),
    [false, true, false],
  )
})

test('what is put to be deleted is deleted later, nothing comes between, and a store that is closed waits for it', async () => {
  const { runtime, storage, groups, write, log } = fixture(1, { removalDelayMs: 1 })
  write('a', 0)
  await runtime.settle()
  await groups[0]!.finish()
  storage
    .write({ type: 'put', key: '/registry/a', value: Buffer.from('last'), expectRevision: 2, thenDelete: true })
    .then((result) => log.push(`a ${result.ok && result.revision}`))
  await runtime.settle()
  await groups[1]!.finish()
  write('a', 3)
  write('b', 0)
  await runtime.settle()
  const closed = storage.close().then(() => log.push('closed'))
  await groups[2]!.finish()
  await runtime.advance(0.9)
  assert.deepEqual(log, ['a 2', 'b 4', 'a conflict 3'])
  assert.equal(groups.length, 3)
  await runtime.advance(0.1)
  assert.deepEqual(
    groups[3]!.group.changes.map(({ revision, value }) => [revision, value]),
    [[5, undefined]],
  )
  await groups[3]!.finish()
  await closed
  assert.deepEqual(log.slice(3).sort(), ['a 5', 'closed'])
})

test('what one group put to be deleted is deleted by one group', async () => {
  const { runtime, storage, groups, log } = fixture(1, { removalDelayMs: 1 })
  for (const name of ['a', 'b', 'c'])
    storage
      .write({ type: 'put', key: `/registry/${name}`, value: Buffer.from(name), expectRevision: 0, thenDelete: true })
      .then((result) => log.push(`${name} ${result.ok && result.revision}`))
  await runtime.settle()
  await groups[0]!.finish()
  const closed = storage.close()
  await runtime.advance(1)
  assert.deepEqual(
    groups[1]!.group.changes.map(({ key, value }) => [key, value]),
    ['a', 'b', 'c'].map((name) => [`/registry/${name}`, undefined]),
  )
  await groups[1]!.finish()
  await closed
  assert.deepEqual(log.toSorted(), ['a 5', 'b 6', 'c 7'])
})

test('what is put to be deleted stays, and its writer is told, where the disk has no room before it is deleted', async () => {
  const { runtime, storage, groups, write, log, disk } = fixture(1, { removalDelayMs: 1 })
  disk.revision = 2
  storage
    .write({ type: 'put', key: '/registry/a', value: Buffer.from('last'), expectRevision: 0, thenDelete: true })
    .catch((error) => log.push(error instanceof NoRoomError ? 'a failed' : error))
  await runtime.settle()
  await groups[0]!.finish()
  write('b', 0)
  await runtime.settle()
  await groups[1]!.finish(new NoRoomError('full'))
  await runtime.advance(1)
  assert.deepEqual(log, ['b failed', 'a failed'])
  const read = storage.get('/registry/a')
  await runtime.settle()
  assert.equal((await read).item?.modRevision, 2)
})

test('a compare that fails against a queued write waits until that write is durable', async () => {
  const { runtime, groups, write, log, storage } = fixture()
  write('a', 0)
  write('a', 0)
  write('a', 99, 'delete')
  await runtime.settle()
  assert.deepEqual(log, [])
  const read = await runtime.complete(storage.get('/registry/a'))
  assert.deepEqual(read, { item: undefined, revision: 1 })
  await groups[0]!.finish()
  assert.deepEqual([...log].sort(), ['a 2', 'a conflict 2', 'a conflict 2'])
})

test('a failed flush fails what was in flight and all behind it, and the store answers nothing any more', async () => {
  const { runtime, groups, write, log, storage, states } = fixture()
  let watcher: unknown
  storage.subscribe('', 1, { events: () => assert.fail('not durable'), failed: (error) => (watcher = error) })
  write('a', 0)
  await runtime.settle()
  write('a', 2)
  write('a', 0)
  write('b', 0)
  await groups[0]!.finish(new Error('an input/output error'))
  assert.deepEqual(log, ['a failed', 'a failed', 'b failed', 'a failed'])
  const [state, ...others] = states
  assert.ok(state?.type === 'failed' && others.length === 0)
  assert.match(state.error.message, /an input\/output error/)
  assert.equal(watcher, state.error)
  assert.equal(storage.failure, state.error)
  await assert.rejects(runtime.complete(storage.get('/registry/a')), StoreError)
  write('c', 0)
  await runtime.settle()
  assert.equal(log.at(-1), 'c failed')
  assert.equal(groups.length, 1)
  assert.equal(storage.revision, 1)
})

test('in every order, each answered write was published before, and compare-and-swap loses none', async () => {
  for (let seed = 0; seed < 100; seed++) {
    const runtime = simulatedRuntime(seed)
    const storage = createEngine(runtime, memoryTables(runtime))
    const published = new Set<number>()
    storage.subscribe('', 1, {
      events(events) {
        for (const { revision } of events) published.add(revision)
      },
    })
    let sum = 0
    const increment = async (): Promise<void> => {
      for (;;) {
        const { item } = await storage.get('/registry/sum')
        const value = Buffer.from(String(Number(item ? Buffer.from(item.value).toString() : 0) + 1))
        const expectRevision = item?.modRevision ?? 0
        const result = await storage.write({ type: 'put', key: '/registry/sum', value, expectRevision })
        if (!result.ok) continue
        assert.ok(published.has(result.revision))
        sum++
        return
      }
    }
    await runtime.complete(Promise.all(Array.from({ length: 8 }, increment)))
    const { item } = await runtime.complete(storage.get('/registry/sum'))
    assert.equal(Buffer.from(item!.value).toString(), String(sum))
  }
})

const full = () => new NoRoomError('disk full')

test('a disk without room: writes fail with why, reads go on, and writes are taken again once there is room', async () => {
  const { runtime, groups, write, log, storage, states, disk } = fixture()
  const seen: number[] = []
  storage.subscribe('', 1, { events: (events) => seen.push(...events.map(({ revision }) => revision)) })
  write('a', 0)
  await runtime.settle()
  await groups[0]!.finish()
  disk.revision = 2
  write('b', 0)
  await runtime.settle()
  write('b', 3)
  write('c', 0)
  await groups[1]!.finish(full())
  assert.deepEqual(log.splice(0), ['a 2', 'b failed', 'b failed', 'c failed'])
  assert.ok(storage.failure instanceof NoRoomError)
  write('d', 0)
  await runtime.settle()
  assert.deepEqual(log.splice(0), ['d failed'])
  assert.equal((await runtime.complete(storage.get('/registry/a'))).item?.modRevision, 2)
  assert.equal((await runtime.complete(storage.get('/registry/b'))).item, undefined)
  await runtime.advance(1000)
  assert.ok(disk.asked.length >= 3, `${disk.asked.length} times within a second`)
  assert.ok(disk.asked.every(({ bytes }) => bytes > 2))
  disk.hasRoom = true
  await runtime.advance(250)
  assert.equal(storage.failure, undefined)
  assert.deepEqual(
    states.map(({ type }) => type),
    ['waiting', 'well'],
  )
  write('b', 0)
  await runtime.settle()
  await groups[2]!.finish()
  assert.deepEqual(log, ['b 3'])
  assert.deepEqual(seen, [2, 3])
  await runtime.complete(storage.close())
})

test('what a failed write left on disk after all is seen once the store goes on', async () => {
  const { runtime, groups, write, storage, disk } = fixture()
  const seen: number[] = []
  storage.subscribe('', 1, { events: (events) => seen.push(...events.map(({ revision }) => revision)) })
  write('a', 0)
  await runtime.settle()
  disk.revision = 2
  await groups[0]!.finish(full())
  assert.deepEqual([storage.revision, ...seen], [1])
  disk.hasRoom = true
  await runtime.advance(250)
  assert.deepEqual([storage.revision, ...seen], [2, 2])
  write('b', 0)
  await runtime.settle()
  assert.equal(groups[1]!.group.changes[0]?.revision, 3)
})

test('a store that finds another state on disk than it can explain stops', async () => {
  const { runtime, groups, write, states, disk } = fixture()
  write('a', 0)
  await runtime.settle()
  disk.revision = 7
  await groups[0]!.finish(full())
  assert.equal(states.at(-1)?.type, 'failed')
  await runtime.advance(1000)
  assert.equal(disk.asked.length, 0)
})

test('while there is no room a compaction is tried, which may make some within the store', async () => {
  const { runtime, groups, write, storage, disk } = fixture()
  write('a', 0)
  await runtime.settle()
  await groups[0]!.finish()
  disk.revision = 2
  write('b', 0)
  await runtime.settle()
  await groups[1]!.finish(full())
  const compacted = storage.compact(2)
  await runtime.advance(250)
  await groups[2]!.finish(full())
  assert.equal(disk.reloads, 2)
  await runtime.advance(250)
  assert.equal(groups[3]!.group.compaction?.compactedRevision, 2)
  assert.equal(groups[3]!.group.changes.length, 0)
  disk.hasRoom = true
  await groups[3]!.finish()
  await runtime.complete(compacted)
  assert.deepEqual(
    disk.asked.map(({ isFreed }) => isFreed),
    [true],
  )
  assert.equal(storage.failure, undefined)
})

test('a lease that ran out while there was no room is deleted afterwards', async () => {
  const { runtime, groups, write, storage, disk } = fixture()
  const put = {
    type: 'put',
    key: '/registry/event',
    value: Buffer.from('x'),
    expectRevision: 0,
    leaseSeconds: 2,
  } as const
  void storage.write(put)
  await runtime.settle()
  await groups[0]!.finish()
  disk.revision = 2
  write('b', 0)
  await runtime.settle()
  await groups[1]!.finish(full())
  await runtime.advance(5000)
  disk.hasRoom = true
  await runtime.advance(250)
  assert.deepEqual(
    groups[2]!.group.changes.map(({ key, value }) => `${key} ${value}`),
    ['/registry/event undefined'],
  )
  assert.equal(groups[2]!.group.endedExpiries.length, 1)
  await groups[2]!.finish()
  assert.equal((await runtime.complete(storage.get('/registry/event'))).item, undefined)
})

test('a store without room closes at once, and a closed one says so', async () => {
  const { runtime, groups, write, storage, states, disk } = fixture()
  write('a', 0)
  await runtime.settle()
  await groups[0]!.finish(full())
  const refused = assert.rejects(storage.compact(1), NoRoomError)
  await runtime.complete(storage.close())
  await refused
  await runtime.advance(5000)
  assert.equal(disk.asked.length, 0)
  assert.equal(states.length, 1)
  assert.match(String(storage.failure), /closed/)
})

test('a store that is closed while room is made for it goes on with nothing, and a compaction that waits is answered', async () => {
  for (const hasRoom of [true, false]) {
    const { runtime, storage, groups, states, write, disk } = fixture()
    write('a', 0)
    await runtime.settle()
    await groups[0]!.finish()
    disk.revision = 2
    write('b', 0)
    await runtime.settle()
    await groups[1]!.finish(new NoRoomError('full'))
    const answered: string[] = []
    storage.compact(2).then(
      () => answered.push('compacted'),
      (error: Error) => answered.push(error.message),
    )
    await runtime.settle()
    await runtime.run({ until: () => groups.length === 3 })
    assert.ok(groups[2]!.group.compaction !== undefined)
    disk.hasRoom = true
    const closed = storage.close().then(() => answered.push('closed'))
    await groups[2]!.finish(hasRoom ? undefined : new NoRoomError('full'))
    await closed
    assert.deepEqual(answered, [hasRoom ? 'compacted' : 'the store is closed', 'closed'])
    await runtime.settle()
    assert.deepEqual(
      states.map(({ type }) => type),
      ['waiting'],
    )
    assert.equal(groups.length, 3)
    assert.match(storage.failure?.message ?? '', /the store is closed/)
  }
})

test('an expiry ends no sooner than the delete that it is about, however much is queued before that', async () => {
  const { runtime, groups, write, storage } = fixture()
  const put = {
    type: 'put',
    key: '/registry/event',
    value: Buffer.from('x'),
    expectRevision: 0,
    leaseSeconds: 2,
  } as const
  void storage.write(put)
  await runtime.settle()
  await groups[0]!.finish()
  write('first', 0)
  await runtime.settle()
  for (let i = 0; i < 1100; i++) write(`many-${i}`, 0)
  await runtime.advance(5000)
  await groups[1]!.finish()
  assert.equal(groups[2]!.group.endedExpiries.length, 0)
  await groups[2]!.finish()
  assert.equal(groups[3]!.group.endedExpiries.length, 1)
  assert.equal(groups[3]!.group.changes.at(-1)?.key, '/registry/event')
})
