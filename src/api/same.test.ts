import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameJson } from './same.ts'

const equal: readonly (readonly [what: string, a: unknown, b: unknown])[] = [
  ['objects, whatever the order of their fields', { a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }],
  ['a field that is undefined and one that is absent', { a: 1, b: undefined }, { a: 1 }],
  ['the same the other way', { a: 1 }, { a: 1, b: undefined }],
  ['nulls', { a: null }, { a: null }],
  ['exact integers', 9007199254740993n, 9007199254740993n],
]
for (const [what, a, b] of equal) test(`equal: ${what}`, () => assert.ok(sameJson(a, b)))

const different: readonly (readonly [what: string, a: unknown, b: unknown])[] = [
  ['a field more', { a: 1 }, { a: 1, b: 2 }],
  ['a field less', { a: 1, b: 2 }, { a: 1 }],
  ['as many fields of other names', { a: 1 }, { b: 1 }],
  ['null and absent', { a: null }, {}],
  ['lists of another order', [1, 2], [2, 1]],
  ['a list and its beginning', [1, 2], [1]],
  ['a list and an object of the same fields', [1], { 0: 1 }],
  ['a text and its number', '1', 1],
  ['a field that the other has from its prototype', { toString: 1 }, {}],
  ['an empty object and null', {}, null],
]
for (const [what, a, b] of different)
  test(`different: ${what}`, () => {
    assert.ok(!sameJson(a, b))
    assert.ok(!sameJson(b, a))
  })
