/** What the end of some objects may take along unseen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unlistedBeside } from './partly-read.ts'
import type { ReadCluster } from './read-cluster.ts'

test('an aggregated API that does not answer hides what a namespace takes along; what is only measured is none of it', () => {
  const kinds = { stale: ['agg.test/v1', 'metrics.k8s.io/v1beta1'] } as unknown as ReadCluster['kinds']
  const read: ReadCluster = {
    time: 0,
    kinds,
    resources: [],
    beyond: [],
    namespaces: undefined,
    unread: [],
    partly: new Map(),
  }
  const of = (resource: string, namespace: string) =>
    unlistedBeside(read, { ending: [{ group: '', resource, namespace, name: 'team' }], changed: [] })
  assert.deepEqual(of('namespaces', ''), ['agg.test/v1'])
  assert.deepEqual(of('configmaps', 'team'), [])
})
