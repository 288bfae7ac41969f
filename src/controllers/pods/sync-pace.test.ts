import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createPace } from './sync-pace.ts'

test('a pause is of whole milliseconds: time that moves from timer to timer comes to its end', () => {
  const pace = createPace(simulatedRuntime(1).clock)
  pace.synced('n/a', 105)
  assert.equal(pace.wait('n/a'), 6)
})

test('a sync of many pods is followed by a pause in proportion, one of few by none', async () => {
  const { clock, advance } = simulatedRuntime(1)
  const pace = createPace(clock)
  assert.equal(pace.wait('n/a'), 0)
  pace.synced('n/a', 1000)
  assert.equal(pace.wait('n/a'), 50)
  assert.equal(pace.wait('n/b'), 0)
  await advance(30)
  assert.equal(pace.wait('n/a'), 20)
  await advance(20)
  assert.equal(pace.wait('n/a'), 0)
  pace.synced('n/a', 1000)
  pace.synced('n/a', 99)
  assert.equal(pace.wait('n/a'), 0)
})
