import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualRuntime } from './manual-clock-runtime.ts'
import { simulatedRuntime } from './simulated-runtime.ts'
import { stoppable } from './stoppable.ts'

test('timers and hand-overs end with the signal', async () => {
  const runtime = simulatedRuntime(1)
  const stop = new AbortController()
  const own = stoppable(runtime, stop.signal)
  const ran: string[] = []
  own.clock.setTimer(10, 'early', () => ran.push('early'))
  own.clock.setTimer(20, 'cancelled', () => ran.push('cancelled')).cancel()
  await runtime.advance(50)
  own.clock.setTimer(10, 'late', () => ran.push('late'))
  own.scheduler.handOver('task', () => ran.push('task'))
  stop.abort()
  own.clock.setTimer(10, 'after', () => ran.push('after'))
  own.scheduler.later('after', () => ran.push('after'))
  await runtime.advance(50)
  assert.deepEqual(ran, ['early'])
})

test('what is under way when it is stopped holds up no clock that is moved', async () => {
  const { manual, ...runtime } = manualRuntime({ startMs: 0, log: { write() {} } })
  const stop = new AbortController()
  const { clock, scheduler } = stoppable(runtime, stop.signal)
  void scheduler.during(new Promise<void>((resolve) => clock.setTimer(10, 'never', resolve)))
  scheduler.handOver('stop', () => stop.abort())
  await manual.advance(1000)
  assert.equal(manual.now(), 1000)
})
