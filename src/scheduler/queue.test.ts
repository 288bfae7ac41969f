import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { podInfoOf } from './pod-info.ts'
import { createSchedulingQueue } from './queue.ts'
import { pod } from './test-objects.ts'

const info = (name: string, priority = 0) => podInfoOf(pod(name, { priority }))

function start() {
  const runtime = simulatedRuntime(1)
  let woken = 0
  const queue = createSchedulingQueue(runtime, () => woken++)
  return {
    runtime,
    queue,
    woken: () => woken,
    names: () => {
      const names: string[] = []
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) names.push(next.key.replace('default/', ''))
      return names
    },
  }
}

test('the highest priority comes first, of equal ones the oldest', async () => {
  const { runtime, queue, names } = start()
  for (const [name, priority] of [
    ['a', 0],
    ['b', 10],
    ['c', -5],
    ['d', 10],
    ['e', 0],
  ] as const) {
    queue.add(info(name, priority))
    await runtime.advance(1)
  }
  assert.equal(queue.ready, 5)
  assert.deepEqual(names(), ['b', 'd', 'a', 'e', 'c'])
  assert.equal(queue.ready, 0)
})

test('one that comes while others are taken has its place among them', () => {
  const { queue, names } = start()
  for (const name of ['a', 'b', 'c']) queue.add(info(name))
  queue.pop()
  queue.add(info('urgent', 1))
  assert.equal(names()[0], 'urgent')
})

test('each pod that becomes ready wakes the scheduler, and one that is taken away is not given', () => {
  const { queue, woken, names } = start()
  queue.add(info('a'))
  queue.add(info('b'))
  assert.equal(woken(), 2)
  queue.add(info('b'))
  assert.equal(woken(), 2, 'it is ready already')
  queue.remove('default/a')
  queue.remove('default/never')
  assert.deepEqual(names(), ['b'])
})

test('one that failed waits for help, and then for its backoff: 1 s, doubling, at most 10', async () => {
  const { runtime, queue, names } = start()
  const failing = info('a')
  queue.add(failing)
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    assert.deepEqual(names(), ['a'])
    queue.failed(failing)
    queue.moveAll()
    await runtime.advance(seconds * 1000 - 1)
    assert.deepEqual(names(), [], `before ${seconds} s`)
    await runtime.advance(1)
    assert.equal(queue.ready, 1, `after ${seconds} s`)
  }
})

test('help that comes after the backoff is taken at once', async () => {
  const { runtime, queue, names } = start()
  const failing = info('a')
  queue.add(failing)
  assert.deepEqual(names(), ['a'])
  queue.failed(failing)
  await runtime.advance(60_000)
  assert.deepEqual(names(), [])
  queue.moveAll()
  assert.deepEqual(names(), ['a'])
})

test('what nothing helps is tried again after five minutes', async () => {
  const { runtime, queue, names } = start()
  const failing = info('a')
  queue.add(failing)
  queue.pop()
  queue.failed(failing)
  await runtime.advance(299_999)
  assert.deepEqual(names(), [])
  await runtime.advance(1)
  assert.deepEqual(names(), ['a'])
})

test('a change of the pod itself is help, and the pod as it is now is given', async () => {
  const { runtime, queue } = start()
  const failing = info('a')
  queue.add(failing)
  queue.pop()
  queue.failed(failing)
  const changed = { ...failing, priority: 7 }
  queue.add(changed)
  assert.equal(queue.ready, 0, 'its backoff comes first')
  await runtime.advance(1000)
  assert.equal(queue.pop(), changed)
})

test('another pod of the name waits for no backoff', () => {
  const { queue } = start()
  const failing = info('a')
  queue.add(failing)
  queue.pop()
  queue.failed(failing)
  const next = { ...failing, uid: 'another' }
  queue.add(next)
  assert.equal(queue.pop(), next)
})

test('a failure of one that is gone, or is ready again, changes nothing', async () => {
  const { runtime, queue, names } = start()
  const gone = info('a')
  queue.add(gone)
  queue.pop()
  queue.remove('default/a')
  queue.failed(gone)
  await runtime.advance(600_000)
  assert.deepEqual(names(), [])
  queue.add(info('b'))
  queue.failed(info('b'))
  assert.deepEqual(names(), ['b'])
})
