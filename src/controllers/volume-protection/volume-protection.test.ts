import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { withFinalizer, withoutFinalizer } from './protection-finalizers.ts'

test('a finalizer comes after the others and goes alone; the last one leaves no list', () => {
  const object = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', finalizers: ['x'] } } as KubeObject
  const held = withFinalizer(object, 'y')
  assert.deepEqual(held.metadata.finalizers, ['x', 'y'])
  assert.ok(hasFinalizer(held, 'y'))
  assert.deepEqual(withoutFinalizer(held, 'x').metadata.finalizers, ['y'])
  assert.deepEqual(withoutFinalizer(object, 'x').metadata, { name: 'a' })
})
