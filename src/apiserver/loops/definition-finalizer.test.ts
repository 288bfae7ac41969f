import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { DEFINITIONS, definition, type It, MERGE, thing, withApi } from '../../../test/definitions-in-simulated-time.ts'
import { startTestApi } from '../../../test/harness.ts'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { Given } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import type { Clock } from '../../base/clock.ts'
import { type ManualRuntime, manualRuntime } from '../../base/manual-clock-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { CLEANUP_FINALIZER } from '../customresources/name-conflicts.ts'
import { createDefinitionFinalizer } from './definition-finalizer.ts'

const HOLD = { finalizers: ['t.org/f'] }
const OBJECT = (plural: string) => `/apis/t.org/v1/${plural}`

async function makeHeld({ ask }: It, ...plurals: readonly string[]): Promise<void> {
  for (const plural of plurals) {
    await ask('POST', DEFINITIONS, definition(plural))
    assert.equal((await ask('POST', OBJECT(plural), thing(plural, HOLD))).code, 201)
  }
}
const free = ({ ask }: It, plural: string) =>
  ask('PATCH', `${OBJECT(plural)}/a`, { metadata: { finalizers: null } }, MERGE)
const mark = async ({ ask }: It, ...plurals: readonly string[]) => {
  for (const plural of plurals) await ask('DELETE', `${DEFINITIONS}/${plural}.t.org`)
}
const reason = async ({ conditions }: It, plural: string) => (await conditions(`${plural}.t.org`))['Terminating']
const left = async ({ ask }: It): Promise<readonly string[]> =>
  (await ask('GET', DEFINITIONS)).body.items.map(({ metadata }: { metadata: { name: string } }) =>
    metadata.name.replace('.t.org', ''),
  )

test('a definition whose objects are held goes at the first look, of one each five seconds, that finds none', () =>
  withApi(async (it) => {
    await makeHeld(it, 'as')
    await it.runtime.advance(3_210)
    await mark(it, 'as')
    await it.runtime.advance(5_001)
    await free(it, 'as')
    await it.runtime.advance(4_900)
    assert.deepEqual(await left(it), ['as'])
    assert.equal(await reason(it, 'as'), 'True InstanceDeletionInProgress')
    await it.runtime.advance(100)
    assert.deepEqual(await left(it), [])
  }))

/** What is written about Terminating, with the milliseconds since. */
async function written(it: It, act: () => Promise<void>): Promise<readonly string[]> {
  const seen: string[] = []
  const stopping = new AbortController()
  const stream = await it.runtime.complete(it.api.watch(`${DEFINITIONS}?watch=1`, stopping.signal))
  const now = () => Math.round(it.runtime.clock.monotonic())
  const began = now()
  const reading = (async () => {
    for await (const { type, object } of stream) {
      const { conditions } = object['status'] as { conditions: readonly Record<string, string>[] }
      const { type: of, status, reason, message } = conditions.at(-1) ?? {}
      if (of === 'Terminating') seen.push(`${now() - began} ${type} ${status} ${reason}: ${message}`)
    }
  })()
  await act()
  stopping.abort()
  await it.runtime.complete(reading)
  return seen
}
const PENDING =
  'True InstanceDeletionPending: CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon'
const PROGRESS = 'True InstanceDeletionInProgress: CustomResource deletion is in progress'
const CHECK = 'True InstanceDeletionCheck: could not confirm zero CustomResources remaining: context deadline exceeded'

test('each minute a condition says that objects are left, and another that it begins anew; the time of its change stays', () =>
  withApi(async (it) => {
    await makeHeld(it, 'as')
    const changed = async () =>
      (await it.ask('GET', `${DEFINITIONS}/as.t.org`)).body.status.conditions.at(-1).lastTransitionTime
    const seen = await written(it, async () => {
      await mark(it, 'as')
      const first = await changed()
      await it.runtime.advance(122_000)
      assert.equal(await changed(), first)
      await free(it, 'as')
      await it.runtime.advance(3_000)
    })
    assert.deepEqual(seen, [
      `0 MODIFIED ${PENDING}`,
      `0 MODIFIED ${PROGRESS}`,
      `60000 MODIFIED ${CHECK}`,
      `60000 MODIFIED ${PROGRESS}`,
      `120000 MODIFIED ${CHECK}`,
      `120000 MODIFIED ${PROGRESS}`,
      `125000 DELETED ${PROGRESS}`,
    ])
  }))

