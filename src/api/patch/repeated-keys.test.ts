import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../object.ts'
import { repeatedKeys } from './repeated-keys.ts'

test('keys that a patch has twice are found with their paths, each once, at any depth', () => {
  const found = (text: string) => repeatedKeys(Buffer.from(text), JSON.parse(text) as Json)
  assert.deepEqual(found('{"data":{"a":"1","b":"2"}}'), [])
  assert.deepEqual(found('{"data":{"a":"1","a":"1","a":"2"},"data":{"b":"1"}}'), ['data.a', 'data'])
  assert.deepEqual(found('[{"op":"add","path":"/a","value":1,"value":{"x":1,"x":2}}]'), ['[0].value', '[0].value.x'])
  assert.deepEqual(found(`${'['.repeat(2000)}${']'.repeat(2000)}`), [])
})

test('a value that was replaced may nest as deep as JSON may, and no deeper', () => {
  const replaced = (depth: number) => {
    const text = Buffer.from(`{"data":${'['.repeat(depth)}${']'.repeat(depth)},"data":{"x":"2"}}`)
    return repeatedKeys(text, { data: { x: '2' } })
  }
  assert.deepEqual(replaced(3000), ['data'])
  assert.deepEqual(replaced(9000), ['data'])
  assert.throws(() => replaced(20_000), { code: 400, message: 'invalid JSON patch' })
})
