import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addInt64, boundedSeconds, compareInt64, durationMs, maxInt64, minInt64, parseInt64 } from './integers.ts'

const MOST = 9223372036854775807n
const LEAST = -9223372036854775808n

test('a text is read exactly, and only where it is an integer of so many bits', () => {
  assert.deepEqual(
    ['7', '+7', '-07', '3546343826724305832', String(MOST), String(LEAST)].map((text) => parseInt64(text)),
    [7, 7, -7, 3546343826724305832n, MOST, LEAST],
  )
  for (const text of ['', ' 7', '7.0', '1e3', '0x7', '9223372036854775808', '-9223372036854775809', undefined])
    assert.equal(parseInt64(text), undefined)
  assert.equal(parseInt64('2147483647', 32), 2147483647)
  assert.equal(parseInt64('2147483648', 32), undefined)
})

test('a sum is exact in either form and goes on at the other end', () => {
  assert.equal(addInt64(1, 2), 3)
  assert.equal(addInt64(3546343826724305832n, 1), 3546343826724305833n)
  assert.equal(addInt64(Number.MAX_SAFE_INTEGER, 1), 9007199254740992n)
  assert.equal(addInt64(9007199254740992n, -1), Number.MAX_SAFE_INTEGER)
  assert.equal(addInt64(MOST, 1), LEAST)
})

test('numbers and bigints compare with each other', () => {
  assert.deepEqual([compareInt64(1, MOST), compareInt64(MOST, 1), compareInt64(MOST, MOST)], [-1, 1, 0])
  assert.deepEqual([maxInt64(1, MOST), minInt64(1, MOST), maxInt64(MOST, MOST - 1n)], [MOST, 1, MOST])
})

test('seconds become milliseconds as 64 bits of nanoseconds hold them', () => {
  assert.deepEqual([0, 30, -5, 9223372036].map(durationMs), [0, 30_000, -5000, 9223372036000])
  assert.equal(durationMs(MOST), -1000)
  assert.ok(durationMs(9223372037) < 0)
  assert.ok(durationMs(18446744074) > 0 && durationMs(18446744074) < 1000)
})

test('seconds that no timer reaches are so many that none is needed', () => {
  assert.deepEqual([boundedSeconds(30), boundedSeconds(-1)], [30, -1])
  assert.ok(Number.isSafeInteger(boundedSeconds(MOST) * 1000))
})