test('at the end of a minute it is not asked whether the objects are gone: the next one begins, and finds it', () =>
  withApi(async (it) => {
    await makeHeld(it, 'as')
    const seen = await written(it, async () => {
      await mark(it, 'as')
      await it.runtime.advance(57_000)
      await free(it, 'as')
      await it.runtime.advance(3_000)
    })
    const end = [`60000 MODIFIED ${CHECK}`, `60000 MODIFIED ${PROGRESS}`, `60000 DELETED ${PROGRESS}`]
    assert.deepEqual(seen, [`0 MODIFIED ${PENDING}`, `0 MODIFIED ${PROGRESS}`, ...end])
  }))

test('five are worked on at a time: others wait for a place, and come in their order', () =>
  withApi(async (it) => {
    const plurals = ['as', 'bs', 'cs', 'ds', 'es', 'fs']
    await makeHeld(it, ...plurals)
    await it.ask('POST', DEFINITIONS, definition('zs'))
    await mark(it, ...plurals, 'zs')
    await it.runtime.advance(30_000)
    assert.equal(await reason(it, 'es'), 'True InstanceDeletionInProgress')
    for (const waiting of ['fs', 'zs']) assert.equal(await reason(it, waiting), 'True InstanceDeletionPending')
    // Nobody looks whether its object is gone.
    await free(it, 'fs')
    await it.runtime.advance(29_900)
    assert.deepEqual(await left(it), [...plurals, 'zs'])
    await it.runtime.advance(100)
    assert.deepEqual(await left(it), ['as', 'bs', 'cs', 'ds', 'es'])
  }))

test('a place that becomes free is taken at once', () =>
  withApi(async (it) => {
    const plurals = ['as', 'bs', 'cs', 'ds', 'es']
    await makeHeld(it, ...plurals)
    await it.ask('POST', DEFINITIONS, definition('zs'))
    await mark(it, ...plurals, 'zs')
    await it.runtime.advance(7_000)
    await free(it, 'cs')
    await it.runtime.advance(2_900)
    assert.deepEqual(await left(it), [...plurals, 'zs'])
    await it.runtime.advance(100)
    assert.deepEqual(await left(it), ['as', 'bs', 'ds', 'es'])
  }))

async function onManualClock(
  act: (it: Pick<It, 'ask'> & { readonly manual: ManualRuntime['manual'] }) => Promise<void>,
) {
  const runtime = manualRuntime({ startMs: Date.UTC(2026, 0, 1), log: { write() {} } })
  const api = await startTestApi(runtime)
  try {
    await act({
      manual: runtime.manual,
      async ask(...args) {
        const answer = await api.request(...args)
        await runtime.manual.settle()
        return answer
      },
    })
  } finally {
    await api.stop()
    runtime.manual.stop()
  }
}

test('a clock that is moved need not stop at each minute of a definition that is held, and finds it as after them', () =>
  onManualClock(async ({ ask, manual }) => {
    await makeHeld({ ask } as It, 'as')
    await mark({ ask } as It, 'as')
    const revision = async () => Number((await ask('GET', `${DEFINITIONS}/as.t.org`)).body.metadata.resourceVersion)
    const before = await revision()
    assert.equal(await manual.runUntilIdle(1_000_000), true)
    await manual.advance(400 * 24 * 3600_000)
    assert.ok((await revision()) < before + 10, `${await revision()} after ${before}`)
    await manual.advance(61_000)
    await free({ ask } as It, 'as')
    await manual.advance(3_900)
    assert.deepEqual(await left({ ask } as It), ['as'])
    await manual.advance(100)
    assert.deepEqual(await left({ ask } as It), [])
  }))

