/** What every storage driver must do: run by the tests of each driver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Runtime } from '../base/runtime.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../base/simulated-runtime.ts'
import {
  CompactedError,
  FutureRevisionError,
  type HistoryEvent,
  type Storage,
  type Write,
  type WriteResult,
} from './storage.ts'
import { prefixEnd } from './tables.ts'

export interface DriverUnderTest {
  readonly name: string
  /** Why it cannot be tested here. */
  readonly skip?: string | false
  /** Opens an empty store; `reopen` closes it and opens it again (undefined when nothing outlives the process). */
  open(runtime: Runtime): Promise<{ storage: Storage; reopen: (() => Promise<Storage>) | undefined }>
  /** Lets simulated time and hand-overs go on until the promise settles. */
  complete<T>(runtime: SimulatedRuntime, promise: Promise<T>): Promise<T>
  /** Seconds that a leased key lives at least, where leases end by a clock that is not the runtime's. */
  readonly shortestLease?: number
  /** Lets leases end until something is so. Default: by the runtime's clock. */
  until?(condition: () => boolean): Promise<void>
  /** Whether keys may be of any length. */
  readonly takesLongKeys?: boolean
  /** Whether a store that is opened again does not know of its compaction before it meets it. */
  readonly forgetsCompaction?: boolean
}

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : new TextDecoder().decode(value))

