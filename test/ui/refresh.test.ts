/** What the page asks again on each hover. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createRefresh } from '../../src/ui/page/refresh.ts'

test('is asked once in its time, failed or not, and again behind what came too soon; the answer to the last asking counts', async () => {
  let now = 0
  const asked: PromiseWithResolvers<string>[] = []
  const taken: string[] = []
  const ask = () => {
    const one = Promise.withResolvers<string>()
    asked.push(one)
    return one.promise
  }
  const later: (readonly [task: () => void, at: number])[] = []
  const refresh = createRefresh(ask, (answer) => taken.push(answer), {
    everyMs: 5000,
    now: () => now,
    later: (task, ms) => later.push([task, now + ms]),
  })
  const comeTo = (at: number) => {
    now = at
    while ((later[0]?.[1] ?? Number.POSITIVE_INFINITY) <= now) later.shift()?.[0]()
  }
  for (const at of [0, 1, 4999]) {
    comeTo(at)
    refresh()
  }
  assert.equal(asked.length, 1)
  comeTo(5000)
  assert.equal(asked.length, 2, 'what came too soon is asked for then')
  asked[1]!.resolve('new')
  await setImmediate()
  asked[0]!.resolve('old')
  await setImmediate()
  assert.deepEqual(taken, ['new'])
  comeTo(10_000)
  assert.equal(asked.length, 2)
  refresh()
  asked[2]!.reject(new Error('forbidden'))
  await setImmediate()
  refresh()
  assert.equal(asked.length, 3)
})
