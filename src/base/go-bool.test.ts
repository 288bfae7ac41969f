import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoBool } from './go-bool.ts'

test('booleans are what strconv.ParseBool takes, and nothing else is one', () => {
  for (const text of ['1', 't', 'T', 'true', 'True', 'TRUE']) assert.equal(parseGoBool(text), true, text)
  for (const text of ['0', 'f', 'F', 'false', 'False', 'FALSE']) assert.equal(parseGoBool(text), false, text)
  for (const text of ['', 'yes', 'tRUE', ' true', 'true\n', '2', 'on']) assert.equal(parseGoBool(text), undefined, text)
})
