import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated.ts'
import { createEngine } from './engine.ts'
import { memoryTables } from './memory.ts'
import { StoreError, type Write } from './storage.ts'
import type { Group, Tables } from './tables.ts'

/** An engine whose disk answers when told. */
function fixture(seed = 1) {
  const runtime = simulatedRuntime(seed)
  const memory = memoryTables(runtime)
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
  }
  const failures: unknown[] = []
  const storage = createEngine(runtime, tables, { onFailure: (error) => failures.push(error) })
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
  return { runtime, storage, groups, failures, log, write }
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
  const { runtime, groups, write, log, storage, failures } = fixture()
  let watcher: unknown
  storage.subscribe('', 1, { events: () => assert.fail('not durable'), failed: (error) => (watcher = error) })
  const pulled = storage.watch('', 1, new AbortController().signal).next()
  write('a', 0)
  await runtime.settle()
  write('a', 2)
  write('a', 0)
  write('b', 0)
  await groups[0]!.finish(new Error('no space left on device'))
  assert.deepEqual(log, ['a failed', 'a failed', 'b failed', 'a failed'])
  assert.equal(failures.length, 1)
  assert.match(String(failures[0]), /no space left on device/)
  assert.equal(watcher, failures[0])
  await assert.rejects(pulled, StoreError)
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