test('a definition that waits behind five that are held is not taken for one of which nothing comes', () =>
  onManualClock(async ({ ask, manual }) => {
    const it = { ask } as It
    const plurals = ['as', 'bs', 'cs', 'ds', 'es', 'fs']
    await makeHeld(it, ...plurals)
    await ask('POST', DEFINITIONS, definition('zs'))
    await ask('POST', OBJECT('zs'), thing('zs'))
    await mark(it, ...plurals, 'zs')
    assert.equal(await manual.runUntilIdle(1_000_000), true)
    assert.deepEqual(await left(it), plurals)
  }))

test('a delete that fails is tried again, and a server that stops leaves no timer', async () => {
  const runtime = simulatedRuntime(1, { log: { level: 0, write() {} } })
  const stopping = new AbortController()
  const timers = new Set<string>()
  const clock: Clock = {
    ...runtime.clock,
    setTimer(ms, label, task) {
      timers.add(label)
      const timer = runtime.clock.setTimer(ms, label, () => {
        timers.delete(label)
        task()
      })
      return {
        cancel() {
          timers.delete(label)
          timer.cancel()
        },
      }
    },
  }
  const metadata = { name: 'as.t.org', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [CLEANUP_FINALIZER] }
  let asked = 0
  const finalizer = createDefinitionFinalizer({
    runtime: { ...runtime, clock },
    get: () => ({ ...definition('as'), metadata }) as Given<CustomResourceDefinition>,
    rowOf: () => ({}) as ResourceRow,
    instancesOf: () => ({ size: 1, list: () => [], onChange: () => () => {} }),
    async remove() {
      if (asked++ === 0) throw new Error('the store is full')
    },
    putStatus: async (put) => put,
    signal: stopping.signal,
  })
  finalizer.add('as.t.org')
  await runtime.settle()
  assert.equal(asked, 1)
  await runtime.advance(1000)
  assert.equal(asked, 2)
  assert.equal(timers.size, 1)
  stopping.abort()
  await runtime.settle()
  assert.deepEqual([...timers], [])
})

test('an object that comes between the last one and the next look is waited for like those before it', async () => {
  const runtime = simulatedRuntime(1)
  const metadata = { name: 'as.t.org', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [CLEANUP_FINALIZER] }
  let size = 1
  let changed = () => {}
  const now = (held: number) => {
    size = held
    changed()
  }
  const puts: Given<CustomResourceDefinition>[] = []
  const finalizer = createDefinitionFinalizer({
    runtime,
    get: () => ({ ...definition('as'), metadata }) as Given<CustomResourceDefinition>,
    rowOf: () => ({}) as ResourceRow,
    instancesOf: () => ({
      get size() {
        return size
      },
      list: () => [],
      onChange(listener) {
        changed = () => listener({} as never)
        return () => {}
      },
    }),
    remove: async () => {},
    async putStatus(put) {
      puts.push(put)
      return put
    },
    signal: new AbortController().signal,
  })
  const isDone = () => puts.at(-1)?.metadata.finalizers?.length === 0
  finalizer.add('as.t.org')
  await runtime.advance(1000)
  now(0)
  await runtime.advance(1000)
  now(1)
  await runtime.advance(10_000)
  assert.equal(isDone(), false)
  now(0)
  await runtime.advance(5000)
  assert.equal(isDone(), true)
})

test('objects that cannot be read are told of once, tried again less and less often, and deleted once they can be', async () => {
  const runtime = simulatedRuntime(1)
  const metadata = { name: 'as.t.org', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [CLEANUP_FINALIZER] }
  let current = { ...definition('as'), metadata } as Given<CustomResourceDefinition>
  const told: string[] = []
  let [asked, isDead] = [0, true]
  const finalizer = createDefinitionFinalizer({
    runtime,
    get: () => current,
    rowOf: () => ({}) as ResourceRow,
    instancesOf: () => ({ size: isDead ? 1 : 0, list: () => [], onChange: () => () => {} }),
    async remove() {
      asked++
      if (isDead) throw new StatusError(500, 'StorageReadError', 'conversion webhook failed')
    },
    async putStatus(put) {
      current = put
      const { reason, message } = put.status?.conditions?.at(-1) ?? {}
      told.push(`${reason}: ${message}`)
      finalizer.add('as.t.org')
      return put as never
    },
    signal: new AbortController().signal,
  })
  finalizer.add('as.t.org')
  await runtime.advance(10_000)
  const failed = 'InstanceDeletionFailed: could not list instances: conversion webhook failed'
  const progress = 'InstanceDeletionInProgress: CustomResource deletion is in progress'
  assert.deepEqual(told, [progress, failed])
  assert.ok(asked < 8, `${asked}`)
  isDead = false
  await runtime.advance(61_000)
  assert.deepEqual(told, [progress, failed, progress, 'InstanceDeletionCompleted: removed all instances'])
})

