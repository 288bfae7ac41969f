import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOrInsertComputed } from './get-or-insert.ts'

test('a value is made once per key, and what is not there yet by what makes it', () => {
  const made: string[] = []
  const make = (key: string) => {
    made.push(key)
    return key.toUpperCase()
  }
  const table = new Map([['a', 'known']])
  const got = ['a', 'b', 'b'].map((key) => getOrInsertComputed(table, key, make))
  assert.deepEqual(
    [got, made, [...table]],
    [
      ['known', 'B', 'B'],
      ['b'],
      [
        ['a', 'known'],
        ['b', 'B'],
      ],
    ],
  )
})
