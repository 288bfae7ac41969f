import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { untilLate } from './until-aborted.ts'

test('what a sync looks at again is waited for to its end, to its abort, and for a second at most', async () => {
  const { clock, complete } = simulatedRuntime(1)
  const took = async (begun: readonly (Promise<void> | undefined)[]) => {
    const began = clock.monotonic()
    await complete(untilLate(clock, begun, new AbortController().signal))
    return clock.monotonic() - began
  }
  assert.equal(await took([undefined, Promise.resolve()]), 0)
  assert.equal(await took([new Promise(() => {}), Promise.resolve()]), 1000)
  const ended = new AbortController()
  const waiting = untilLate(clock, [new Promise(() => {})], ended.signal)
  ended.abort(new Error('it has ended'))
  await assert.rejects(waiting, { message: 'it has ended' })
})
