import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printedDifference } from './difference.ts'

test('equal values have no difference', () => {
  assert.equal(printedDifference({ a: [1, 2] }, { a: [1, 2] }), '')
})

test('a change is shown with three lines around it', () => {
  const value = (c: number) => ({ a: 1, b: 2, c, d: 4, e: 5, f: 6, g: 7 })
  assert.equal(
    printedDifference(value(3), value(9)),
    '@@ -1,7 +1,7 @@\n {\n  "a": 1,\n  "b": 2,\n- "c": 3,\n+ "c": 9,\n  "d": 4,\n  "e": 5,\n  "f": 6,\n',
  )
})

test('of two equal items the first is the one that is added', () => {
  const list = (count: number) => Array.from({ length: count }, () => ({ port: 80 }))
  assert.equal(
    printedDifference(list(1), list(2)),
    '@@ -1,4 +1,7 @@\n [\n+ {\n+  "port": 80\n+ },\n  {\n   "port": 80\n  }\n',
  )
})

test('a difference that would take too long to find is still an answer', () => {
  const noise = (seed: number) => Array.from({ length: 20_000 }, (_, i) => (i * seed) % 997)
  assert.ok(printedDifference(noise(3), noise(7)).startsWith('@@ '))
})
