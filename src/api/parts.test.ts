import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from './object.ts'
import { isShared, partFrom, perPart, share, withChanges } from './parts.ts'

test('what is said of a shared part is found out once, and of any other every time', () => {
  let asked = 0
  const size = perPart((part: Fields) => {
    asked++
    return Object.keys(part).length
  })
  const part = share({ a: 1 })
  assert.deepEqual([size(part), size(part), asked], [1, 1, 1])
  const own = { a: 1, b: 2 }
  assert.deepEqual([size(own), size(own), asked], [2, 2, 3])
})

test('undefined is an answer, and an error is none', () => {
  let asked = 0
  const find = perPart((part: Fields) => {
    asked++
    if (asked === 1) throw new Error('not yet')
    return part['missing']
  })
  const part = share({})
  assert.throws(() => find(part))
  assert.deepEqual([find(part), find(part), asked], [undefined, undefined, 2])
})

test('what is made of a shared part is shared, and nothing else is', () => {
  const marked = partFrom((part: Fields): Fields => ({ ...part, mark: true }))
  const part = share({ a: 1 })
  assert.equal(marked(part), marked(part))
  assert.ok(isShared(marked(part)))
  const own = { a: 1 }
  assert.notEqual(marked(own), marked(own))
  assert.ok(!isShared(marked(own)))
})

test('equal changes of a shared part are one part; different ones, also of a field to undefined, are not', () => {
  const part = share({ a: 1, b: 2 })
  const made = withChanges(part, { b: 3, c: 'x' })
  assert.deepEqual(made, { a: 1, b: 3, c: 'x' })
  assert.equal(withChanges(part, { b: 3, c: 'x' }), made)
  for (const changes of [
    { b: 3 },
    { b: 3, c: 'y' },
    { b: 3, d: 'x' },
    { b: 3, c: 'x', d: undefined },
    { b: 3, c: undefined },
  ])
    assert.deepEqual(withChanges(part, changes), { ...part, ...changes })
  for (let i = 0; i < 100; i++) assert.deepEqual(withChanges(part, { i }), { a: 1, b: 2, i })
  assert.equal(withChanges(part, { b: 3, c: 'x' }), made, 'however many others there were')
  const list = [1]
  assert.ok(!isShared(withChanges(part, { list })), 'a value that nobody will send again')
  share(list)
  assert.equal(withChanges(share({ a: 2 }), { list })['list'], list)
})

test('a shared part cannot be written to in tests', () => {
  const part = share({ inner: { a: 1 } })
  assert.throws(() => {
    part.inner.a = 2
  }, TypeError)
})
