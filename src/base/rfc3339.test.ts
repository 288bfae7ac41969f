import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRfc3339 } from './rfc3339.ts'

const at = (text: string) => BigInt(Date.parse(text)) * 1_000_000n

test('a time is read to the nanosecond, at its offset', () => {
  assert.equal(parseRfc3339('2026-01-02T03:04:05Z'), at('2026-01-02T03:04:05Z'))
  assert.equal(parseRfc3339('2026-01-02T03:04:05.123456789123Z'), at('2026-01-02T03:04:05Z') + 123_456_789n)
  assert.equal(parseRfc3339('2026-01-02T03:04:05-07:30'), at('2026-01-02T10:34:05Z'))
  assert.equal(parseRfc3339('1969-12-31T23:59:59.5Z'), -500_000_000n)
})

test('what is no time is none, nor is a day that its month does not have', () => {
  for (const text of [
    '',
    '2026-01-02',
    '2026-02-30T00:00:00Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:04:60Z',
    '2026-01-02t03:04:05Z',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05Z\n',
  ])
    assert.equal(parseRfc3339(text), undefined, text)
})

test('the lenient form takes a date alone, a space and small letters', () => {
  assert.equal(parseRfc3339('2026-01-02', { lenient: true }), at('2026-01-02T00:00:00Z'))
  assert.equal(parseRfc3339('2026-01-02 03:04:05z', { lenient: true }), at('2026-01-02T03:04:05Z'))
  assert.equal(parseRfc3339('2026-02-30', { lenient: true }), undefined)
})
