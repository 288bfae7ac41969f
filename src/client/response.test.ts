import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../api/codec/json.ts'
import { responseObject, responseText } from './response.ts'

test('integers beyond the digits of a double come out of an answer as they are', () => {
  const text = '{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{},"revision":3546343826724305833}'
  const bytes = [Buffer.from(text)]
  const object = responseObject({ kind: 'bytes', status: 200, contentType: 'application/json', bytes })
  assert.equal(jsonText(object), text)
  assert.equal(responseText({ kind: 'object', status: 200, object }), text)
})
