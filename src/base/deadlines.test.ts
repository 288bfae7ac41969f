import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeadlines } from './deadlines.ts'
import { simulatedRuntime } from './simulated-runtime.ts'

test('each deadline ends its own length after it began, whatever happened to the others', async () => {
  const runtime = simulatedRuntime(1)
  const { clock } = runtime
  const ended: string[] = []
  const begin = clock.monotonic()
  const deadlines = createDeadlines(clock, 1000, 'deadline')
  const add = (name: string) => deadlines.add(() => ended.push(`${name} at ${clock.monotonic() - begin}`))
  const first = add('first')
  await runtime.advance(300)
  add('second')
  await runtime.advance(300)
  const third = add('third')
  first.cancel()
  await runtime.advance(3000)
  assert.deepEqual(ended, ['second at 1300', 'third at 1600'])
  third.cancel()
  add('fourth')
  await runtime.advance(1000)
  assert.equal(ended.at(-1), 'fourth at 4600')
})

test('one timer serves them all', async () => {
  const runtime = simulatedRuntime(1)
  let timers = 0
  const clock = {
    ...runtime.clock,
    setTimer: (ms: number, label: string, task: () => void) => {
      timers++
      return runtime.clock.setTimer(ms, label, task)
    },
  }
  const deadlines = createDeadlines(clock, 1000, 'deadline')
  for (let i = 0; i < 100; i++) deadlines.add(() => assert.fail('it was cancelled')).cancel()
  await runtime.advance(2000)
  assert.equal(timers, 1)
})
