import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from './simulated-runtime.ts'
import { tokenBucket } from './token-bucket.ts'

test('a burst passes, then so many in a second, and rest gives no more than a burst', async () => {
  const runtime = simulatedRuntime(1)
  const mayCome = tokenBucket(runtime.clock, { qps: 2, burst: 3 })
  const passed = (tries: number) => Array.from({ length: tries }, () => mayCome()).filter(Boolean).length
  assert.equal(passed(5), 3)
  await runtime.advance(400)
  assert.equal(passed(5), 0)
  await runtime.advance(1100)
  assert.equal(passed(5), 3)
  await runtime.advance(60_000)
  assert.equal(passed(9), 3)
})
