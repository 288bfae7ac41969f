import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { createNameTable } from './names-in-use.ts'

const definition = (names: object, accepted = true, group = 't.org') =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {},
    spec: { group },
    status: {
      acceptedNames: names,
      conditions: [{ type: 'NamesAccepted', status: accepted ? 'True' : 'False' }],
    },
  }) as unknown as KubeObject

test('a name is in use for every definition of the group but its own', () => {
  const names = createNameTable()
  names.put('as.t.org', definition({ plural: 'as', singular: 'a', shortNames: ['x'], kind: 'A', listKind: 'AList' }))
  for (const name of ['as', 'a', 'x']) {
    assert.ok(names.isResource('t.org', name, 'bs.t.org'), name)
    assert.ok(!names.isResource('t.org', name, 'as.t.org'), name)
    assert.ok(!names.isResource('u.org', name, 'bs.u.org'), name)
    assert.ok(!names.isKind('t.org', name, 'bs.t.org'), name)
  }
  for (const name of ['A', 'AList']) assert.ok(names.isKind('t.org', name, 'bs.t.org'), name)
  names.put('bs.t.org', definition({ plural: 'as' }))
  assert.ok(names.isResource('t.org', 'as', 'as.t.org'), 'two have it')
})

test('who waits is named when a name becomes free, and only then', () => {
  const names = createNameTable()
  names.put('as.t.org', definition({ plural: 'as', kind: 'A' }))
  names.put('bs.t.org', definition({ plural: 'bs' }, false))
  names.put('cs.t.org', definition({ plural: 'cs' }))
  names.put('ds.u.org', definition({ plural: 'ds' }, false, 'u.org'))
  assert.deepEqual(names.put('as.t.org', definition({ plural: 'as', kind: 'A', shortNames: ['a'] })), [])
  assert.deepEqual(names.put('as.t.org', definition({ plural: 'as', kind: 'B', shortNames: ['a'] })), ['bs.t.org'])
  assert.deepEqual(names.put('as.t.org', undefined), ['bs.t.org'])
  assert.ok(!names.isResource('t.org', 'as', 'bs.t.org'))
  assert.deepEqual(names.put('as.t.org', undefined), [])
  names.put('bs.t.org', definition({ plural: 'bs', kind: 'A' }))
  assert.deepEqual(names.put('cs.t.org', undefined), [])
})
