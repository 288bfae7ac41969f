/** What the page asks again on each hover. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createRefresh } from '../../src/ui/page/refresh.ts'

test('is asked once in its time, failed or not, and the answer to the last asking counts', async () => {
  let now = 0
  const asked: PromiseWithResolvers<string>[] = []
  const taken: string[] = []
  const ask = () => {
    const one = Promise.withResolvers<string>()
    asked.push(one)
    return one.promise
  }
  const refresh = createRefresh(ask, (answer) => taken.push(answer), { everyMs: 5000, now: () => now })
  for (const at of [0, 1, 4999, 5000, 9999]) {
    now = at
    refresh()
  }
  assert.equal(asked.length, 2)
  asked[1]!.resolve('new')
  await setImmediate()
  asked[0]!.resolve('old')
  await setImmediate()
  assert.deepEqual(taken, ['new'])
  now = 10_000
  refresh()
  asked[2]!.reject(new Error('forbidden'))
  await setImmediate()
  refresh()
  assert.equal(asked.length, 3)
})
