import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLruMap } from './lru.ts'

test('a full map lets go of what was used least recently, be it read or written', () => {
  const map = createLruMap<string, number | undefined>(3)
  for (const [i, key] of ['a', 'b', 'c'].entries()) map.set(key, i)
  assert.equal(map.get('a'), 0)
  map.set('b', 7)
  map.set('d', 3)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => map.has(key)),
    [true, true, false, true],
  )
  assert.equal(map.size, 3)
  assert.equal(map.get('b'), 7)
})

test('asking whether something is there is no use of it, and setting again lets nothing go', () => {
  const map = createLruMap<string, number | undefined>(2)
  map.set('a', 1)
  map.set('b', undefined)
  assert.ok(map.has('a'))
  map.set('b', 2)
  assert.deepEqual([map.has('a'), map.has('b')], [true, true])
  map.set('c', 3)
  assert.deepEqual([map.has('a'), map.has('b'), map.get('nothing')], [false, true, undefined])
  assert.equal(map.delete('b'), true)
  map.clear()
  assert.equal(map.size, 0)
})

test('who holds what goes is told, in the order in which it goes', () => {
  const gone: number[] = []
  const map = createLruMap<string, number>(2, (value) => gone.push(value))
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value)
  map.get('b')
  map.set('c', 4)
  map.delete('c')
  map.set('d', 5)
  map.set('e', 6)
  assert.deepEqual(gone, [1, 2])
  assert.deepEqual([...map.values()], [5, 6])
})

test('an undefined value is used as any other', () => {
  const map = createLruMap<string, undefined>(2)
  map.set('a', undefined)
  map.set('b', undefined)
  map.get('a')
  map.set('c', undefined)
  assert.deepEqual([map.has('a'), map.has('b')], [true, false])
})

test('what is used again at once stays the last to go, also after it was deleted and came back', () => {
  const map = createLruMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.get('a')
  map.set('c', 3)
  assert.deepEqual([...map.values()], [1, 3])
  map.get('a')
  map.delete('a')
  map.set('d', 4)
  map.set('a', 5)
  map.get('d')
  map.get('d')
  map.set('e', 6)
  assert.deepEqual([...map.values()], [4, 6])
})
