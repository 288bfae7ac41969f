/** Times in relation, as a real cluster's (conformance/deletion-times.jsonl), asked of an API server whose clock moves when told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askTimes, recordedTimes, type TimedAsker } from '../conformance/deletion-times.ts'
import { simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { startTestApi } from './harness.ts'

const START = Date.UTC(2026, 4, 5, 10)

test('times stand in the relations they have in a real cluster', async (t) => {
  const runtime = simulatedRuntime(1, { startMs: START, order: 'fifo' })
  const api = await runtime.complete(startTestApi(runtime))
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const asker: TimedAsker = {
    async call({ m, p, b, h }) {
      const headers = Object.fromEntries(Object.entries(h ?? {}).map(([name, value]) => [name, String(value)]))
      const { code, text } = await done(api.request(m, p, b, headers))
      return { code, text }
    },
    namespace: (name) => done(api.namespace(name)),
    second: async () => Math.floor(runtime.clock.now() / 1000),
    pass: (seconds) => runtime.advance(seconds * 1000),
  }
  for (const [index, { want, ...asked }] of recordedTimes().entries())
    await t.test(asked.name, async () => {
      assert.deepEqual(await askTimes(asker, asked, `t-${index}`), want)
    })
  await done(api.stop())
})
