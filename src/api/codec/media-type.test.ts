import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mediaTypeOf } from './media-type.ts'

test('a type with parameters is the type; what is malformed is none', () => {
  for (const given of [
    'application/json',
    'Application/JSON',
    ' application/json;',
    'application/json; charset=utf-8;a="b;c"',
  ])
    assert.equal(mediaTypeOf(given), 'application/json', given)
  for (const given of [';', 'application/json;;', 'application/json;charset', 'application/json x', 'a/b;c=d;C=e'])
    assert.equal(mediaTypeOf(given), undefined, given)
  assert.equal(mediaTypeOf(''), '')
})