/** A definition that is being deleted, whose objects are removed or fail to be as `outcome` says, in simulated time. */
function removing(outcome: (asked: number) => Error | undefined) {
  const lines: string[] = []
  const runtime = simulatedRuntime(1, { log: { level: 0, write: (line: string) => lines.push(line) } })
  const metadata = { name: 'as.t.org', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [CLEANUP_FINALIZER] }
  const stopping = new AbortController()
  /** Seconds at which it was tried. */
  const asked: number[] = []
  let current: object | undefined = { ...definition('as'), metadata }
  const finalizer = createDefinitionFinalizer({
    runtime,
    get: () => current as Given<CustomResourceDefinition> | undefined,
    rowOf: () => ({}) as ResourceRow,
    instancesOf: () => ({ size: 0, list: () => [], onChange: () => () => {} }),
    async remove() {
      const failure = outcome(asked.push(Math.round(runtime.clock.monotonic() / 1000)))
      if (failure !== undefined) throw failure
    },
    async putStatus(put) {
      const resourceVersion = String(Number(put.metadata.resourceVersion ?? '1') + 1)
      change({ ...put, metadata: { ...put.metadata, resourceVersion } })
      return current as never
    },
    signal: stopping.signal,
  })
  const change = (next: object | undefined) => {
    current = next
    finalizer.add('as.t.org')
  }
  finalizer.add('as.t.org')
  return { runtime, stopping, lines, asked, change, current: () => current }
}
const unreadable = (asked: number) =>
  new StatusError(500, 'StorageReadError', `conversion webhook failed: port ${asked}`)

test('a definition whose failure is told in other words each time is tried again as seldom as one whose words stay', async () => {
  const it = removing((asked) => (asked > 100 ? undefined : unreadable(asked)))
  await it.runtime.advance(130_000)
  assert.deepEqual(it.asked, [0, 1, 3, 7, 15, 31, 63, 123])
  assert.equal(it.lines.length, it.asked.length)
  assert.match(JSON.stringify(it.current()), /conversion webhook failed: port 8/)
})

test('a definition that failed is tried at once when something else of it changes, and waits anew, once, if it fails again', async () => {
  const it = removing((asked) => (asked > 100 ? undefined : unreadable(asked)))
  await it.runtime.advance(100)
  for (let i = 0; i < 3; i++) {
    it.change({ ...it.current(), spec: { conversion: { strategy: `${i}` } } })
    await it.runtime.advance(100)
  }
  assert.deepEqual(it.asked, [0, 0, 0, 0])
  await it.runtime.advance(7000)
  assert.equal(it.asked.length, 4)
  await it.runtime.advance(10_000)
  assert.equal(it.asked.length, 5)
  it.change(undefined)
  await it.runtime.advance(100_000)
  assert.equal(it.asked.length, 5)
})

test('failures of another kind do not put off the next try to read the objects', async () => {
  const full = new Error('the store is full')
  const it = removing((asked) => (asked > 100 ? undefined : asked < 6 ? full : unreadable(asked)))
  await it.runtime.advance(9_000)
  assert.deepEqual(it.asked, [0, 1, 2, 3, 4, 5, 6, 8])
})

test('a definition that fails again and again leaves no listener of the server’s end behind', async () => {
  const it = removing((asked) => (asked > 100 ? undefined : unreadable(1)))
  const listeners = () => getEventListeners(it.stopping.signal, 'abort').length
  const before = listeners()
  for (let i = 0; i < 5; i++) {
    it.change({ ...it.current(), spec: { conversion: { strategy: `${i}` } } })
    await it.runtime.advance(100)
  }
  assert.equal(listeners(), before)
})
