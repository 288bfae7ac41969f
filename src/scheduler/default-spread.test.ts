import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import { createBelongsTogether } from './default-spread.ts'
import { prefilter } from './filters.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { totalScores } from './scores.ts'
import { node, pod } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'

const made = (kind: string, name: string, spec: object): KubeObject =>
  ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default', uid: name }, spec }) as KubeObject
const service = (name: string, selector: object | undefined) => made('Service', name, { selector })
const ownedBy = (apiVersion: string, kind: string, name: string, one: KubeObject): KubeObject => ({
  ...one,
  metadata: { ...one.metadata, ownerReferences: [{ apiVersion, kind, name, uid: name, controller: true }] },
})
const labelled = (name: string, labels: Record<string, string>) => pod(name, {}, { labels })

async function started(objects: Readonly<Record<string, readonly KubeObject[]>> = {}) {
  const it = startSchedulerStandIn()
  for (const [resource, list] of Object.entries(objects)) for (const one of list) it.put(resource, one)
  const together = createBelongsTogether(it.informers)
  it.informers.start()
  await it.runtime.complete(together.whenSynced(it.options.signal))
  const matches = (one: KubeObject, labels: Record<string, string>) =>
    together.selectorOf(podInfoOf(one))?.selector.matches(labels)
  return { together, matches }
}

test('a pod belongs to the pods of the Services that select it, of all of them together', async () => {
  const { matches } = await started({
    services: [
      service('a', { app: 'web' }),
      service('b', { tier: 'front' }),
      service('c', { app: 'db' }),
      service('d', undefined),
    ],
  })
  const one = labelled('p', { app: 'web', tier: 'front', other: 'x' })
  assert.equal(matches(one, { app: 'web', tier: 'front' }), true)
  assert.equal(matches(one, { app: 'web' }), false)
  assert.equal(matches(labelled('q', { app: 'cache' }), { app: 'cache' }), undefined, 'it belongs to none')
})

test('a pod belongs to those of its workload', async () => {
  const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'hash', operator: 'In', values: ['1'] }] }
  const { matches } = await started({
    replicasets: [made('ReplicaSet', 'r', { selector })],
    statefulsets: [made('StatefulSet', 's', { selector: { matchLabels: { app: 'db' } } })],
    replicationcontrollers: [made('ReplicationController', 'c', { selector: { app: 'old' } })],
  })
  const own = (apiVersion: string, kind: string, name: string) =>
    ownedBy(apiVersion, kind, name, labelled('p', { x: 'y' }))
  const replica = own('apps/v1', 'ReplicaSet', 'r')
  assert.deepEqual(
    [matches(replica, { app: 'web', hash: '1' }), matches(replica, { app: 'web', hash: '2' })],
    [true, false],
  )
  assert.equal(matches(own('apps/v1', 'StatefulSet', 's'), { app: 'db' }), true)
  assert.equal(matches(own('v1', 'ReplicationController', 'c'), { app: 'old' }), true)
  assert.equal(
    matches(own('example.com/v1', 'ReplicaSet', 'r'), { app: 'web' }),
    undefined,
    'a workload of another group',
  )
})

test('zones are told apart before nodes, and a node without a zone is judged by its pods alone', async () => {
  const { together } = await started({ services: [service('a', { app: 'web' })] })
  const cluster = createCluster()
  const zoned = (name: string, zone: string) => node(name, { labels: { 'topology.kubernetes.io/zone': zone } })
  for (const one of [zoned('a1', 'a'), zoned('a2', 'a'), zoned('b1', 'b'), node('none')]) cluster.setNode(one)
  const web = (name: string) => podInfoOf(labelled(name, { app: 'web' }))
  cluster.setPod(web('x'), 'a1')
  cluster.setPod(web('y'), 'a1')
  const info = web('p')
  const state = prefilter(info, cluster, () => ({}), undefined, together.selectorOf)
  const scores = totalScores(info, cluster.ready(), state)
  const of = Object.fromEntries(cluster.ready().map(({ name }, i) => [name, scores[i] as number]))
  assert.ok((of['b1'] as number) > (of['a2'] as number), 'another zone')
  assert.ok((of['a2'] as number) > (of['a1'] as number), 'another node of the zone')
  assert.ok((of['none'] as number) > (of['b1'] as number), 'no zone is no crowd')
})

test('what was counted is counted again when the node has changed, without pods that are being deleted', async () => {
  const { together } = await started({ services: [service('a', { app: 'web' })] })
  const cluster = createCluster()
  cluster.setNode(node('n'))
  const on = () => together.selectorOf(podInfoOf(labelled('p', { app: 'web' })))?.countOn(cluster.ready()[0]!)
  const counts = [on()]
  const one = labelled('x', { app: 'web' })
  cluster.setPod(podInfoOf(one), 'n')
  cluster.setPod(podInfoOf(labelled('other', { app: 'db' })), 'n')
  counts.push(on())
  cluster.setPod(podInfoOf({ ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }), 'n')
  counts.push(on())
  assert.deepEqual(counts, [0, 1, 0])
})
