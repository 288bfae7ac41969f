import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setBounded } from './set-bounded.ts'

test('a full map is emptied for another key, and not for one that it has', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ])
  setBounded(map, 2, 'a', 3)
  assert.deepEqual(
    [...map],
    [
      ['a', 3],
      ['b', 2],
    ],
  )
  setBounded(map, 2, 'c', 4)
  assert.deepEqual([...map], [['c', 4]])
})
