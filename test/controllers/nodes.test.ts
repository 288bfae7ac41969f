/** Node lifecycle, taint-based eviction and pod garbage collection with all controllers, on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { ControllerSettings } from '../../src/controllers/controller.ts'
import { namespace, type Stage, startStage } from '../scenarios/stage.ts'

const podsResource = { group: '', version: 'v1', resource: 'pods' }
const nodesResource = { group: '', version: 'v1', resource: 'nodes' }

async function stageOf(nodes: number, settings: ControllerSettings = {}) {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes, settings })
  const pods = stage.user.resource(podsResource).namespace(namespace)
  const all = stage.user.resource(nodesResource)
  return {
    stage,
    advance: (seconds: number) => runtime.advance(seconds * 1000),
    node: (name: string) => runtime.complete(all.get(name)),
    patchNode: (name: string, spec: Fields) => runtime.complete(all.patch(name, 'merge', { spec: spec as never })),
    deleteNode: (name: string) => runtime.complete(all.delete(name)),
    pod: (name: string) => runtime.complete(pods.get(name)).catch(() => undefined),
    createNode: (name: string) =>
      runtime.complete(all.create({ apiVersion: 'v1', kind: 'Node', metadata: { name } } as KubeObject)),
    patchStatus: (kind: 'node' | 'pod', name: string, status: Fields) =>
      runtime.complete(
        (kind === 'node' ? all : pods).patch(name, 'merge', { status: status as never }, { subresource: 'status' }),
      ),
    deletePod: (name: string) => runtime.complete(pods.delete(name)),
    create: (name: string, spec: Fields) =>
      runtime.complete(
        pods.create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
        } as unknown as KubeObject),
      ),
  }
}

const readyOf = (object: KubeObject): Fields =>
  (object['status'].conditions as readonly Fields[]).find(({ type }) => type === 'Ready') as Fields
const taintsOf = (node: KubeObject): readonly string[] =>
  ((node['spec'].taints ?? []) as readonly Fields[]).map(({ key, effect }) => `${key}:${effect}`).sort()
const unreachable = 'node.kubernetes.io/unreachable'

test('a node that is silent for 50 seconds is unknown and tainted, its pods are not ready; heard again, it recovers', async () => {
  const { stage, advance, node, pod, create } = await stageOf(2)
  await create('p', { nodeName: 'kwok-1' })
  await advance(5)
  stage.nodes.silence('kwok-1')
  await advance(40)
  assert.equal(readyOf(await node('kwok-1'))['status'], 'True')
  await advance(30)
  assert.equal(readyOf(await node('kwok-1'))['status'], 'Unknown')
  assert.deepEqual(taintsOf(await node('kwok-1')), [`${unreachable}:NoExecute`, `${unreachable}:NoSchedule`])
  assert.equal(readyOf((await pod('p')) as KubeObject)['status'], 'False')
  assert.deepEqual(taintsOf(await node('kwok-2')), [])
  stage.nodes.speak('kwok-1')
  await advance(30)
  assert.equal(readyOf(await node('kwok-1'))['status'], 'True')
  assert.deepEqual(taintsOf(await node('kwok-1')), [])
  await stage.stop()
})

test('pods that a kubelet calls ready stay so, though it calls its node not ready', async () => {
  const { stage, advance, pod, create, createNode, patchStatus } = await stageOf(1)
  await createNode('sick')
  const sick = (beat: number) => ({
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'KubeletNotReady',
        lastHeartbeatTime: new Date(Date.UTC(2026, 0, 1) + beat).toISOString().replace('.000', ''),
      },
    ],
  })
  await patchStatus('node', 'sick', sick(0))
  await create('p', { nodeName: 'sick' })
  await advance(6)
  await patchStatus('pod', 'p', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
  for (let beat = 1; beat <= 8; beat++) {
    await patchStatus('node', 'sick', sick(beat * 5000))
    await advance(5)
  }
  assert.equal(readyOf((await pod('p')) as KubeObject)['status'], 'True')
  await stage.stop()
})

test('pods leave a silent node when they no longer tolerate it, and stay when it is heard in time', async () => {
  const { stage, advance, pod, create } = await stageOf(3)
  const tolerations = (tolerationSeconds: number) => [
    { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
  ]
  await create('brief', { nodeName: 'kwok-1', tolerations: tolerations(10) })
  await create('long', { nodeName: 'kwok-1', tolerations: tolerations(600) })
  await create('saved', { nodeName: 'kwok-2', tolerations: tolerations(60) })
  stage.nodes.silence('kwok-1')
  stage.nodes.silence('kwok-2')
  await advance(90)
  stage.nodes.speak('kwok-2')
  await advance(90)
  assert.ok((await pod('brief'))?.metadata.deletionTimestamp)
  assert.equal((await pod('long'))?.metadata.deletionTimestamp, undefined)
  assert.equal((await pod('saved'))?.metadata.deletionTimestamp, undefined)
  await stage.stop()
})

test('when all nodes fall silent at once, none is told to lose its pods', async () => {
  const { stage, advance, node, pod, create } = await stageOf(2)
  await create('p', {
    nodeName: 'kwok-1',
    tolerations: [{ key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
  })
  stage.nodes.silence()
  await advance(300)
  assert.deepEqual(taintsOf(await node('kwok-1')), [`${unreachable}:NoSchedule`])
  assert.equal((await pod('p'))?.metadata.deletionTimestamp, undefined)
  await stage.stop()
})

test('an eviction that is due is moved by no other taint, sooner or later', async () => {
  const { stage, advance, patchNode, pod, create } = await stageOf(1)
  const tolerate = (key: string, tolerationSeconds: number) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  })
  await create('p', { nodeName: 'kwok-1', tolerations: [tolerate('a', 30), tolerate('b', 4), tolerate('c', 90)] })
  await advance(1)
  const taint = (...keys: readonly string[]) =>
    patchNode('kwok-1', { taints: keys.map((key) => ({ key, effect: 'NoExecute' })) })
  await taint('a')
  await advance(10)
  await taint('a', 'b')
  await advance(10)
  await taint('c')
  await advance(8)
  assert.equal((await pod('p'))?.metadata.deletionTimestamp, undefined)
  await advance(4)
  assert.equal(await pod('p'), undefined)
  await stage.stop()
})

test('a NoExecute taint drives out at once what does not tolerate it', async () => {
  const { stage, advance, patchNode, pod, create } = await stageOf(1)
  await create('goes', { nodeName: 'kwok-1' })
  await create('stays', { nodeName: 'kwok-1', tolerations: [{ operator: 'Exists' }] })
  await advance(1)
  await patchNode('kwok-1', { taints: [{ key: 'k', effect: 'NoExecute' }] })
  await advance(2)
  assert.equal(await pod('goes'), undefined)
  assert.equal((await pod('stays'))?.metadata.deletionTimestamp, undefined)
  await stage.stop()
})

test('pods of a node that is gone are collected, and one that is deleted before it had a node', async () => {
  const { stage, advance, deleteNode, deletePod, pod, create } = await stageOf(2)
  await create('p', { nodeName: 'kwok-1' })
  await create('nowhere', { nodeSelector: { none: 'such' }, terminationGracePeriodSeconds: 30 })
  await advance(1)
  stage.nodes.silence('kwok-1')
  await deleteNode('kwok-1')
  await deletePod('nowhere')
  await advance(120)
  assert.equal(await pod('p'), undefined)
  assert.equal(await pod('nowhere'), undefined)
  await stage.stop()
})

test('each node is given a range of the cluster’s, what is reserved is none’s, and one waits until another is gone', async () => {
  const nodeIpam = { clusterRanges: [{ cidr: '10.244.0.0/22', nodeMaskSize: 24 }], reserved: ['10.244.3.0/24'] }
  const { stage, advance, node, deleteNode } = await stageOf(4, { nodeIpam })
  await advance(1)
  const names = ['kwok-1', 'kwok-2', 'kwok-3', 'kwok-4']
  const ranges = async () => Promise.all(names.map(async (name) => (await node(name))['spec'].podCIDRs?.join()))
  assert.deepEqual(await ranges(), ['10.244.0.0/24', '10.244.1.0/24', '10.244.2.0/24', undefined])
  stage.nodes.silence('kwok-2')
  await deleteNode('kwok-2')
  await advance(5)
  assert.equal((await node('kwok-4'))['spec'].podCIDR, '10.244.1.0/24')
  await stage.stop()
})

test('of two ranges each node is given a piece of each, and none where one of them is used up', async () => {
  const clusterRanges = [
    { cidr: '10.244.0.0/16', nodeMaskSize: 24 },
    { cidr: 'fd00:10:244::/63', nodeMaskSize: 64 },
  ]
  const { stage, advance, node, deleteNode } = await stageOf(3, { nodeIpam: { clusterRanges } })
  await advance(1)
  const names = ['kwok-1', 'kwok-2', 'kwok-3']
  const ranges = await Promise.all(names.map(async (name) => (await node(name))['spec'].podCIDRs))
  assert.deepEqual(ranges, [['10.244.0.0/24', 'fd00:10:244::/64'], ['10.244.1.0/24', 'fd00:10:244:1::/64'], undefined])
  stage.nodes.silence('kwok-1')
  await deleteNode('kwok-1')
  await advance(5)
  assert.equal((await node('kwok-3'))['spec'].podCIDRs[1], 'fd00:10:244::/64')
  await stage.stop()
})

test('where no range is given to the controllers, nodes have none', async () => {
  const { stage, node } = await stageOf(1)
  assert.equal((await node('kwok-1'))['spec'].podCIDR, undefined)
  await stage.stop()
})

export type { Stage }

test('nodes are told of when they come and go, and their older labels follow the newer ones', async () => {
  const { stage, advance, node, deleteNode } = await stageOf(0)
  const { complete } = stage.runtime
  const namespaces = stage.user.resource({ group: '', version: 'v1', resource: 'namespaces' })
  await complete(namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }))
  await complete(stage.nodes.add('kwok-1'))
  await advance(10)
  const all = stage.user.resource(nodesResource)
  const label = (labels: Fields) => complete(all.patch('kwok-1', 'merge', { metadata: { labels: labels as never } }))
  const labels = async () => {
    await advance(1)
    const { 'beta.kubernetes.io/os': os, 'beta.kubernetes.io/arch': arch } =
      (await node('kwok-1')).metadata.labels ?? {}
    return [os, arch]
  }
  assert.deepEqual(await labels(), ['linux', undefined])
  await label({ 'beta.kubernetes.io/os': 'other', 'kubernetes.io/arch': 'arm64' })
  assert.deepEqual(await labels(), ['linux', 'arm64'])
  await label({ 'kubernetes.io/arch': null, 'beta.kubernetes.io/os': null })
  assert.deepEqual(await labels(), ['linux', 'arm64'])
  await deleteNode('kwok-1')
  await advance(20)
  const events = await complete(stage.user.resource({ group: '', version: 'v1', resource: 'events' }).list())
  const told = (events.items as readonly Fields[]).filter((event) => event['involvedObject'].kind === 'Node')
  assert.deepEqual(
    told.map(({ reason, message, source, metadata }) => [metadata.namespace, source.component, reason, message]),
    [
      ['default', 'node-controller', 'RegisteredNode', 'Node kwok-1 event: Registered Node kwok-1 in Controller'],
      ['default', 'node-controller', 'RemovingNode', 'Node kwok-1 event: Removing Node kwok-1 from Controller'],
    ],
  )
  await stage.stop()
})
