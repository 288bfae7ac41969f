import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asObject, asText, asTexts } from './unchecked.ts'

test('what is not of the type that it should be counts as not there', () => {
  for (const value of [undefined, null, 1, true, 'text', ['a']]) assert.deepEqual(asObject(value), {})
  for (const value of [undefined, null, 1, true, 'text', { a: 1 }]) assert.deepEqual(asList(value), [])
  for (const value of [undefined, null, 1, true, ['a'], { a: 1 }]) assert.equal(asText(value), '')
  assert.deepEqual(asTexts(['a', 1, null, 'b', ['c']]), ['a', 'b'])
})

test('what is of the type that it should be is the very value', () => {
  const [object, list] = [{ a: 1 }, ['a']]
  assert.equal(asObject(object), object)
  assert.equal(asList(list), list)
  assert.equal(asText('a'), 'a')
})
