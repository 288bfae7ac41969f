import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../base/clock.ts'
import { createActiveDeadlines } from './active-deadline.ts'
import type { Pod } from './pod.ts'

const pod = { metadata: { name: 'p', uid: 'u' }, spec: { containers: [], activeDeadlineSeconds: 3 } } as unknown as Pod
const status = { startTime: '1970-01-01T00:00:00Z' }

test('a timer that comes before the deadline by the clock is followed by another', () => {
  let now = 0
  const timers: { readonly ms: number; readonly run: () => void }[] = []
  const clock = {
    now: () => now,
    setTimer(ms: number, _: string, run: () => void) {
      timers.push({ ms, run })
      return { cancel: () => {} }
    },
  } as unknown as Clock
  let synced = 0
  const told: string[] = []
  const events = { normal: (_: Pod, reason: string) => void told.push(reason) }
  const deadlines = createActiveDeadlines(clock, events as never, () => void synced++)
  deadlines.watch(pod, status)
  deadlines.watch(pod, status)
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [3000],
  )
  deadlines.tellPassed(pod, status)
  now = 2999
  timers[0]?.run()
  assert.deepEqual([timers.map(({ ms }) => ms), synced, deadlines.failure(pod, status)], [[3000, 1], 0, undefined])
  now = 3000
  timers[1]?.run()
  assert.equal(synced, 1)
  assert.equal(deadlines.failure(pod, status)?.reason, 'DeadlineExceeded')
  assert.deepEqual(told, [], 'a question tells nothing')
  for (const phase of ['Running', 'Failed']) {
    deadlines.tellPassed(pod, { ...status, phase })
    assert.equal(deadlines.failure(pod, { ...status, phase })?.reason, 'DeadlineExceeded')
  }
  assert.deepEqual(told, ['DeadlineExceeded', 'DeadlineExceeded'], 'each status that is made tells of it')
})
