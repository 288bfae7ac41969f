import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goDurationText, goDurationTextMs, parseGoDuration, parseGoDurationMs } from './go-duration.ts'

const spelled: readonly (readonly [text: string, spelling: string])[] = [
  ['0', '0s'],
  ['-0', '0s'],
  ['1h2m3.5s', '1h2m3.5s'],
  ['90m', '1h30m0s'],
  ['61s', '1m1s'],
  ['1.5ms', '1.5ms'],
  ['1500us', '1.5ms'],
  ['1µs', '1µs'],
  ['1μs', '1µs'],
  ['999ns', '999ns'],
  ['.5m', '30s'],
  ['1.h', '1h0m0s'],
  ['-1h', '-1h0m0s'],
  ['+1s', '1s'],
  ['1h1h', '2h0m0s'],
  ['0.100000000000000000000h', '6m0s'],
  ['9223372036854775807ns', '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
]
for (const [text, spelling] of spelled)
  test(`${text} is printed as ${spelling}, and read again as the same`, () => {
    const nanos = parseGoDuration(text)
    assert.equal(goDurationText(nanos), spelling)
    assert.equal(parseGoDuration(spelling), nanos)
  })

const refused: readonly (readonly [text: string, message: string])[] = [
  ['', 'invalid duration ""'],
  ['-', 'invalid duration "-"'],
  ['s', 'invalid duration "s"'],
  ['.s', 'invalid duration ".s"'],
  ['--1s', 'invalid duration "--1s"'],
  ['1', 'missing unit in duration "1"'],
  ['1s2', 'missing unit in duration "1s2"'],
  ['1x', 'unknown unit "x" in duration "1x"'],
  ['1s ', 'unknown unit "s " in duration "1s "'],
  ['1é"', 'unknown unit "\\xc3\\xa9\\"" in duration "1\\xc3\\xa9\\""'],
  ['1toString', 'unknown unit "toString" in duration "1toString"'],
  ['9223372036854775808ns', 'invalid duration "9223372036854775808ns"'],
  ['3000000h', 'invalid duration "3000000h"'],
]
for (const [text, message] of refused)
  test(`${JSON.stringify(text)} is no duration`, () =>
    assert.throws(() => parseGoDuration(text), { message: `time: ${message}` }))

test('what is no duration costs no more than its length', () => {
  for (const text of ['1'.repeat(1_000_000), '-'.repeat(1_000_000), '1.'.repeat(500_000), '1s'.repeat(500_000)])
    assert.throws(() => parseGoDuration(`${text}x`))
})

test('milliseconds keep their fraction', () => {
  assert.deepEqual([parseGoDurationMs('1.5ms'), parseGoDurationMs('-2s')], [1.5, -2000])
  assert.deepEqual(
    [goDurationTextMs(1200), goDurationTextMs(0.5), goDurationTextMs(90_000)],
    ['1.2s', '500µs', '1m30s'],
  )
})
