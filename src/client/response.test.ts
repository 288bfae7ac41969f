import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../api/values/json.ts'
import { responseObject, responseText, wholeText } from './response.ts'

test('integers beyond the digits of a double come out of an answer as they are', () => {
  const text = '{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{},"revision":3546343826724305833}'
  const bytes = [Buffer.from(text)]
  const object = responseObject({ kind: 'bytes', status: 200, contentType: 'application/json', bytes })
  assert.equal(jsonText(object), text)
  assert.equal(responseText({ kind: 'object', status: 200, object }), text)
})

test('an answer that comes in pieces from another server is read whole, its letters too', async () => {
  const bytes = Buffer.from('{"node":"Zürich"}')
  async function* chunks() {
    yield bytes.subarray(0, 11)
    yield bytes.subarray(11)
  }
  const text = await wholeText({ kind: 'stream', status: 200, contentType: 'application/json', chunks: chunks() })
  assert.equal(text, '{"node":"Zürich"}')
})
