import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { maxSurge, maxUnavailable, newSetReplicas } from './max-surge-max-unavailable.ts'
import { proportionalSizes } from './proportional-scaling.ts'

const deployment = (replicas: number, rollingUpdate: Fields, type = 'RollingUpdate'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas, strategy: { type, rollingUpdate } },
})
const set = (name: string, replicas: number, second = 0): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  spec: { replicas },
})

test('of a share the surge rounds up and what may be missing rounds down, and never are both nothing', () => {
  const quarters = { maxSurge: '25%', maxUnavailable: '25%' }
  for (const [replicas, surge, unavailable] of [
    [1, 1, 0],
    [4, 1, 1],
    [5, 2, 1],
    [10, 3, 2],
  ] as const) {
    assert.equal(maxSurge(deployment(replicas, quarters)), surge)
    assert.equal(maxUnavailable(deployment(replicas, quarters)), unavailable)
  }
  const nothing = deployment(3, { maxSurge: 0, maxUnavailable: '10%' })
  assert.deepEqual([maxSurge(nothing), maxUnavailable(nothing)], [0, 1])
  assert.equal(maxUnavailable(deployment(2, { maxSurge: 0, maxUnavailable: 5 })), 2)
  assert.equal(maxUnavailable(deployment(0, { maxSurge: 0, maxUnavailable: 5 })), 0)
  const recreated = deployment(4, quarters, 'Recreate')
  assert.deepEqual([maxSurge(recreated), maxUnavailable(recreated)], [0, 0])
})

test('the new replica set grows by what room there is, and never beyond what is wanted', () => {
  const wanted = deployment(4, { maxSurge: 1, maxUnavailable: 0 })
  for (const [old, now, expected] of [
    [4, 0, 1],
    [4, 1, 1],
    [3, 1, 2],
    [0, 3, 4],
    [0, 4, 4],
  ] as const) {
    const fresh = set('new', now)
    assert.equal(newSetReplicas(wanted, [set('old', old), fresh], fresh), expected)
  }
})

test('a change of size amid a rollout is shared, and the largest, written first, takes what rounding leaves over', () => {
  const sizes = (wanted: KubeObject, ...sets: KubeObject[]) =>
    [...proportionalSizes(wanted, sets)].map(([{ metadata }, size]) => `${metadata.name}: ${size}`).join()
  const annotated = (object: KubeObject, most: number): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, annotations: { 'deployment.kubernetes.io/max-replicas': String(most) } },
  })
  const old = annotated(set('old', 8, 1), 13)
  const fresh = annotated(set('new', 5, 2), 13)
  assert.equal(sizes(deployment(15, { maxSurge: 3, maxUnavailable: 2 }), fresh, old), 'old: 11,new: 7')
  const thirds = ['a', 'b', 'c'].map((name, second) => annotated(set(name, 1, second), 3))
  assert.equal(sizes(deployment(4, { maxSurge: 0, maxUnavailable: 1 }), ...thirds), 'c: 2,b: 1,a: 1')
})
