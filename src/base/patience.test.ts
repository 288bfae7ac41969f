import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPatience } from './patience.ts'

const took = (...times: number[]) => {
  const patience = createPatience(5)
  for (const ms of times) patience.took(ms)
  return patience.isQuick
}
const repeated = (times: number, ms: number) => Array<number>(times).fill(ms)

test('what is slow on the average is left to others, and a slow one among quick ones is not', () => {
  assert.equal(took(), true)
  assert.equal(took(...repeated(20, 4)), true)
  assert.equal(took(...repeated(20, 1), 20, ...repeated(20, 1), 20), true)
  assert.equal(took(...repeated(20, 10)), false)
})

test('what hung is left to others until a dozen were quick, however long it hung', () => {
  assert.equal(took(60_000), false)
  assert.equal(took(60_000, ...repeated(11, 0.5)), false)
  assert.equal(took(60_000, ...repeated(14, 0.5)), true)
})
