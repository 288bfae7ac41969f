import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { createOwnWrites, isOlderVersion } from './own-writes.ts'

const object = (resourceVersion: string, uid = 'u'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid, resourceVersion },
})

test('an informer is behind until it has shown the own write', () => {
  const writes = createOwnWrites()
  assert.equal(writes.isBehind('n/a', object('9')), false)
  writes.wrote('n/a', object('10'))
  assert.equal(writes.isBehind('n/a', object('9')), true)
  assert.equal(writes.isBehind('n/b', object('9')), false)
  assert.equal(writes.isBehind('n/a', object('11')), false)
})

test('an object of the same name that came afterwards is not waited for', () => {
  const writes = createOwnWrites()
  writes.wrote('n/a', object('10'))
  assert.equal(writes.isBehind('n/a', object('9', 'other')), false)
  writes.wrote('n/a', object('10'))
  writes.forget('n/a')
  assert.equal(writes.isBehind('n/a', object('9')), false)
})

test('resource versions are compared as numbers', () => {
  assert.equal(isOlderVersion('9', '10'), true)
  assert.equal(isOlderVersion('10', '9'), false)
  assert.equal(isOlderVersion('10', '10'), false)
  assert.equal(isOlderVersion(undefined, '10'), false)
})
