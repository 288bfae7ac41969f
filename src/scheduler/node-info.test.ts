import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCluster, labelsOf, taintsOf } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { node, pod } from './test-objects.ts'

const owned = (name: string, uid: string) => {
  const made = pod(name, {}, { requests: { cpu: '100m', 'example.com/gpu': '1' }, ports: [{ hostPort: 80 }] })
  return podInfoOf({
    ...made,
    metadata: {
      ...made.metadata,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true }],
    },
  })
}
const contents = (cluster: ReturnType<typeof createCluster>, name: string) => {
  const found = cluster.nodes.get(name)
  return (
    found && {
      pods: [...found.pods.keys()],
      requested: Object.fromEntries(found.requested),
      assumed: Object.fromEntries(found.assumed),
      ports: found.ports.map(({ port }) => port),
    }
  )
}
const MEMORY = 200 * 1024 * 1024

test('a node adds up what its pods ask for, and forgets it with them', () => {
  const cluster = createCluster()
  cluster.setNode(node('a'))
  cluster.setPod(owned('p', 'r'), 'a')
  cluster.setPod(owned('q', 'r'), 'a')
  assert.deepEqual(contents(cluster, 'a'), {
    pods: ['default/p', 'default/q'],
    requested: { cpu: 200, 'example.com/gpu': 2 },
    assumed: { cpu: 200, memory: 2 * MEMORY },
    ports: [80, 80],
  })
  cluster.removePod('default/p')
  cluster.removePod('default/p')
  assert.deepEqual(contents(cluster, 'a'), {
    pods: ['default/q'],
    requested: { cpu: 100, 'example.com/gpu': 1 },
    assumed: { cpu: 100, memory: MEMORY },
    ports: [80],
  })
  cluster.removePod('default/q')
})

test('a pod told of again counts once, where it is now and as it is now', () => {
  const cluster = createCluster()
  cluster.setNode(node('a'))
  cluster.setNode(node('b'))
  cluster.setPod(owned('p', 'r'), 'a')
  cluster.setPod(podInfoOf(pod('p', {}, { requests: { cpu: '1' } })), 'b')
  assert.deepEqual(contents(cluster, 'a')?.pods, [])
  assert.deepEqual(contents(cluster, 'a')?.requested, { cpu: 0, 'example.com/gpu': 0 })
  assert.deepEqual(contents(cluster, 'b')?.requested, { cpu: 1000 })
})

test('amounts beyond 53 bits stay exact', () => {
  const cluster = createCluster()
  cluster.setNode(node('a', { allocatable: { 'example.com/x': '9007199254740993' } }))
  assert.equal(cluster.nodes.get('a')?.allocatable.get('example.com/x'), 9007199254740993n)
  const large = pod('p', {}, { requests: { 'example.com/x': '9007199254740993' } })
  cluster.setPod(podInfoOf(large), 'a')
  cluster.setPod(podInfoOf({ ...large, metadata: { ...large.metadata, name: 'q' } }), 'a')
  assert.equal(cluster.nodes.get('a')?.requested.get('example.com/x'), 18014398509481986n)
})

test('nodes are those that exist, in the order they came; pods may be known before their node', () => {
  const cluster = createCluster()
  cluster.setPod(owned('p', 'r'), 'late')
  assert.deepEqual(cluster.ready(), [])
  cluster.setNode(node('first'))
  cluster.setNode(node('late', { labels: { zone: 'x' }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }))
  const names = () => cluster.ready().map(({ name }) => name)
  assert.deepEqual(names().toSorted(), ['first', 'late'])
  const late = cluster.nodes.get('late')!
  assert.deepEqual([labelsOf(late)['zone'], taintsOf(late).length], ['x', 1])
  assert.deepEqual(contents(cluster, 'late')?.pods, ['default/p'])
  cluster.removeNode('late')
  assert.deepEqual(names(), ['first'])
  assert.deepEqual(contents(cluster, 'late')?.pods, ['default/p'], 'its pod is still there')
  cluster.removePod('default/p')
  assert.equal(cluster.nodes.has('late'), false)
  cluster.removeNode('first')
  assert.deepEqual([names(), cluster.nodes.size], [[], 0])
})

test("a node's amounts are its allocatable ones, or its capacity where it says none", () => {
  const cluster = createCluster()
  const made = node('a', { allocatable: { cpu: '1500m' } })
  cluster.setNode(made)
  assert.equal(cluster.nodes.get('a')?.allocatable.get('cpu'), 1500)
  cluster.setNode({ ...made, status: { capacity: { cpu: '3' } } })
  assert.equal(cluster.nodes.get('a')?.allocatable.get('cpu'), 3000)
})

test('pods with required anti-affinity are known with their nodes as long as they are there', () => {
  const cluster = createCluster()
  cluster.setNode(node('a'))
  const term = { topologyKey: 'zone', labelSelector: {} }
  const apart = pod('p', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } })
  cluster.setPod(podInfoOf(apart), 'a')
  cluster.setPod(podInfoOf(pod('q')), 'a')
  assert.deepEqual(
    [...cluster.withAntiAffinity].map(([key, { node: at }]) => [key, at.name]),
    [['default/p', 'a']],
  )
  cluster.setPod(podInfoOf(pod('p')), 'a')
  assert.equal(cluster.withAntiAffinity.size, 0)
})
