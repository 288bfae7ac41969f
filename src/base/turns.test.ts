import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from './simulated-runtime.ts'
import { inTurns } from './turns.ts'

test('work that takes long lets others have their turns, and keeps its order', async () => {
  const simulated = simulatedRuntime(1)
  let now = 0
  const turns: number[] = []
  const runtime = {
    ...simulated,
    machineClock: { ...simulated.clock, monotonic: () => now },
    scheduler: {
      ...simulated.scheduler,
      later(label: string, task: () => void) {
        turns.push(now)
        simulated.scheduler.later(label, task)
      },
    },
  }
  const items = Array.from({ length: 400 }, (_, index) => index)
  const work = inTurns(runtime, 'test', items, (item) => {
    now += 1
    return item * 2
  })
  const made = await simulated.complete(work)
  assert.deepEqual(
    made,
    items.map((item) => item * 2),
  )
  const lengths = turns.map((at, index) => at - (turns[index - 1] ?? 0))
  assert.deepEqual(lengths, Array(400 / 16).fill(16))
})

test('of many long works one goes on in a turn, each in its time', async () => {
  const simulated = simulatedRuntime(1)
  let now = 0
  let tasks: (() => void)[] = []
  const runtime = {
    ...simulated,
    machineClock: { ...simulated.clock, monotonic: () => now },
    scheduler: { ...simulated.scheduler, later: (_: string, task: () => void) => void tasks.push(task) },
  }
  const done: string[] = []
  let isOver = false
  const works = ['a', 'b', 'c'].map((name) =>
    inTurns(runtime, 'test', Array(64).fill(name), () => {
      now += 1
      done.push(name)
    }),
  )
  void Promise.all(works).then(() => {
    isOver = true
  })
  const pieces: string[] = []
  while (!isOver) {
    const before = done.length
    const due = tasks
    tasks = []
    for (const task of due) task()
    // Until all that follows at once has been done.
    await new Promise((resolve) => setImmediate(resolve))
    pieces.push([...new Set(done.slice(before))].join('+'))
  }
  assert.equal(pieces.join(''), 'abcabcabc')
})
