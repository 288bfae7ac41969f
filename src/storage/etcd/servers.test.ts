import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyPrefix } from './servers.ts'

test('a prefix of keys is read as Kubernetes reads it: a path from the root, with no slash at its end', () => {
  for (const [text, prefix] of [
    ['/registry', '/registry'],
    ['foo', '/foo'],
    ['/foo/', '/foo'],
    ['a//b/../c', '/a/c'],
    ['', ''],
    ['/', ''],
  ] as const)
    assert.equal(keyPrefix(text), prefix, text)
})
