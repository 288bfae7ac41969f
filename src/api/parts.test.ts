import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from './object.ts'
import { createParts, createPartTexts, noParts, type Parts } from './parts.ts'
import { partsForTest } from './parts-fixture.test.ts'

/** Whether anything is remembered of the part. */
const recurs = (parts: Parts, part: object) => parts.holds(part, () => true)

const WORDS = '{"a":1}'.padStart(64)

test('what is read twice in the same words is one value the third time; by another memory it is not known', () => {
  const texts = createPartTexts()
  const [one, other] = [createParts(texts), createParts(texts)]
  const first = { a: 1 }
  one.remember(WORDS, first, 1)
  assert.equal(one.recall(WORDS), undefined, 'what was read once may never come again')
  assert.ok(!recurs(one, first))
  const second = { a: 1 }
  one.remember(WORDS, second, 1)
  assert.deepEqual([one.recall(WORDS)?.part, one.recall(WORDS)?.keys], [second, 1])
  assert.ok(recurs(one, second) && !recurs(other, second))
  assert.equal(other.recall(WORDS), undefined, 'the same words may mean something else there')
})

test('what is too short or too long is not remembered', () => {
  const { parts } = partsForTest()
  for (const text of ['x'.repeat(63), 'x'.repeat(16_385)]) {
    for (let turn = 0; turn < 2; turn++) parts.remember(text, { a: 1 }, 1)
    assert.equal(parts.recall(text), undefined)
  }
})

test('what is said of a known part is found out once, and of any other every time', () => {
  const { parts, known } = partsForTest()
  let asked = 0
  const size = (part: Fields) => {
    asked++
    return Object.keys(part).length
  }
  const part = known({ a: 1 })
  assert.deepEqual([parts.once(part, size), parts.once(part, size), asked], [1, 1, 1])
  const own = { a: 1, b: 2 }
  assert.deepEqual([parts.once(own, size), parts.once(own, size), noParts.once(part, size), asked], [2, 2, 1, 4])
})

test('what does not recur passes no test, and nothing is made of it where only what is known is asked for', () => {
  const { parts, known } = partsForTest()
  const never = (): never => assert.fail('asked of what does not recur')
  for (const part of [{ a: 1 }, 'text', undefined, null]) {
    assert.equal(parts.holds(part, never), false)
    assert.equal(parts.fromKnown(part, never), undefined)
  }
  const part = known({ a: 1 })
  assert.equal(noParts.holds(part, never), false)
  assert.equal(noParts.fromKnown(part, never), undefined)
  const marked = (one: object) => ({ ...one, mark: true })
  assert.deepEqual(parts.fromKnown(part, marked), { a: 1, mark: true })
  assert.equal(parts.fromKnown(part, marked), parts.from<object>(part, marked))
  assert.deepEqual([parts.holds(part, (one: Fields) => one['a'] === 1), parts.holds(part, () => false)], [true, false])
})

test('a part that is known stays as it is when it is read again', () => {
  const { parts } = partsForTest()
  for (let turn = 0; turn < 2; turn++) parts.remember(WORDS, { turn }, 1)
  const first = parts.recall(WORDS)
  parts.remember(WORDS, first?.part as Fields, 2)
  assert.equal(parts.recall(WORDS), first)
})

test('undefined is an answer, and an error is none', () => {
  const { parts, known } = partsForTest()
  let asked = 0
  const find = (part: Fields) => {
    asked++
    if (asked === 1) throw new Error('not yet')
    return part['missing']
  }
  const part = known({})
  assert.throws(() => parts.once(part, find))
  assert.deepEqual([parts.once(part, find), parts.once(part, find), asked], [undefined, undefined, 2])
})

test('what is made of a known part is known, and nothing else is', () => {
  const { parts, known } = partsForTest()
  const marked = (part: Fields): Fields => ({ ...part, mark: true })
  const part = known({ a: 1 })
  assert.equal(parts.from(part, marked), parts.from(part, marked))
  assert.ok(recurs(parts, parts.from(part, marked)))
  const own = { a: 1 }
  assert.notEqual(parts.from(own, marked), parts.from(own, marked))
  assert.ok(!recurs(parts, parts.from(own, marked)))
})

