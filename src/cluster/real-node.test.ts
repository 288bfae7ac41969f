import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { renewed } from './real-node.ts'

test("the certificate of a node's server is made anew before its year is over, and not after the node has ended", async () => {
  const runtime = simulatedRuntime(1)
  const stop = new AbortController()
  let times = 0
  const ended = renewed(runtime, () => times++, stop.signal).catch(() => 'ended')
  await runtime.advance(289 * 86_400_000)
  assert.equal(times, 0)
  await runtime.advance(40 * 86_400_000)
  assert.equal(times, 1)
  await runtime.advance(290 * 86_400_000)
  assert.equal(times, 2)
  stop.abort()
  assert.equal(await runtime.complete(ended), 'ended')
})
