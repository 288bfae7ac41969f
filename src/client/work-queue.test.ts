import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createWorkQueue, runWorkers } from './work-queue.ts'

const setup = (seed = 1) => {
  const runtime = simulatedRuntime(seed)
  return { runtime, queue: createWorkQueue<string>(runtime, 'test'), stop: new AbortController() }
}

test('an item added often is worked on once', async () => {
  const { runtime, queue, stop } = setup()
  const done: string[] = []
  for (const item of ['a', 'b', 'a', 'a']) queue.add(item)
  runWorkers(runtime, queue, 1, async (item) => void done.push(item), stop.signal)
  await runtime.settle()
  assert.deepEqual(done, ['a', 'b'])
})

test('an item added while it is being worked on comes again afterwards, never at the same time', async () => {
  const { runtime, queue, stop } = setup()
  let working = 0
  let runs = 0
  let finish = () => {}
  const reconcile = async () => {
    runs++
    assert.equal(++working, 1)
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    working--
  }
  runWorkers(runtime, queue, 3, reconcile, stop.signal)
  queue.add('a')
  await runtime.settle()
  queue.add('a')
  queue.add('a')
  await runtime.settle()
  assert.equal(runs, 1)
  finish()
  await runtime.settle()
  assert.equal(runs, 2)
})

test('a failed item comes again after waits that double, until it succeeds', async () => {
  const { runtime, queue, stop } = setup()
  const at: number[] = []
  const reconcile = async () => {
    at.push(runtime.clock.monotonic())
    if (at.length < 4) throw new Error('not yet')
  }
  runWorkers(runtime, queue, 1, reconcile, stop.signal)
  queue.add('a')
  await runtime.advance(1000)
  assert.deepEqual(at, [0, 5, 15, 35])
  assert.equal(queue.retries('a'), 0)
})

test('of several delays for one item the earliest counts', async () => {
  const { runtime, queue } = setup()
  queue.addAfter('a', 100)
  queue.addAfter('a', 50)
  queue.addAfter('a', 200)
  await runtime.advance(60)
  assert.equal(queue.length, 1)
  assert.equal(await runtime.complete(queue.get()), 'a')
  queue.done('a')
  await runtime.advance(1000)
  assert.equal(queue.length, 0)
})

test('a stopped queue lets its workers go', async () => {
  const { runtime, queue, stop } = setup()
  const waiting = queue.get()
  runWorkers(runtime, queue, 2, async () => {}, stop.signal)
  stop.abort()
  assert.equal(await runtime.complete(waiting), undefined)
  queue.add('a')
  assert.equal(queue.length, 0)
})

test('many failing items share a budget of retries', async () => {
  const { runtime, queue } = setup()
  for (let index = 0; index < 150; index++) queue.addRateLimited(`item-${index}`)
  await runtime.advance(1000)
  assert.equal(queue.length, 110)
})
