import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createBackOff } from './doubling-back-off.ts'

test('waits double from the first to the longest, counted from the failure', async () => {
  const runtime = simulatedRuntime(1)
  const backOff = createBackOff(runtime.clock, 10_000, 300_000)
  assert.equal(backOff.remaining('c', runtime.clock.now()), 0)
  const waits: number[] = []
  for (let round = 0; round < 7; round++) {
    const failedAt = runtime.clock.now()
    backOff.next('c', failedAt)
    waits.push(backOff.remaining('c', failedAt))
    await runtime.advance(backOff.current('c'))
    assert.equal(backOff.remaining('c', failedAt), 0)
  }
  assert.deepEqual(waits, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
})

test('after a quiet time of twice the longest wait it begins anew', async () => {
  const runtime = simulatedRuntime(1)
  const backOff = createBackOff(runtime.clock, 10_000, 300_000)
  backOff.next('c', runtime.clock.now())
  backOff.next('c', runtime.clock.now())
  await runtime.advance(600_001)
  backOff.next('c', runtime.clock.now())
  assert.equal(backOff.current('c'), 10_000)
})

test('a quiet time shorter than that goes on where it was', async () => {
  const runtime = simulatedRuntime(1)
  const backOff = createBackOff(runtime.clock, 10_000, 300_000)
  backOff.next('c', runtime.clock.now())
  await runtime.advance(600_000)
  backOff.next('c', runtime.clock.now())
  assert.equal(backOff.current('c'), 20_000)
})
