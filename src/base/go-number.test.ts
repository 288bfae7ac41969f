import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoFloat, parseGoInteger } from './go-number.ts'

test('whole numbers have a base by their prefix, and lines between digits', () => {
  const read = ['0', '+5', '-5', '010', '0o17', '0b1', '0x1F', '-0x10', '1_000', '0x_f'].map(parseGoInteger)
  assert.deepEqual(read, [0n, 5n, -5n, 8n, 15n, 1n, 31n, -16n, 1000n, 15n])
  for (const text of ['', 'x', '08', '1__0', '_1', '1_', '0x', '1.5', ' 5', '5 ', '--5'])
    assert.equal(parseGoInteger(text), undefined, text)
})

test('fractions, powers, infinities and what is no number', () => {
  const read = ['1', '1.', '.5', '1e2', '1_0', '-2.5', '0x1p3', '-0x.8p1', 'Inf', '-infinity', '1e400'].map(
    parseGoFloat,
  )
  assert.deepEqual(read, [1, 1, 0.5, 100, 10, -2.5, 8, -1, Infinity, -Infinity, Infinity])
  assert.equal(Number.isNaN(parseGoFloat('nan')), true)
  for (const text of ['', 'x', '1e', '.', '0x1', ' 5', '1__0', '0xp1', 'e5'])
    assert.equal(parseGoFloat(text), undefined, text)
})
