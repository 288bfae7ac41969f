/** A question without a name: which of the cascades in a journal are told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeptRecord } from '../../api/journal.ts'
import type { Kinds } from '../kinds.ts'
import { tell, timelineAs } from './ask.ts'

const record = (revision: number, more: Partial<KeptRecord> & Pick<KeptRecord, 'name' | 'before'>): KeptRecord => ({
  revision,
  time: 1000 * revision,
  group: '',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'shop',
  uid: more.name,
  verb: 'delete',
  subresource: '',
  user: 'kubernetes-admin',
  userAgent: 'kubectl/v1.37.1',
  ...more,
})
const held = { finalizers: ['acme.test/x'] }
const records = [
  record(1, { name: 'kept', before: {}, after: held, verb: 'patch' }),
  record(2, { name: 'a', before: {} }),
  record(3, {
    name: 'b',
    namespace: 'other',
    before: held,
    after: { ...held, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }),
  record(4, { name: 'shop', namespace: '', resource: 'namespaces', kind: 'Namespace', before: {} }),
]
const told = (namespace?: string) =>
  tell(records, {} as Kinds, { cascade: false, ...(namespace === undefined ? {} : { namespace }) }, 'journal').map(
    ({ object }) => object.name,
  )

test('all in which anything was marked or removed, and not what was only given a finalizer', () => {
  assert.deepEqual(told(), ['a', 'b', 'shop'])
})

test('with a namespace those that have to do with it', () => {
  assert.deepEqual(told('shop'), ['a', 'shop'])
  assert.deepEqual(told('other'), ['b'])
  assert.deepEqual(told('none'), [])
})

test('what began a cascade is told with its reason, unless a user just asked for it', () => {
  const pod = { resource: 'pods', kind: 'Pod', name: 'p', before: {} }
  const evicted = record(1, { ...pod, verb: 'create', subresource: 'eviction', after: { deletionTimestamp: 'x' } })
  const collected = record(2, { ...pod, uid: 'q', user: 'system:serviceaccount:kube-system:replicaset-controller' })
  const text = timelineAs(
    'text',
    tell([record(0, { name: 'a', before: {} }), evicted, collected], {} as Kinds, { cascade: true }, 'journal'),
    'v',
  )
  assert.match(text, /configmaps\/a removed by kubernetes-admin$/m)
  assert.match(text, /pods\/p marked by kubernetes-admin \(known: kubernetes-admin asked for its eviction\)$/m)
  assert.match(text, /removed by replicaset controller \(inferred: there are more pods than are wanted\)$/m)
})
