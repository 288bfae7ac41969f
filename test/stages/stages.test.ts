/** Stages of KWOK play simulated pods and nodes, and objects of other kinds: by a clock that stands still until it is moved. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { simulationStages } from '../../src/cluster/simulation.ts'
import { allStages, nodeStarts, podIsLetGo, podStarts } from './stages.ts'

const at = (resource: string) => ({ group: '', version: 'v1', resource })
const podsOf = ({ client }: Cluster) => client.resource(at('pods')).namespace('default')

const pod = (name: string, nodeName: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { nodeName, containers: [{ name: 'a', image: 'a' }], terminationGracePeriodSeconds: 5 },
})

async function withCluster(stages: readonly KubeObject[], run: (cluster: Cluster) => Promise<void>, nodes = 2) {
  const simulation = { stages }
  const cluster = await startCluster({ storage: 'memory', clock: 'manual', nodes, simulation })
  try {
    await run(cluster)
  } finally {
    await cluster.stop()
  }
}

const isGone = (promise: Promise<unknown>) =>
  promise.then(
    () => false,
    (error) => error.code === 404,
  )

test('a pod begins, ends and is deleted when its stages say so, and its kubelet leaves it alone', async () => {
  await withCluster([podStarts, podIsLetGo], async (cluster) => {
    const pods = podsOf(cluster)
    await pods.create(pod('usual', 'skiff-1'))
    await pods.create(pod('slow', 'skiff-2', { annotations: { 'test/delay': '1m' } }))
    await cluster.clock.advance('9s')
    assert.equal((await pods.get('usual'))['status'].phase, 'Pending')
    await cluster.clock.advance('2s')
    const usual = await pods.get('usual')
    assert.equal(usual['status'].phase, 'Running')
    assert.match(usual['status'].podIP, /^10\.244\./)
    assert.equal(usual['status'].containerStatuses[0].ready, true)
    assert.deepEqual(usual.metadata.finalizers, ['test/held'])
    assert.equal((await pods.get('slow'))['status'].phase, 'Pending')
    await cluster.clock.advance('1m')
    assert.equal((await pods.get('slow'))['status'].phase, 'Running')
    assert.notEqual((await pods.get('slow'))['status'].podIP, usual['status'].podIP)
    const { items: events } = await cluster.client.resource(at('events')).namespace('default').list()
    assert.deepEqual(
      events.map((event) => event['reason']).filter((reason) => reason !== 'RegisteredNode'),
      ['Begun', 'Begun'],
    )

    await pods.delete('usual')
    await cluster.clock.advance('1s')
    assert.notEqual((await pods.get('usual')).metadata.deletionTimestamp, undefined)
    await cluster.clock.advance('2s')
    assert.ok(await isGone(pods.get('usual')))
  })
})

test('which stage comes next is chance by weight, which the object may say', async () => {
  await withCluster(
    allStages.filter(({ metadata }) => metadata.name !== 'node-starts'),
    async (cluster) => {
      const pods = podsOf(cluster)
      const labels = { ends: 'yes' }
      for (let i = 0; i < 30; i++)
        await pods.create(pod(`p${i}`, 'skiff-1', { labels, annotations: { 'test/fails': '4' } }))
      await pods.create(pod('sure', 'skiff-1', { labels, annotations: { 'test/fails': '0' } }))
      await pods.create(pod('runs-on', 'skiff-1'))
      await cluster.clock.advance('1m')
      const { items } = await pods.list()
      const phases = items.map((one) => `${one.metadata.name?.replace(/\d+$/, '')} ${one['status'].phase}`)
      assert.deepEqual([...new Set(phases)].sort(), ['p Failed', 'p Succeeded', 'runs-on Running', 'sure Succeeded'])
      // Four to two: fewer than a third of 30 by chance are one in thousands.
      assert.ok(phases.filter((phase) => phase === 'p Failed').length >= 10, phases.join(', '))
    },
  )
})

test('nodes of the cluster and nodes that users make for KWOK are what stages say, and are not lost', async () => {
  await withCluster([nodeStarts, podStarts], async (cluster) => {
    const nodes = cluster.client.resource(at('nodes'))
    await nodes.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'made-by-hand', annotations: { 'kwok.x-k8s.io/node': 'fake' } },
      spec: {},
    })
    await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'of-others' }, spec: {} })
    await podsOf(cluster).create(pod('on-it', 'made-by-hand'))
    await podsOf(cluster).create(pod('elsewhere', 'of-others'))
    await cluster.clock.advance('5m')
    const readyOf = async (name: string) =>
      (await nodes.get(name))['status'].conditions.find((one: { type: string }) => one.type === 'Ready')?.status
    assert.deepEqual(await Promise.all(['skiff-1', 'skiff-2', 'made-by-hand'].map(readyOf)), ['True', 'True', 'True'])
    assert.equal(await readyOf('of-others'), 'Unknown')
    assert.equal((await nodes.get('skiff-1'))['status'].capacity.cpu, '4')
    const started = await podsOf(cluster).get('on-it')
    assert.equal(started['status'].phase, 'Running')
    assert.match(started['status'].podIP, /^10\.200\./)
    assert.equal((await podsOf(cluster).get('elsewhere'))['status'].phase, 'Pending')
  })
})

test('objects of other kinds have stages too, and these make others', async () => {
  await withCluster(
    allStages,
    async (cluster) => {
      const maps = cluster.client.resource(at('configmaps')).namespace('default')
      const wanted = { name: 'a', labels: { twin: 'wanted' } }
      const { metadata } = await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: wanted })
      await cluster.clock.advance('1s')
      assert.equal((await maps.get('a-twin'))['data'].of, metadata.uid)
      assert.equal((await maps.get('a')).metadata.annotations?.['done'], 'yes')
    },
    1,
  )
})

test('a Stage that is not understood ends the start in one line that names file, stage and field', async () => {
  const wrong = async (change: object, words: RegExp) =>
    assert.rejects(simulationStages({ stages: [{ ...podStarts, spec: { ...podStarts.spec, ...change } }] }), words)
  await wrong(
    { selector: { matchExpressions: [{ key: '.a |', operator: 'Exists' }] } },
    /Stage pod-starts: spec\.selector\.matchExpressions\[0\]\.key: \.a \|: unexpected end/,
  )
  await wrong({ selector: { matchExpressions: [{ key: '.a', operator: 'In' }] } }, /In needs some/)
  await wrong({ selector: { matchExpressions: [{ cel: { expression: 'self.' } }] } }, /cel\.expression: /)
  await wrong(
    { next: { statusTemplate: '{{ unknownFunction }}' } },
    /spec\.next\.statusTemplate: function "unknownFunction" not defined/,
  )
  await wrong({ next: { statusTempalte: '' } }, /spec\.next\.statusTempalte is not known/)
  await wrong({ delay: { durationMilliseconds: -1 } }, /durationMilliseconds must be a whole number/)
  await wrong({ resourceRef: { apiGroup: 'v1' } }, /spec\.resourceRef\.kind is missing/)
  await assert.rejects(simulationStages({ stages: [podStarts, podStarts] }), /two Stages of the name pod-starts/)
  await assert.rejects(
    simulationStages({ stages: [{ apiVersion: 'v1', kind: 'Pod', metadata: {} }] }),
    /a Stage of kwok/,
  )
  await assert.rejects(
    simulationStages({ stages: ['/none/such.yaml'] }),
    /open \/none\/such.yaml: no such file or directory: /,
  )
})
