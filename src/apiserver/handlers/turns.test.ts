import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { inTurns } from './turns.ts'

test('work that takes long lets others have their turns, and keeps its order', async () => {
  const simulated = simulatedRuntime(1)
  let now = 0
  const turns: number[] = []
  const runtime = {
    ...simulated,
    clock: { ...simulated.clock, monotonic: () => now },
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
