import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createFanout, type Woken } from './when-watchers-are-told.ts'

/** `count` watchers, and how often each was told. */
function fixture(count: number) {
  const runtime = simulatedRuntime(1)
  const told = new Array<number>(count).fill(0)
  const watchers = new Set<Woken>(
    told.map((_, i) => ({
      wake: () => {
        told[i] = (told[i] as number) + 1
      },
      close: () => {},
    })),
  )
  const fanout = createFanout(runtime)
  return { runtime, told, notify: () => fanout.notify(watchers), times: () => [...new Set(told)] }
}

test('few watchers are told at once', async () => {
  const { runtime, notify, times } = fixture(50)
  notify()
  assert.deepEqual(times(), [0])
  await runtime.settle()
  assert.deepEqual(times(), [1])
})

test('many watchers are told when no news has come for an eighth of what telling them takes', async () => {
  const { runtime, notify, times } = fixture(400)
  notify()
  await runtime.advance(4)
  notify()
  await runtime.advance(4.9)
  assert.deepEqual(times(), [0])
  await runtime.advance(0.2)
  assert.deepEqual(times(), [1])
})

// As long as telling all of them takes, and no longer than 100 ms for a pass that nothing holds up.
for (const { watchers, everyMs, waitMs } of [
  { watchers: 400, everyMs: 3, waitMs: 40 },
  { watchers: 20_000, everyMs: 9, waitMs: 100 },
])
  test(`news for ${watchers} watchers that do not end are told when the first of them has waited ${waitMs} ms`, async () => {
    const { runtime, notify, times } = fixture(watchers)
    for (let ms = 0; ms < waitMs - 1; ms += everyMs) {
      notify()
      await runtime.advance(everyMs)
    }
    assert.deepEqual(times(), [0])
    notify()
    await runtime.advance(1.1)
    assert.deepEqual(times(), [1])
  })

test('what comes while watchers are told, or just after, is told after a rest', async () => {
  const { runtime, told, notify, times } = fixture(400)
  notify()
  await runtime.advance(4.9)
  while (told[0] === 0) if (!(await runtime.step())) await runtime.advance(0.1)
  notify()
  await runtime.settle()
  assert.deepEqual(times(), [1])
  await runtime.advance(10)
  assert.deepEqual(times(), [1])
  await runtime.advance(0.3)
  assert.deepEqual(times(), [2])
  notify()
  await runtime.advance(10)
  assert.deepEqual(times(), [2])
  await runtime.advance(0.3)
  assert.deepEqual(times(), [3])
})
