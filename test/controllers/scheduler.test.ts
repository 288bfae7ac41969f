/** The scheduler on the simulated clock: where pods may go, where they do, what they are told, and when they try again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const resource = (name: string, group = '') => ({ group, version: 'v1', resource: name })

async function stageOf(nodes: number, seed = 1) {
  const runtime = simulatedRuntime(seed)
  const stage = await startStage(runtime, { nodes })
  stage.mark()
  const pods = stage.user.resource(resource('pods')).namespace(namespace)
  const all = stage.user.resource(resource('nodes'))
  return {
    stage,
    runtime,
    advance: (seconds: number) => runtime.advance(seconds * 1000),
    /** What every cluster user may do: a merge patch of the node. */
    node: (name: string, body: Fields, subresource?: string) =>
      runtime.complete(all.patch(name, 'merge', body as never, subresource ? { subresource } : {})),
    remove: (name: string) => runtime.complete(pods.delete(name, { gracePeriodSeconds: 0 })),
    create: (name: string, spec: Fields = {}, labels: Fields = {}) =>
      runtime.complete(
        pods.create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, labels },
          spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
        } as unknown as KubeObject),
      ),
    async where(name: string): Promise<string | undefined> {
      await runtime.advance(100)
      return (await runtime.complete(pods.get(name)))['spec'].nodeName
    },
    async why(name: string): Promise<string> {
      await runtime.advance(100)
      const { conditions = [] } = (await runtime.complete(pods.get(name)))['status'] as Fields
      const condition = (conditions as readonly Fields[]).find(({ type }) => type === 'PodScheduled')
      assert.equal(condition?.['reason'], 'Unschedulable')
      return condition?.['message']
    },
  }
}

const asking = (cpu: string, more: Fields = {}): Fields => ({
  containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } }, ...more }],
})
const helpless = (nodes: number) =>
  `preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`
const victimless = (nodes: number) =>
  `preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`
const term = (more: Fields) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', ...more }],
})

test('a pod that fits nowhere is told why, node by node', async () => {
  const { stage, advance, create, node, why } = await stageOf(2)
  await create('selector', { nodeSelector: { none: 'such' } })
  assert.equal(
    await why('selector'),
    `0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. ${helpless(2)}`,
  )
  await create('big', asking('100'))
  assert.equal(await why('big'), `0/2 nodes are available: 2 Insufficient cpu. ${helpless(2)}`)
  await create('friend', { affinity: { podAffinity: term({ labelSelector: { matchLabels: { app: 'none' } } }) } })
  assert.equal(
    await why('friend'),
    `0/2 nodes are available: 2 node(s) didn't match pod affinity rules. ${helpless(2)}`,
  )
  await node('kwok-1', { spec: { unschedulable: true } })
  await node('kwok-2', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } })
  // The scheduler may hear of a pod before it hears of what happened to a node before.
  await advance(1)
  await create('plain')
  const message = await why('plain')
  assert.match(message, /^0\/2 nodes are available: 1 node\(s\) (had untolerated taint|were unschedulable)/)
  assert.match(message, /1 node\(s\) were unschedulable/)
  assert.match(message, /untolerated taint/)
  await stage.stop()
})

test('without nodes it says so, and binds when one comes', async () => {
  const { stage, runtime, create, why, where, advance } = await stageOf(0)
  await create('p')
  assert.equal(await why('p'), 'no nodes available to schedule pods')
  await runtime.complete(stage.nodes.add('kwok-1'))
  await advance(12)
  assert.equal(await where('p'), 'kwok-1')
  const told = stage.events.map(({ reason, component }) => `${component} ${reason}`)
  assert.deepEqual([...new Set(told)].sort(), ['default-scheduler FailedScheduling', 'default-scheduler Scheduled'])
  await stage.stop()
})

test('a host port is taken once on a node', async () => {
  const { stage, create, where, why } = await stageOf(1)
  const spec = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }] }
  await create('first', spec)
  assert.equal(await where('first'), 'kwok-1')
  await create('second', spec)
  assert.match(
    await why('second'),
    /^0\/1 nodes are available: 1 node\(s\) didn't have free ports for the requested pod ports\./,
  )
  await stage.stop()
})

