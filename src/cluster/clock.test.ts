import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualRuntime } from '../base/manual-clock-runtime.ts'
import { clusterClock, type Duration, milliseconds } from './clock.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const clockOf = (onMove: () => void = () => {}) => {
  const { manual } = manualRuntime({ startMs: start, onMove, outside: () => undefined })
  return { manual, clock: clusterClock(manual, Number.POSITIVE_INFINITY) }
}

test('what is no duration is refused with what to write', () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    ...[null, undefined, true, {}, Number.NaN].map((one) => [one, /is no duration: write '30s'/] as const),
    ['5', /missing unit in duration "5": write 30s/],
    ['', /invalid duration "": write 30s/],
    ['-5s', /-5s is less than nothing/],
    [-5, /-5 is less than nothing/],
    [Number.POSITIVE_INFINITY, /has no end/],
  ]
  for (const [duration, told] of refused) {
    const asked = () => milliseconds(duration as Duration)
    assert.throws(asked, RangeError)
    assert.throws(asked, { message: told })
  }
  assert.equal(milliseconds('1m30s'), 90_000)
  assert.equal(milliseconds(0), 0)
})

test('what is no time, and no condition, is refused too', async () => {
  const { clock } = clockOf()
  for (const time of [null, undefined, 5, {}, '', '2027-01-01', new Date(Number.NaN)])
    await assert.rejects(clock.advanceTo(time as string), { name: 'RangeError', message: /is no time: write/ })
  await assert.rejects(clock.runUntil('x' as never), { name: 'RangeError', message: /needs a function/ })
})

test('the clock of a cluster that has stopped does not go on, and says so', async () => {
  let moves = 0
  const { manual, clock } = clockOf(() => moves++)
  manual.stop()
  await assert.rejects(clock.advance('1s'), /the cluster has stopped/)
  await assert.rejects(
    clock.runUntil(() => false),
    /the cluster has stopped/,
  )
  assert.equal(moves, 0)
})
