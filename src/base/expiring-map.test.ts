import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'

function setup(most: number) {
  const time = { now: 0 }
  const clock = { monotonic: () => time.now } as Clock
  return { time, map: createExpiringMap<number | undefined>(clock, most) }
}

test('what is set is known for its time, and not at the end of it', () => {
  const { time, map } = setup(10)
  map.set('a', 1, 100)
  map.set('u', undefined, 100)
  time.now = 99
  assert.deepEqual([map.get('a')?.value, map.get('u') !== undefined, map.get('b')], [1, true, undefined])
  time.now = 100
  assert.deepEqual([map.get('a'), map.get('u')], [undefined, undefined])
})

test('what is set for no time is not kept, and replaces what was', () => {
  const { map } = setup(10)
  map.set('a', 1, 100)
  map.set('a', 2, 0)
  assert.equal(map.get('a'), undefined)
})

test('of too many the one that was used least recently goes', () => {
  const { map } = setup(2)
  map.set('a', 1, 100)
  map.set('b', 2, 100)
  map.get('a')
  map.set('c', 3, 100)
  assert.deepEqual([map.get('a')?.value, map.get('b'), map.get('c')?.value], [1, undefined, 3])
})

test('what is deleted is not known', () => {
  const { map } = setup(2)
  map.set('a', 1, 100)
  map.delete('a')
  assert.equal(map.get('a'), undefined)
})