export function storageContract(driver: DriverUnderTest): void {
  /** A store, and its calls made to complete. */
  async function fixture() {
    const runtime = simulatedRuntime(1)
    const opened = await driver.open(runtime)
    let storage = opened.storage
    const done = <T>(promise: Promise<T>) => driver.complete(runtime, promise)
    const put = async (key: string, value: string, expectRevision = 0, leaseSeconds?: number) =>
      done(
        storage.write({
          type: 'put',
          key,
          value: bytes(value),
          expectRevision,
          ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
        }),
      )
    return {
      runtime,
      get storage() {
        return storage
      },
      done,
      put,
      /** Writes that must succeed; gives the revision. */
      must: async (key: string, value: string, expectRevision = 0) => revisionOf(await put(key, value, expectRevision)),
      remove: (key: string, expectRevision: number) => done(storage.write({ type: 'delete', key, expectRevision })),
      get: async (key: string, revision?: number) => {
        const { item } = await done(storage.get(key, revision))
        return item && { value: text(item.value), mod: item.modRevision, create: item.createRevision }
      },
      list: async (prefix: string, options: { revision?: number; limit?: number } = {}) => {
        const result = await done(storage.range(prefix, prefixEnd(prefix), options))
        return { ...result, items: result.items.map((item) => `${item.key}=${text(item.value)}@${item.modRevision}`) }
      },
      /** Every event after a revision up to the newest one, as a reader gets them. */
      history: async (prefix: string, after: number) => {
        const seen: HistoryEvent[] = []
        for (let at = after; ; ) {
          const { events, revision } = await done(storage.history(prefix, at))
          seen.push(...events)
          if (revision >= storage.revision) return seen
          assert.ok(revision > at, 'a page that is not the last goes on')
          at = revision
        }
      },
      /** Lets the store work until something is so. */
      until: async (condition: () => boolean) => {
        if (driver.until !== undefined) return driver.until(condition)
        while (!condition()) {
          await runtime.advance(1000)
          // A disk takes its own time: what is due is written before much more of this one passes.
          await done(Promise.resolve())
        }
      },
      reopen: async () => {
        if (opened.reopen) storage = await opened.reopen()
        return opened.reopen !== undefined
      },
      close: () => done(storage.close()),
    }
  }

  const it = (behaviour: string, body: (f: Awaited<ReturnType<typeof fixture>>) => Promise<void>) =>
    test(`${driver.name}: ${behaviour}`, { skip: driver.skip ?? false }, async () => {
      const f = await fixture()
      await body(f)
      await f.close()
    })

  it('a new store is at revision 1, and every write gets the next revision', async (f) => {
    assert.equal(f.storage.revision, 1)
    assert.equal(await f.must('/registry/a', '1'), 2)
    assert.equal(await f.must('/registry/b', '1'), 3)
    assert.equal(await f.must('/registry/a', '2', 2), 4)
    assert.equal(f.storage.revision, 4)
    assert.deepEqual(await f.get('/registry/a'), { value: '2', mod: 4, create: 2 })
  })

  it('create fails when the key is there, and tells its durable state', async (f) => {
    await f.must('/registry/a', 'first')
    const result = await f.put('/registry/a', 'second')
    assert.ok(!result.ok)
    assert.equal(text(result.current?.value), 'first')
    assert.equal(result.revision, 2)
    assert.equal(f.storage.revision, 2)
  })

  it('update and delete compare with the modRevision', async (f) => {
    const created = await f.must('/registry/a', '1')
    const updated = await f.must('/registry/a', '2', created)
    assert.equal((await f.put('/registry/a', '3', created)).ok, false)
    assert.equal((await f.remove('/registry/a', created)).ok, false)
    assert.equal((await f.remove('/registry/none', 0)).ok, false)
    const removed = await f.remove('/registry/a', updated)
    assert.deepEqual(removed, { ok: true, revision: updated + 1 })
    assert.equal(await f.get('/registry/a'), undefined)
    const conflict = await f.put('/registry/a', '4', updated)
    assert.ok(!conflict.ok)
    assert.equal(conflict.current, undefined)
  })

  it('a key made again has a new create revision, and its past stays readable', async (f) => {
    await f.must('/registry/a', 'old')
    await f.remove('/registry/a', 2)
    await f.must('/registry/a', 'new')
    assert.deepEqual(await f.get('/registry/a'), { value: 'new', mod: 4, create: 4 })
    assert.deepEqual(await f.get('/registry/a', 2), { value: 'old', mod: 2, create: 2 })
    assert.equal(await f.get('/registry/a', 3), undefined)
  })

  it('writes to one key pipeline on the head of the queue', async (f) => {
    const writes = [
      f.storage.write({ type: 'put', key: '/registry/a', value: bytes('1'), expectRevision: 0 }),
      f.storage.write({ type: 'put', key: '/registry/a', value: bytes('2'), expectRevision: 2 }),
      f.storage.write({ type: 'delete', key: '/registry/a', expectRevision: 3 }),
      f.storage.write({ type: 'put', key: '/registry/a', value: bytes('3'), expectRevision: 0 }),
      f.storage.write({ type: 'put', key: '/registry/a', value: bytes('lost'), expectRevision: 0 }),
    ]
    const results = await f.done(Promise.all(writes))
    assert.deepEqual(
      results.map((result) => result.ok && result.revision),
      [2, 3, 4, 5, false],
    )
    const lost = results[4] as WriteResult & { ok: false }
    assert.equal(text(lost.current?.value), '3')
  })

  it('what is put to be deleted at once is seen by watchers before it is deleted, and nothing of this process comes between', async (f) => {
    await f.must('/registry/a', 'old')
    const told: number[][] = []
    f.storage.subscribe('', 2, { events: (events) => told.push(events.map(({ revision }) => revision)) })
    const writeAll = (writes: readonly Write[]) => f.done(Promise.all(writes.map((write) => f.storage.write(write))))
    const last: Write = {
      type: 'put',
      key: '/registry/a',
      value: bytes('last'),
      expectRevision: 2,
      leaseSeconds: 60,
      thenDelete: true,
    }
    const between = { ...last, value: bytes('between'), expectRevision: 3, thenDelete: false }
    const again = { ...between, value: bytes('again'), expectRevision: 0, leaseSeconds: 1000 }
    const results = [...(await writeAll([last, between])), ...(await writeAll([again, last]))]
    assert.deepEqual(
      results.map((result) => result.ok && result.revision),
      [4, false, 5, false],
    )
    assert.deepEqual(told, [[3], [4], [5]])
    const seen = (await f.history('', 2)).map(
      ({ type, revision, value, previous }) => `${revision} ${type} ${text(value)} after ${text(previous?.value)}`,
    )
    assert.deepEqual(seen, ['3 put last after old', '4 delete undefined after last', '5 put again after undefined'])
    assert.deepEqual(await f.get('/registry/a', 3), { value: 'last', mod: 3, create: 2 })
    assert.equal(await f.get('/registry/a', 4), undefined)
    assert.deepEqual(await f.get('/registry/a'), { value: 'again', mod: 5, create: 5 })
  })

  it('nothing of a queued write is seen before its answer: not by reads, watches, or failed compares', async (f) => {
    const seen: number[] = []
    f.storage.subscribe('', f.storage.revision, {
      events: (events) => seen.push(...events.map(({ revision }) => revision)),
    })
    const order: string[] = []
    const write = f.storage.write({ type: 'put', key: '/registry/a', value: bytes('1'), expectRevision: 0 })
    const conflict = f.storage.write({ type: 'put', key: '/registry/a', value: bytes('2'), expectRevision: 0 })
    assert.equal(f.storage.revision, 1)
    assert.deepEqual(seen, [])
    const answers = [
      write.then(() => {
        order.push('write')
        assert.deepEqual(seen, [2])
        assert.equal(f.storage.revision, 2)
      }),
      conflict.then((result) => {
        order.push('conflict')
        assert.ok(!result.ok)
        assert.equal(result.current?.modRevision, 2)
        assert.equal(f.storage.revision, 2)
      }),
    ]
    await f.done(Promise.all(answers))
    assert.equal(order.length, 2)
  })

  it('range gives keys in order, within its bounds, with limit and remaining count', async (f) => {
    for (const name of ['pods/b', 'pods/a', 'podsx', 'pods/c/d', 'po']) await f.must(`/registry/${name}`, 'v')
    assert.deepEqual((await f.list('/registry/pods/')).items, [
      '/registry/pods/a=v@3',
      '/registry/pods/b=v@2',
      '/registry/pods/c/d=v@5',
    ])
    const first = await f.list('/registry/pods/', { limit: 2 })
    assert.deepEqual([first.items.length, first.more, first.remaining, first.revision], [2, true, 1, 6])
    const all = await f.list('/registry/pods/', { limit: 3 })
    assert.deepEqual([all.items.length, all.more, all.remaining], [3, false, 0])
  })

  it('a range at an older revision shows the keys as they were', async (f) => {
    await f.must('/registry/a', '1') // 2
    await f.must('/registry/b', '1') // 3
    await f.must('/registry/a', '2', 2) // 4
    await f.remove('/registry/b', 3) // 5
    await f.must('/registry/c', '1') // 6
    await f.must('/registry/b', 'again') // 7
    const at = async (revision: number) => (await f.list('/registry/', { revision })).items.join(' ')
    assert.equal(await at(2), '/registry/a=1@2')
    assert.equal(await at(3), '/registry/a=1@2 /registry/b=1@3')
    assert.equal(await at(4), '/registry/a=2@4 /registry/b=1@3')
    assert.equal(await at(5), '/registry/a=2@4')
    assert.equal(await at(6), '/registry/a=2@4 /registry/c=1@6')
    assert.equal(await at(7), '/registry/a=2@4 /registry/b=again@7 /registry/c=1@6')
    const page = await f.list('/registry/', { revision: 3, limit: 1 })
    assert.deepEqual([page.items, page.remaining], [['/registry/a=1@2'], 1])
  })

  it('a revision above the newest is refused', async (f) => {
    await f.must('/registry/a', '1')
    await assert.rejects(f.list('/registry/', { revision: 3 }), FutureRevisionError)
    await assert.rejects(f.get('/registry/a', 99), FutureRevisionError)
    await assert.rejects(f.done(f.storage.compact(99)), FutureRevisionError)
  })

  it('history gives what happened after a revision, with what was before it', async (f) => {
    await f.must('/registry/a/1', 'x')
    await f.must('/registry/b/1', 'x')
    await f.must('/registry/a/1', 'y', 2)
    await f.must('/registry/b/2', 'x')
    await f.remove('/registry/a/1', 4)
    await f.must('/registry/a/1', 'z')
    await f.must('/registry/b/3', 'x')
    assert.deepEqual(
      (await f.history('/registry/a/', 2)).map((e) => [
        e.type,
        e.revision,
        text(e.value),
        text(e.previous?.value),
        e.previous?.modRevision,
      ]),
      [
        ['put', 4, 'y', 'x', 2],
        ['delete', 6, undefined, 'y', 4],
        ['put', 7, 'z', undefined, undefined],
      ],
    )
    assert.deepEqual(await f.history('/registry/a/', 7), [])
    assert.deepEqual(await f.done(f.storage.history('/registry/', 8)), { events: [], revision: 8 })
  })

  it('a subscriber gets history first, then every commit in revision order before its writer is answered', async (f) => {
    await f.must('/registry/a', '1')
    const seen: string[] = []
    const end = f.storage.subscribe('/registry/', 1, {
      events: (events) => seen.push(...events.map((e) => `${e.type} ${e.key}@${e.revision}`)),
    })
    const isOwn = f.storage.fresh() === undefined
    if (!isOwn) await f.until(() => seen.length > 0)
    assert.deepEqual(seen, ['put /registry/a@2'])
    const writes = Array.from({ length: 20 }, (_, i) =>
      f.storage.write({ type: 'put', key: `/registry/${i}`, value: bytes('v'), expectRevision: 0 }).then((result) => {
        assert.ok(seen.includes(`put /registry/${i}@${revisionOf(result)}`))
        return `put /registry/${i}@${revisionOf(result)}`
      }),
    )
    const written = await f.done(Promise.all(writes))
    const revision = (event: string) => Number(event.split('@')[1])
    assert.deepEqual(
      seen.slice(1),
      written.sort((a, b) => revision(a) - revision(b)),
    )
    assert.deepEqual(
      seen.map(revision),
      Array.from({ length: 21 }, (_, i) => i + 2),
    )
    end()
    await f.must('/registry/after', 'v')
    assert.equal(seen.length, 21)
  })

  it('compaction drops history, keeps the latest, and refuses what is older', async (f) => {
    await f.must('/registry/a', '1') // 2
    await f.must('/registry/a', '2', 2) // 3
    await f.must('/registry/gone', '1') // 4
    await f.remove('/registry/gone', 4) // 5
    await f.must('/registry/a', '3', 3) // 6
    await f.done(f.storage.compact(5))
    assert.equal(f.storage.compactedRevision, 5)
    assert.deepEqual((await f.list('/registry/', { revision: 5 })).items, ['/registry/a=2@3'])
    assert.deepEqual((await f.list('/registry/')).items, ['/registry/a=3@6'])
    await assert.rejects(f.list('/registry/', { revision: 4 }), CompactedError)
    await assert.rejects(f.history('/registry/', 4), CompactedError)
    assert.throws(() => f.storage.subscribe('/registry/', 4, { events() {} }), CompactedError)
    assert.deepEqual(
      (await f.history('/registry/', 5)).map((e) => [e.revision, text(e.previous?.value)]),
      [[6, '2']],
    )
    await assert.rejects(f.done(f.storage.compact(5)), CompactedError)
    await f.must('/registry/gone', 'again')
    assert.deepEqual(await f.get('/registry/gone'), { value: 'again', mod: 7, create: 7 })
  })

  it('compaction of many changes leaves a store that works on', async (f) => {
    let revision = await f.must('/registry/hot', '0')
    for (let round = 0; round < 5; round++) {
      const writes: Promise<WriteResult>[] = []
      for (let i = 0; i < 500; i++) {
        const head = revision + i
        writes.push(
          f.storage.write({ type: 'put', key: '/registry/hot', value: bytes(`${head}`), expectRevision: head }),
        )
      }
      revision = revisionOf((await f.done(Promise.all(writes))).at(-1)!)
    }
    const busy = f.storage.compact(revision - 1)
    const write = f.storage.write({ type: 'put', key: '/registry/hot', value: bytes('x'), expectRevision: revision })
    await f.done(Promise.all([busy, write]))
    assert.deepEqual((await f.list('/registry/', { revision: revision - 1 })).items, [
      `/registry/hot=${revision - 2}@${revision - 1}`,
    ])
    assert.equal((await f.get('/registry/hot'))?.value, 'x')
  })

  it('a key written while its deletion is compacted is kept', async (f) => {
    await f.must('/registry/a', '1')
    await f.remove('/registry/a', 2)
    const again = f.storage.write({ type: 'put', key: '/registry/a', value: bytes('2'), expectRevision: 0 })
    await f.done(Promise.all([f.storage.compact(3), again]))
    assert.equal((await f.get('/registry/a'))?.value, '2')
  })

  it('a leased key is deleted when its time is up, unless it was written again', async (f) => {
    await f.put('/registry/events/a', '1', 0, 3600)
    await f.put('/registry/events/b', '1', 0, 3600)
    await f.put('/registry/events/c', '1', 0, 60)
    await f.put('/registry/events/b', '2', 3, 7200)
    await f.put('/registry/events/c', '2', 4)
    const left = async () => (await f.list('/registry/events/')).items.map((item) => item.slice(17, 18)).join('')
    // Leases that end by another clock are the next test's.
    if (driver.shortestLease !== undefined) return
    const pass = async (ms: number) => {
      await f.runtime.advance(ms)
      await f.must(`/registry/tick/${f.runtime.clock.now()}`, '')
    }
    await pass(3_590_000)
    assert.equal(await left(), 'abc')
    await pass(20_000)
    assert.equal(await left(), 'bc')
    await pass(3_600_000)
    assert.equal(await left(), 'c')
  })

  it('a lease that ends is seen as a deletion of what it still holds', async (f) => {
    const seconds = driver.shortestLease ?? 60
    await f.put('/registry/events/kept', '1', 0, seconds)
    await f.put('/registry/events/renewed', '1', 0, seconds)
    await f.put('/registry/events/kept', '2', 2)
    await f.put('/registry/events/renewed', '2', 3, 3600)
    await f.put('/registry/events/ended', '1', 0, seconds)
    const seen: string[] = []
    f.storage.subscribe('/registry/events/', f.storage.revision, {
      events: (events) => seen.push(...events.map(({ type, key, revision }) => `${type} ${key} ${revision}`)),
    })
    await f.until(() => seen.length > 0)
    assert.deepEqual(seen, ['delete /registry/events/ended 7'])
    assert.deepEqual((await f.list('/registry/events/')).items, [
      '/registry/events/kept=2@4',
      '/registry/events/renewed=2@5',
    ])
  })

  it('everything is there again after a restart', async (f) => {
    await f.must('/registry/a', '1') // 2
    await f.must('/registry/a', '2', 2) // 3
    await f.must('/registry/b', '1') // 4
    await f.remove('/registry/b', 4) // 5
    await f.put('/registry/events/e', '1', 0, driver.shortestLease ?? 60) // 6
    if (!(await f.reopen())) return
    assert.equal(f.storage.revision, 6)
    assert.deepEqual((await f.list('/registry/', { revision: 4 })).items, ['/registry/a=2@3', '/registry/b=1@4'])
    assert.deepEqual(
      (await f.history('/registry/', 2)).slice(0, 4).map((e) => `${e.type} ${e.revision}`),
      ['put 3', 'put 4', 'delete 5', 'put 6'],
    )
    await f.until(() => f.storage.revision === 7)
    assert.equal(await f.must('/registry/c', '1'), 8)
    assert.deepEqual((await f.list('/registry/')).items, ['/registry/a=2@3', '/registry/c=1@8'])
    await f.done(f.storage.compact(5))
    await f.remove('/registry/c', 8)
    await f.done(f.storage.compact(9))
    await f.reopen()
    assert.equal(f.storage.revision, 9)
    if (driver.forgetsCompaction !== true) assert.equal(f.storage.compactedRevision, 9)
    await assert.rejects(f.list('/registry/', { revision: 8 }), CompactedError)
    await assert.rejects(f.history('/registry/', 8), CompactedError)
    assert.deepEqual((await f.list('/registry/')).items, ['/registry/a=2@3'])
  })

  it('the journal has what writes gave to it, under their revisions; no read or watch sees it', async (f) => {
    const journal = async (after: number) =>
      (await f.done(f.storage.journal(after))).map(({ revision, value }) => `${revision} ${value}`)
    const write = (write: Write) => f.done(f.storage.write(write))
    assert.deepEqual(await journal(0), [])
    const key = '/registry/a'
    await f.must(key, '1')
    await write({
      type: 'put',
      key,
      value: bytes('2'),
      expectRevision: 2,
      journal: () => ({ shared: 'a ', own: 'marked' }),
    })
    await write({
      type: 'put',
      key,
      value: bytes('lost'),
      expectRevision: 2,
      journal: () => ({ shared: 'a ', own: 'lost' }),
    })
    await write({ type: 'delete', key, expectRevision: 3, journal: () => ({ shared: 'a ', own: 'removed' }) })
    await write({ type: 'delete', key, expectRevision: 4, journal: () => ({ shared: 'a ', own: 'lost' }) })
    assert.deepEqual(await journal(0), ['3 a marked', '4 a removed'])
    assert.deepEqual(await journal(3), ['4 a removed'])
    assert.deepEqual(
      (await f.history('', 1)).map((event) => `${event.revision} ${event.type} ${event.key}`),
      ['2 put /registry/a', '3 put /registry/a', '4 delete /registry/a'],
    )
    assert.deepEqual((await f.list('/')).items, [])
    await f.done(f.storage.compact(4))
    await f.reopen?.()
    const again = revisionOf(await f.put(key, 'again'))
    const last = await write({
      type: 'put',
      key,
      value: bytes('last'),
      expectRevision: again,
      thenDelete: true,
      journal: () => ({ shared: 'a ', own: 'both' }),
    })
    assert.deepEqual(await journal(0), ['3 a marked', '4 a removed', `${revisionOf(last)} a both`])
  })

  it('a key too long for a driver fails its own write and nothing else', async (f) => {
    const long = `/registry/${'n'.repeat(3000)}`
    if (driver.takesLongKeys === true) return
    await assert.rejects(f.put(long, '1'), RangeError)
    assert.equal(await f.get(long), undefined)
    assert.equal(await f.must(`/registry/${'n'.repeat(1900)}`, '1'), 2)
    assert.deepEqual((await f.list(`${long}/`)).items, [])
  })

  it('keys that are the same bytes are one key, whatever their strings are', async (f) => {
    const revision = await f.must('/registry/\ud800', '1')
    for (const other of ['/registry/\udc00', '/registry/\ufffd']) assert.equal((await f.put(other, '2')).ok, false)
    assert.equal((await f.list('/registry/')).items.length, 1)
    assert.equal((await f.get('/registry/\ufffd'))?.mod, revision)
  })

  it('close waits for the queue, then everything is refused', async (f) => {
    const write = f.storage.write({ type: 'put', key: '/registry/a', value: bytes('1'), expectRevision: 0 })
    await f.done(Promise.all([write, f.storage.close()]))
    assert.equal((await write).ok, true)
    await assert.rejects(f.put('/registry/b', '1'), /closed/)
    await assert.rejects(f.get('/registry/a'), /closed/)
  })
}

function revisionOf(result: WriteResult): number {
  assert.ok(result.ok, 'the write succeeds')
  return result.revision
}
