import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scheduler } from '../base/scheduler.ts'
import { createFlushTurns } from './flush-turns.ts'

/** Turns are ended by hand, and time stands still. */
function begun() {
  let ending: (() => void)[] = []
  let nowMs = 0
  let waiting = 0
  const groups: number[] = []
  const scheduler: Pick<Scheduler, 'handOver' | 'later'> = {
    handOver: (_label, task) => task(),
    later: (_label, task) => void ending.push(task),
  }
  const turns = createFlushTurns(scheduler as Scheduler, { monotonic: () => nowMs })
  let isBegun = false
  const flush = () => {
    groups.push(waiting)
    turns.wrote(waiting)
    waiting = 0
    isBegun = false
  }
  return {
    groups,
    write(count: number) {
      for (let i = 0; i < count; i++) {
        waiting++
        if (isBegun) continue
        isBegun = true
        turns.begin(flush, true, () => waiting)
      }
    },
    endTurn(ms = 0) {
      nowMs += ms
      const tasks = ending
      ending = []
      for (const task of tasks) task()
    },
  }
}

test('what comes alone is written at once, and what comes with others when its turn ends and none followed', () => {
  const { write, endTurn, groups } = begun()
  write(1)
  assert.deepEqual(groups, [1])
  endTurn()
  write(1)
  write(1)
  assert.deepEqual(groups, [1, 1], 'the second one of a turn waits')
  endTurn()
  endTurn()
  assert.deepEqual(groups, [1, 1, 1])
})

test('writes are gathered as long as each turn brings some', () => {
  const { write, endTurn, groups } = begun()
  write(2)
  endTurn()
  endTurn()
  groups.length = 0
  for (const count of [3, 1, 2]) {
    write(count)
    endTurn()
    assert.deepEqual(groups, [])
  }
  endTurn()
  assert.deepEqual(groups, [6])
})

test('a group that is large enough, or has waited for two milliseconds, is written though more came', () => {
  const { write, endTurn, groups } = begun()
  write(2)
  endTurn()
  endTurn()
  groups.length = 0
  write(20)
  endTurn()
  write(9)
  endTurn()
  assert.deepEqual(groups, [29])
  write(1)
  endTurn(1)
  write(1)
  endTurn(1)
  write(1)
  assert.deepEqual(groups, [29, 2])
})
