import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalDuration, canonicalTime } from './time.ts'

test('times become UTC in whole seconds, micro times in microseconds', () => {
  assert.equal(canonicalTime('2026-01-02T03:04:05Z', 'time'), '2026-01-02T03:04:05Z')
  assert.equal(canonicalTime('2026-01-02T03:04:05.999Z', 'time'), '2026-01-02T03:04:05Z')
  assert.equal(canonicalTime('2026-01-01T00:30:00+01:00', 'time'), '2025-12-31T23:30:00Z')
  assert.equal(canonicalTime('2026-01-02T03:04:05.123456Z', 'microTime'), '2026-01-02T03:04:05.123456Z')
  assert.equal(canonicalTime('2026-01-02T03:04:05.123456-02:00', 'microTime'), '2026-01-02T05:04:05.123456Z')
})

test('what is no time is refused in the words of Go', () => {
  const layout = '"2006-01-02T15:04:05Z07:00"'
  for (const [text, message] of [
    ['', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ['x', `parsing time "x" as ${layout}: cannot parse "x" as "2006"`],
    ['2026-02-20 00:00:00', `parsing time "2026-02-20 00:00:00" as ${layout}: cannot parse " 00:00:00" as "T"`],
    ['2026-02-20T2', `parsing time "2026-02-20T2" as ${layout}: cannot parse "" as ":"`],
    ['2026-02-30T00:00:00Z', 'parsing time "2026-02-30T00:00:00Z": day out of range'],
    ['2026-02-20T25:00:00Z', 'parsing time "2026-02-20T25:00:00Z": hour out of range'],
    ['2026-01-01T00:00:00Z2', 'parsing time "2026-01-01T00:00:00Z2": extra text: "2"'],
  ] as const)
    assert.throws(() => canonicalTime(text, 'time'), { message })
})

test('durations have one spelling', () => {
  assert.equal(canonicalDuration('90m'), '1h30m0s')
  assert.equal(canonicalDuration('1.5s'), '1.5s')
  assert.equal(canonicalDuration('1500us'), '1.5ms')
  assert.equal(canonicalDuration('-60s'), '-1m0s')
  assert.equal(canonicalDuration('0'), '0s')
  assert.throws(() => canonicalDuration('5'), { message: 'time: missing unit in duration "5"' })
  assert.throws(() => canonicalDuration(''), { message: 'time: invalid duration ""' })
  assert.throws(() => canonicalDuration('1x'), { message: 'time: unknown unit "x" in duration "1x"' })
})
