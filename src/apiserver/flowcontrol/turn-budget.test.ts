import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { type BegunTurn, createTurnBudget } from './turn-budget.ts'

/** A loop whose turns end when the test says so, and whose requests take `costMs` each. */
function loop(costMs: number) {
  let now = 0
  let tasks: (() => void)[] = []
  const clock = { monotonic: () => now } as Clock
  const scheduler = { later: (_label, task) => void tasks.push(task) } as Scheduler
  let turns = 0
  const budget = createTurnBudget(clock, scheduler, () => turns++)
  return {
    turns: () => turns,
    /** As many of `wanted` as may begin do. */
    begin(level: BegunTurn, wanted: number, share = 1): number {
      let begun = 0
      while (begun < wanted && budget.allows(level, share)) {
        budget.begin(level)
        now += costMs
        begun++
      }
      return begun
    },
    endTurn() {
      const due = tasks
      tasks = []
      for (const task of due) task()
    },
  }
}

const level = (): BegunTurn => ({ turn: -1, requests: 0 })

test('turns that take long begin fewer requests, until they are as short as they should be', () => {
  const { begin, endTurn } = loop(1)
  const crowd = level()
  const counts: number[] = []
  for (let turn = 0; turn < 30; turn++) {
    counts.push(begin(crowd, 1000))
    endTurn()
  }
  assert.equal(counts[0], 1000)
  for (const count of counts.slice(2))
    assert.ok(count >= 20 && count <= 45, `${count} requests of a millisecond in a turn`)
})

test('some begin in every turn, whatever turns take', () => {
  const { begin, endTurn } = loop(1000)
  const crowd = level()
  for (let turn = 0; turn < 10; turn++) {
    assert.ok(begin(crowd, 20) >= 8)
    endTurn()
  }
})

test('once the crowd is gone, all begin at once again', () => {
  const busy = loop(1)
  const crowd = level()
  for (let turn = 0; turn < 5; turn++) {
    busy.begin(crowd, 1000)
    busy.endTurn()
  }
  for (let turn = 0; turn < 40; turn++) {
    busy.begin(crowd, 10)
    busy.endTurn()
  }
  assert.equal(busy.begin(crowd, 5000), 5000)
})

test('a level has its share of a turn though another took all of it', () => {
  const { begin, endTurn } = loop(1)
  const crowd = level()
  for (let turn = 0; turn < 5; turn++) {
    begin(crowd, 1000)
    endTurn()
  }
  assert.ok(begin(crowd, 1000) >= 20)
  const modest = level()
  const begun = begin(modest, 1000, 0.25)
  assert.ok(begun >= 5 && begun <= 12, `${begun} of a quarter`)
})

test('a few at a time need no turn', () => {
  const { begin, endTurn, turns } = loop(1)
  const calm = level()
  assert.equal(begin(calm, 7), 7)
  endTurn()
  assert.equal(turns(), 0)
  begin(calm, 1)
  endTurn()
  assert.equal(turns(), 1)
})