test('equal changes of a known part are one part; different ones, also of a field to undefined, are not', () => {
  const { parts, known } = partsForTest()
  const part = known<Fields>({ a: 1, b: 2 })
  const made = parts.changed(part, { b: 3, c: 'x' })
  assert.deepEqual(made, { a: 1, b: 3, c: 'x' })
  assert.equal(parts.changed(part, { b: 3, c: 'x' }), made)
  for (const changes of [
    { b: 3 },
    { b: 3, c: 'y' },
    { b: 3, d: 'x' },
    { b: 3, c: 'x', d: undefined },
    { b: 3, c: undefined },
  ])
    assert.deepEqual(parts.changed(part, changes), { ...part, ...changes })
  for (let i = 0; i < 100; i++) assert.deepEqual(parts.changed(part, { i }), { a: 1, b: 2, i })
  assert.equal(parts.changed(part, { b: 3, c: 'x' }), made, 'however many others there were')
  assert.ok(!recurs(parts, parts.changed(part, { list: [1] })), 'a value that is not compared')
})

const name = (standIn: Fields, text: string): Fields => ({ ...standIn, name: text })
const write = (part: object) => JSON.stringify(part)

test('of a part that differs by its name alone all is known but what depends on the name', () => {
  const { parts, known } = partsForTest()
  let asked = 0
  const size = (part: Fields) => {
    asked++
    return Object.keys(part).length
  }
  const sized = (part: Fields): Fields => ({ ...part, size: 7 })
  const standIn = known({ name: '?', a: 1 })
  const [b, c] = ['b', 'c'].map((text) => parts.named(standIn, text, name)) as [Fields, Fields]
  assert.deepEqual(
    [b, c],
    [
      { name: 'b', a: 1 },
      { name: 'c', a: 1 },
    ],
  )
  assert.deepEqual([parts.once(b, size), parts.once(c, size), asked], [2, 2, 1])
  assert.deepEqual(parts.from(b, sized), { name: 'b', a: 1, size: 7 })
  assert.deepEqual(parts.changed(parts.from(b, sized), { a: 2 }), { name: 'b', a: 2, size: 7 })
  assert.ok(recurs(parts, parts.changed(parts.from(b, sized), { a: 2 })))
  assert.equal(
    parts.from(b, (part) => part),
    b,
  )
  assert.deepEqual(
    parts.ofThisVery(b, (part) => ({ is: part['name'] })),
    { is: 'b' },
  )
  assert.deepEqual(
    parts.ofThisVery(c, (part) => ({ is: part['name'] })),
    { is: 'c' },
  )
})

test('a known part is written once, and with a name as if it were written anew', () => {
  const { parts, known } = partsForTest()
  let written = 0
  const counted = (part: object) => {
    written++
    return write(part)
  }
  for (const standIn of [known({ name: '?', a: '"?"' }), known({ name: '?', a: '%name%' })]) {
    for (const text of ['b', 'c', 'd']) {
      const made = parts.named(standIn, text, name)
      const how = parts.written(made, counted)
      assert.equal(how?.text() ?? write(made), write(made))
      assert.deepEqual(how?.part() ?? made, made)
    }
    const plain = parts.written(standIn, counted)
    assert.deepEqual([plain?.text(), plain?.part()], [write(standIn), standIn])
  }
  assert.ok(written <= 5, `${written} times`)
  assert.equal(parts.written({ a: 1 }, counted), undefined)
  assert.equal(parts.written('text', counted), undefined)
})

test('a known part cannot be written to in tests, nor one that was named', () => {
  const { parts, known } = partsForTest()
  const part = known({ inner: { a: 1 } })
  const named = parts.named(part, 'b', name) as typeof part
  for (const one of [part, named])
    assert.throws(() => {
      one.inner.a = 2
    }, TypeError)
})