test('node selector, node affinity and tolerations choose the node', async () => {
  const { stage, create, node, where } = await stageOf(3)
  await node('kwok-2', { metadata: { labels: { disk: 'ssd' } } })
  await node('kwok-3', { spec: { taints: [{ key: 'only', effect: 'NoSchedule' }] } })
  await create('a', { nodeSelector: { disk: 'ssd' } })
  assert.equal(await where('a'), 'kwok-2')
  const expressions = [{ key: 'disk', operator: 'DoesNotExist' }]
  await create('b', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: expressions }] },
      },
    },
  })
  assert.equal(await where('b'), 'kwok-1')
  await create('c', {
    nodeSelector: { 'kubernetes.io/hostname': 'kwok-3' },
    tolerations: [{ key: 'only', operator: 'Exists' }],
  })
  assert.equal(await where('c'), 'kwok-3')
  await stage.stop()
})

test('pods that repel each other part, and those that attract each other meet', async () => {
  const { stage, create, where, why } = await stageOf(2)
  const apart = { affinity: { podAntiAffinity: term({ labelSelector: { matchLabels: { app: 'x' } } }) } }
  await create('x1', apart, { app: 'x' })
  await create('x2', apart, { app: 'x' })
  const nodes = [await where('x1'), await where('x2')]
  assert.deepEqual(nodes.toSorted(), ['kwok-1', 'kwok-2'])
  await create('x3', apart, { app: 'x' })
  assert.equal(
    await why('x3'),
    `0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. ${victimless(2)}`,
  )
  await create('plain', {}, { app: 'x' })
  const unwanted = "2 node(s) didn't satisfy existing pods anti-affinity rules"
  assert.equal(await why('plain'), `0/2 nodes are available: ${unwanted}. ${victimless(2)}`)
  await create('y', { affinity: { podAffinity: term({ labelSelector: { matchLabels: { app: 'x' } } }) } })
  assert.ok(await where('y'))
  await stage.stop()
})

test('the emptier node is chosen, and the pods of one owner spread', async () => {
  for (const seed of [1, 2, 3]) {
    const { stage, runtime, create, where } = await stageOf(2, seed)
    await create('filler', { ...asking('20'), nodeName: 'kwok-1' })
    await runtime.advance(1000)
    await create('p', asking('1'))
    assert.equal(await where('p'), 'kwok-2')
    await stage.stop()
  }
})

test('what is freed is used: a waiting pod tries again when another goes', async () => {
  const { stage, create, remove, where, why, advance } = await stageOf(1)
  await create('first', asking('30'))
  assert.equal(await where('first'), 'kwok-1')
  await create('second', asking('30'))
  assert.match(await why('second'), /Insufficient cpu/)
  await remove('first')
  await advance(15)
  assert.equal(await where('second'), 'kwok-1')
  await stage.stop()
})

test('a pod of higher priority drives out as few of lower priority as it needs', async () => {
  const { stage, runtime, create, where, advance } = await stageOf(2)
  const classes = stage.user.resource(resource('priorityclasses', 'scheduling.k8s.io'))
  const high = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 }
  await runtime.complete(classes.create(high as unknown as KubeObject))
  await runtime.advance(1000)
  for (const name of ['half-1', 'half-2']) await create(name, { ...asking('16'), nodeName: 'kwok-1' })
  await create('single', { ...asking('30'), nodeName: 'kwok-2' })
  await advance(1)
  await create('vip', { ...asking('20'), priorityClassName: 'high' })
  await advance(20)
  assert.equal(await where('vip'), 'kwok-2')
  const preempted = stage.events.filter(({ reason }) => reason === 'Preempted').map(({ about }) => about.name)
  assert.deepEqual(preempted, ['single'])
  await stage.stop()
})

test('a gated pod and one of another scheduler are left alone', async () => {
  const { stage, runtime, create, where, advance } = await stageOf(1)
  await create('gated', { schedulingGates: [{ name: 'example.com/wait' }] })
  await create('theirs', { schedulerName: 'other' })
  await advance(10)
  assert.equal(await where('gated'), undefined)
  assert.equal(await where('theirs'), undefined)
  const pods = stage.user.resource(resource('pods')).namespace(namespace)
  await runtime.complete(pods.patch('gated', 'merge', { spec: { schedulingGates: null } } as never))
  await advance(1)
  assert.equal(await where('gated'), 'kwok-1')
  await stage.stop()
})

test('pods of a claim that is missing wait', async () => {
  const { stage, create, why } = await stageOf(1)
  await create('p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'none' } }] })
  assert.match(await why('p'), /persistentvolumeclaim "none" not found/)
  await stage.stop()
})
