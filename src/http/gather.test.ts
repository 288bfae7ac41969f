import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scheduler } from '../base/scheduler.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createGathering } from './gather.ts'

/** A later turn is `turn()`. */
function arrange(most = 100) {
  const waiting: (() => void)[] = []
  const done: (number | 'after')[] = []
  const scheduler: Scheduler = {
    handOver: () => assert.fail('behind the I/O that is ready, not before it'),
    later: (_label, task) => waiting.push(task),
    soon: () => assert.fail('behind the I/O that is ready, no later'),
    during: (work) => work,
  }
  const gathering = createGathering<number>(scheduler, {
    label: 'numbers',
    act: (item) => done.push(item),
    after: () => done.push('after'),
    most,
  })
  const take = () => done.splice(0)
  const add = (...items: number[]) => {
    for (const item of items) gathering.add(item)
    return take()
  }
  const turn = () => {
    for (const task of waiting.splice(0)) task()
    return take()
  }
  /** Until it has seen that items come together. */
  const crowd = () => {
    while (waiting.length === 0) add(-1)
    add(-1, -1, -1)
    turn()
  }
  return { gathering, add, turn, take, crowd, isExpected: () => waiting.length > 0 }
}

test('what comes alone is done at once, and costs a turn once in sixteen times', () => {
  const { add, turn, isExpected } = arrange()
  let turns = 0
  for (let i = 0; i < 160; i++) {
    assert.deepEqual(add(i), [i])
    if (isExpected()) turns++
    turn()
  }
  assert.equal(turns, 10)
})

test('what comes together is done in one later turn, in its order, and is told of when all of it is done', () => {
  const { add, turn, crowd } = arrange()
  crowd()
  assert.deepEqual(add(1, 2, 3), [])
  assert.deepEqual(turn(), [1, 2, 3, 'after'])
  assert.deepEqual(add(4, 5), [])
  assert.deepEqual(turn(), [4, 5, 'after'])
})

for (const isCalm of [true, false])
  test(`what is added while others are done stands behind them, ${isCalm ? 'also in calm' : 'in the next turn'}`, () => {
    const order: number[] = []
    const tasks: (() => void)[] = []
    const gathering = createGathering<number>(
      { ...simulatedRuntime(1).scheduler, later: (_label, task) => tasks.push(task) },
      {
        label: 'numbers',
        act: (item) => {
          order.push(item)
          if (item === 1) gathering.add(10)
        },
        most: 100,
      },
    )
    const turn = () => {
      for (const task of tasks.splice(0)) task()
    }
    while (tasks.length === 0) gathering.add(0)
    if (!isCalm) for (const item of [0, 0, 0]) gathering.add(item)
    if (!isCalm) turn()
    gathering.add(1)
    gathering.add(2)
    order.length = 0
    turn()
    assert.deepEqual(order, [1, 2])
    turn()
    assert.deepEqual(order, [1, 2, 10])
  })

for (const { others, isCompany } of [
  { others: [1], isCompany: false },
  { others: [1, 2], isCompany: true },
])
  test(`${others.length + 1} in one turn are ${isCompany ? '' : 'no '}company`, () => {
    const { add, turn, isExpected } = arrange()
    while (!isExpected()) add(0)
    assert.deepEqual(add(...others), [])
    turn()
    assert.deepEqual(add(3), isCompany ? [] : [3])
  })

test('calm comes back after eight turns without company', () => {
  const { add, turn, crowd } = arrange()
  crowd()
  for (let i = 0; i < 8; i++) {
    assert.deepEqual(add(i), [], `turn ${i}`)
    turn()
  }
  const atOnce = Array.from({ length: 32 }, (_, i) => {
    const done = add(i).length
    turn()
    return done
  })
  assert.deepEqual([...new Set(atOnce)], [1])
})

test('as many as may wait are done without waiting for others, and are company all the same', () => {
  const { add, turn, crowd, isExpected } = arrange(2)
  crowd()
  assert.deepEqual(add(1, 2, 3), [1, 2])
  assert.deepEqual(turn(), [3, 'after'])
  for (let i = 0; i < 20; i++) {
    assert.deepEqual(add(1, 2, 3, 4), [1, 2, 3, 4])
    assert.equal(isExpected(), true)
    turn()
  }
})

test('flush does what waits, which is not done again', () => {
  const { gathering, add, turn, take, crowd } = arrange()
  crowd()
  add(1, 2)
  gathering.flush()
  assert.deepEqual(take(), [1, 2])
  assert.deepEqual(turn(), ['after'])
})
