import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createFailedPodBackoff } from './failed-pod-backoff.ts'

test('a node whose pod keeps ending is let alone for a second, then twice as long each time', async () => {
  const runtime = simulatedRuntime(1)
  const backoff = createFailedPodBackoff(runtime.clock)
  assert.equal(backoff.remaining('n'), 0)
  for (const wait of [1000, 2000, 4000]) {
    backoff.next('n')
    assert.equal(backoff.remaining('n'), wait)
    await runtime.advance(wait)
    assert.equal(backoff.remaining('n'), 0)
  }
})
