import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Owner, SceneObject } from '../protocol.ts'
import { type Graph, graphOf } from './model.ts'

const object = (uid: string, more: Partial<SceneObject> = {}): SceneObject => ({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'a',
  name: uid,
  uid,
  created: '',
  finalizers: [],
  owners: [],
  ...more,
})
const owner = (uid: string, more: Partial<Owner> = {}): Owner => ({
  uid,
  kind: 'ConfigMap',
  name: uid,
  controller: false,
  blocks: false,
  ...more,
})
const graph = (...objects: SceneObject[]): Graph => graphOf(new Map(objects.map((one) => [one.uid, one])))

test('an object stands below the owner that manages it, its other owners are kept', () => {
  const { nodes, frames } = graph(
    object('a'),
    object('b'),
    object('c', { owners: [owner('a'), owner('b', { controller: true })] }),
  )
  assert.equal(nodes.get('c')?.parent, 'b')
  assert.deepEqual(nodes.get('c')?.alsoOwnedBy, ['a'])
  assert.deepEqual(nodes.get('b')?.children, ['c'])
  assert.deepEqual(frames, [{ namespace: 'a', roots: ['a', 'b'] }])
})

test('owners in a circle, and one that owns itself, are drawn all the same', () => {
  const { nodes, frames } = graph(
    object('a', { owners: [owner('c')] }),
    object('b', { owners: [owner('a')] }),
    object('c', { owners: [owner('b')] }),
    object('d', { owners: [owner('d')] }),
  )
  assert.equal(nodes.size, 4)
  const reached = new Set<string>()
  const walk = (uid: string) => {
    reached.add(uid)
    for (const child of nodes.get(uid)?.children ?? []) walk(child)
  }
  for (const { roots } of frames) for (const root of roots) walk(root)
  assert.equal(reached.size, 4)
})

test('an owner that is not there is shown as absent', () => {
  const { nodes } = graph(object('a', { owners: [owner('gone', { kind: 'Deployment' })] }))
  assert.deepEqual(
    [nodes.get('gone')?.standing, nodes.get('gone')?.kind, nodes.get('gone')?.children],
    ['absent', 'Deployment', ['a']],
  )
})

test('what holds what: blocking dependents of a foreground deletion, and what is held in a namespace that goes', () => {
  const deleted = '2026-01-01T00:00:00Z'
  const { nodes } = graph(
    object('owner', { deleted, finalizers: ['foregroundDeletion'] }),
    object('blocks', { owners: [owner('owner', { blocks: true })] }),
    object('lets', { owners: [owner('owner')] }),
    object('space', {
      resource: 'namespaces',
      kind: 'Namespace',
      namespace: '',
      name: 'a',
      deleted,
      finalizers: ['kubernetes'],
    }),
    object('held', { deleted, finalizers: ['x'] }),
    object('goes', { deleted }),
  )
  const holds = (uid: string) => nodes.get(uid)?.holds
  assert.deepEqual(['blocks', 'lets', 'held', 'goes'].map(holds), [['owner'], [], ['space'], []])
  assert.deepEqual(
    ['owner', 'blocks', 'held', 'goes'].map((uid) => nodes.get(uid)?.standing),
    ['held', 'there', 'held', 'going'],
  )
})

test('a search keeps what is found and all that it is connected with; without lone objects those that go stay', () => {
  const objects = new Map(
    [
      object('top'),
      object('middle', { owners: [owner('top')] }),
      object('low', { owners: [owner('middle')] }),
      object('other', { owners: [owner('top')] }),
      object('alone'),
      object('ends', { deleted: '2026-01-01T00:00:00Z' }),
    ].map((one) => [one.uid, one]),
  )
  assert.deepEqual([...graphOf(objects, { search: 'MIDD' }).nodes.keys()].sort(), ['low', 'middle', 'top'])
  assert.equal(graphOf(objects, { hideAlone: true }).nodes.has('alone'), false)
  assert.equal(graphOf(objects, { hideAlone: true }).nodes.has('ends'), true)
})
