import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume } from '../api/generated/types.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { createMetrics } from '../base/metrics.ts'
import { DEFAULT_ARGS, defaultProfile, type SchedulerProfile } from './profile.ts'
import { startScheduler } from './scheduler.ts'
import { full, ours, startedAs } from './scheduler-fixture.test.ts'
import { type GivenParts, node, pod } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'

async function started(...nodes: readonly KubeObject[]) {
  return startedAs({}, ...nodes)
}

test('a pod is bound to the node that fits, with its uid, and told of', async () => {
  const it = await started(node('small', { allocatable: { cpu: '1' } }), node('large'))
  await it.add(ours('a', {}, full))
  assert.equal(it.nodeOf('a'), 'large')
  const [binding] = it.taken()
  assert.equal(binding?.path, '/api/v1/namespaces/default/pods/a/binding')
  assert.equal(binding?.body?.kind === 'object' && binding.body.object.metadata.uid, 'a')
  assert.deepEqual(it.events(), ['Scheduled: Successfully assigned default/a to large'])
})

test('other schedulers’ pods, gated ones, those that go and those that are over are left alone', async () => {
  const it = await started(node('n'))
  const going = ours('going')
  await it.add(
    pod('other', { schedulerName: 'other' }),
    ours('gated', { schedulingGates: [{ name: 'g' }] }),
    { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    { ...ours('over'), status: { phase: 'Failed' } },
  )
  assert.deepEqual(it.wrote(), [])
  await it.change('gated', (gated) => ({ ...gated, spec: { ...gated['spec'], schedulingGates: undefined } }))
  assert.equal(it.nodeOf('gated'), 'n')
})

test('a pod whose scheduling fails by itself is told of, tried again, and keeps no other back', async () => {
  const it = await started(node('n'))
  // As no API server would have it.
  const broken = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [null] } } }
  await it.add(ours('broken', { affinity: broken }), ours('whole'))
  assert.equal(it.nodeOf('whole'), 'n')
  assert.match(it.events().join('\n'), /FailedScheduling: .*null/)
  await it.change('broken', (pod) => ({ ...pod, spec: { ...pod['spec'], affinity: undefined } }))
  await it.runtime.advance(30_000)
  assert.equal(it.nodeOf('broken'), 'n')
})

test('of pods that wait for room the most important one gets it, of equal ones the oldest', async () => {
  const it = await started(node('closed', { spec: { unschedulable: true } }))
  for (const [name, priority] of [
    ['late', 0],
    ['urgent', 5],
    ['later', 0],
  ] as const) {
    await it.add(ours(name, { priority, preemptionPolicy: 'Never' }, full))
    await it.runtime.advance(10)
  }
  await it.runtime.advance(30_000)
  it.put('nodes', node('n'))
  await it.runtime.settle()
  assert.deepEqual(['late', 'urgent', 'later'].map(it.nodeOf), [undefined, 'n', undefined])
  await it.runtime.advance(30_000)
  it.put('nodes', node('m'))
  await it.runtime.settle()
  assert.deepEqual(['late', 'urgent', 'later'].map(it.nodeOf), ['m', 'n', undefined])
})

test('what fits nowhere says so once, and has its turn again when there is room', async () => {
  const it = await started(node('n'))
  await it.add(ours('a', {}, full))
  it.wrote()
  await it.add(ours('b', {}, full))
  const [condition] = it.statusOf('b')['conditions']
  assert.deepEqual([condition.type, condition.status, condition.reason], ['PodScheduled', 'False', 'Unschedulable'])
  assert.equal(
    condition.message,
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  )
  assert.deepEqual(it.wrote(), ['PATCH pods/b/status'])
  await it.runtime.advance(20_000)
  assert.deepEqual(it.wrote(), [])
  it.of('pods').remove('default/a')
  await it.runtime.settle()
  assert.equal(it.nodeOf('b'), 'n')
})

test('a pod that ended makes room, and a node that changed may', async () => {
  const it = await started(node('n'))
  await it.add(ours('a', {}, full))
  await it.add(ours('b', {}, full))
  await it.change('a', (a) => ({ ...a, status: { phase: 'Succeeded' } }))
  await it.runtime.advance(1000)
  assert.equal(it.nodeOf('b'), 'n')
  await it.add(ours('c', {}, full))
  it.put('nodes', node('n', { allocatable: { cpu: '4' } }))
  await it.runtime.advance(1000)
  assert.equal(it.nodeOf('c'), 'n')
})

test('victims are told why before they are deleted, and the pod, nominated, gets their room', async () => {
  const it = await started(node('n'), node('kept', { spec: { unschedulable: true } }))
  await it.add(ours('low', { priority: 1 }, full))
  it.wrote()
  await it.add(ours('high', { priority: 10 }, full))
  const writes = ['DELETE pods/low', 'PATCH pods/high/status', 'PATCH pods/low/status', 'POST pods/high/binding']
  assert.deepEqual(it.wrote().sort(), writes)
  assert.equal(it.statusOf('high')['nominatedNodeName'], 'n')
  assert.ok(it.events().includes('Preempted: Preempted by pod high on node n'))
  await it.runtime.advance(1000)
  assert.equal(it.nodeOf('high'), 'n')
})

test('a victim that could not be deleted is tried again after the backoff, though nothing else changes', async () => {
  const it = await started(node('n'))
  it.fail('DELETE /api/v1/namespaces/default/pods/low', new Error('refused'))
  await it.add(ours('low', { priority: 1 }, full))
  await it.add(ours('high', { priority: 10 }, full))
  assert.equal(it.nodeOf('high'), undefined)
  await it.runtime.advance(5000)
  assert.equal(it.nodeOf('high'), 'n')
})

test('a victim whose budget is exhausted is spared where another node has one that is not', async () => {
  const it = await started(node('n'), node('m'))
  it.put('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'guarded' } } },
    status: { disruptionsAllowed: 0 },
  })
  await it.add(ours('guarded', { priority: 1, nodeName: 'n' }, { ...full, labels: { app: 'guarded' } }))
  await it.add(ours('free', { priority: 5, nodeName: 'm' }, full))
  await it.add(ours('high', { priority: 10 }, full))
  assert.equal(it.statusOf('high')['nominatedNodeName'], 'm')
  assert.equal(it.of('pods').get('default/free'), undefined)
  assert.ok(it.of('pods').get('default/guarded'))
})

test('a binding that fails gives the room back, and is tried again after the backoff', async () => {
  const it = await started(node('n'))
  it.fail('POST /api/v1/namespaces/default/pods/a/binding', new Error('refused'))
  await it.add(ours('a', {}, full))
  assert.equal(it.nodeOf('a'), undefined)
  await it.runtime.advance(2000)
  assert.equal(it.nodeOf('a'), 'n')
  assert.equal(it.wrote().filter((what) => what === 'POST pods/a/binding').length, 2)
})

test('a pod that was assumed on a node takes its room before the watch shows it', async () => {
  const it = await started(node('n'))
  await it.add(ours('a', {}, full), ours('b', {}, full))
  assert.deepEqual(
    it.wrote().filter((what) => what.endsWith('/binding')),
    ['POST pods/a/binding'],
  )
})

test('what was made free for a pod is not taken by another of lower priority meanwhile', async () => {
  const it = await started(node('n'))
  await it.add(ours('first', { priority: 0 }, full))
  await it.add(ours('urgent', { priority: 5 }, full))
  assert.equal(it.of('pods').get('default/first'), undefined)
  assert.equal(it.statusOf('urgent')['nominatedNodeName'], 'n')
  await it.add(ours('next', { priority: 0 }, full))
  assert.equal(it.nodeOf('next'), undefined)
  await it.runtime.advance(20_000)
  assert.deepEqual([it.nodeOf('urgent'), it.nodeOf('next')], ['n', undefined])
  it.stop()
})

test('a pod drives out no more while those it drove out are going', async () => {
  const it = await started(node('n'))
  const going = { ...ours('first', { priority: 0, nodeName: 'n' }, { requests: { cpu: '1' } }) }
  await it.add({ ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
  await it.add(ours('second', { priority: 0, nodeName: 'n' }, { requests: { cpu: '1' } }))
  await it.add({ ...ours('urgent', { priority: 5 }, { requests: { cpu: '1' } }), status: { nominatedNodeName: 'n' } })
  assert.ok(it.of('pods').get('default/second'))
  assert.match(it.events().join('\n'), /not eligible due to a terminating pod on the nominated node\./)
  it.stop()
})

test('a victim that is going already is not told again; a nomination that no victims are found for any more is taken back', async () => {
  const it = await started(node('n'))
  const low = { ...ours('low', { priority: 0, nodeName: 'n' }, full) }
  await it.add({ ...low, metadata: { ...low.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
  const nominated = { status: { nominatedNodeName: 'n' } }
  await it.add({ ...ours('mid', { priority: 5 }, full), ...nominated })
  it.wrote()
  await it.add(ours('high', { priority: 10 }, full))
  assert.deepEqual(it.wrote(), ['PATCH pods/high/status'])
  assert.equal(it.statusOf('high')['nominatedNodeName'], 'n')
  await it.change('mid', (mid) => ({ ...mid, ...nominated }))
  it.of('pods').remove('default/low')
  await it.runtime.advance(3000)
  assert.equal(it.nodeOf('high'), 'n')
  const [{ body } = {}] = it.taken().filter(({ path }) => path.endsWith('/mid/status'))
  assert.equal(body?.kind === 'object' && (body.object as Fields)['status'].nominatedNodeName, null)
  it.stop()
})

test('who drives pods out takes the hopes of less important ones on the node away', async () => {
  const it = await started(node('n'))
  const going = { ...ours('going', { priority: 0, nodeName: 'n' }, half) }
  await it.add({ ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
  await it.add(ours('stays', { priority: 0, nodeName: 'n' }, half))
  await it.add({ ...ours('mid', { priority: 5 }, half), status: { nominatedNodeName: 'n' } })
  it.wrote()
  await it.add(ours('high', { priority: 10 }, full))
  const [withdrawn] = it.wrote().filter((line) => line.includes('mid'))
  assert.equal(withdrawn, 'PATCH pods/mid/status')
  assert.equal(it.statusOf('mid')['nominatedNodeName'] ?? undefined, undefined)
  it.stop()
})

const half: GivenParts = { requests: { cpu: '1' } }
const named = (schedulerName: string, name: string, given: GivenParts = half): KubeObject =>
  pod(name, { schedulerName }, given)
const profile = (schedulerName: string, more: Partial<SchedulerProfile> = {}): SchedulerProfile => ({
  ...defaultProfile(schedulerName),
  ...more,
})

test('each profile schedules the pods that name it, in its own way, and is named in their Events, with the machine', async () => {
  const { scoringStrategy } = DEFAULT_ARGS
  const packing = { ...DEFAULT_ARGS, scoringStrategy: { ...scoringStrategy, type: 'MostAllocated' as const } }
  const profiles = [
    profile('spreads'),
    profile('packs', { args: packing, weights: new Map([['NodeResourcesFit', 1]]) }),
  ]
  const it = await startedAs({ profiles, host: 'h' }, node('a'), node('b'))
  it.put('pods', pod('there', { nodeName: 'a' }, { requests: { cpu: '500m' } }))
  await it.runtime.settle()
  await it.add(named('packs', 'p', { requests: { cpu: '1' } }))
  await it.add(named('spreads', 's', { requests: { cpu: '1' } }), named('default-scheduler', 'd'))
  assert.deepEqual([it.nodeOf('p'), it.nodeOf('s'), it.nodeOf('d')], ['a', 'b', undefined])
  const reporters = it
    .of('events')
    .requests.flatMap(({ body }) => (body?.kind === 'object' ? [body.object] : []))
    .map(({ reportingController, reportingInstance }) => [reportingController, reportingInstance])
  assert.deepEqual(reporters, [
    ['packs', 'packs-h'],
    ['spreads', 'spreads-h'],
  ])
})

test('a filter that is off refuses no node, and without preemption no pod makes room', async () => {
  const profiles = [
    profile('blind', { filters: defaultProfile().filters.filter((name) => name !== 'NodeUnschedulable') }),
    profile('calm', { preempts: false }),
  ]
  const it = await startedAs({ profiles }, node('n', { spec: { unschedulable: true } }))
  await it.add(named('calm', 'c'), named('blind', 'b'))
  assert.deepEqual([it.nodeOf('c'), it.nodeOf('b')], [undefined, 'n'])
  const before = await startedAs({ profiles: [profile('calm', { preempts: false })] }, node('n'))
  await before.add(named('calm', 'low', full))
  await before.add(pod('high', { schedulerName: 'calm', priority: 9 }, full))
  assert.equal(before.statusOf('high')['nominatedNodeName'], undefined)
  assert.deepEqual(before.events().at(-1), 'FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.')
})

test('backoffs are as long as they are told to be', async () => {
  const queueTimes = { initialBackoffMs: 4000, maxBackoffMs: 4000, flushMs: 60_000 }
  const it = await startedAs({ queueTimes }, node('n'))
  it.fail('POST /api/v1/namespaces/default/pods/a/binding', new Error('refused'))
  await it.add(ours('a', {}, full))
  await it.runtime.advance(3900)
  assert.equal(it.nodeOf('a'), undefined)
  await it.runtime.advance(1200)
  assert.equal(it.nodeOf('a'), 'n')
})

/** What the scheduler's own page says of its attempts and of the pods that wait. */
async function watched(...nodes: readonly KubeObject[]) {
  const metrics = createMetrics()
  const it = startSchedulerStandIn()
  for (const one of nodes) it.put('nodes', one)
  it.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  await it.runtime.complete(startScheduler({ ...it.options, runtime: { ...it.runtime, metrics } }))
  const number = (line: string) => Number(metrics.text().split(`${line} `)[1]?.split('\n')[0] ?? 0)
  return {
    ...it,
    number,
    refused: () => number('scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}'),
    waiting: () => number('scheduler_pending_pods{queue="unschedulable"}'),
  }
}

test('attempts are told of: how many a pod took, how long it waited for its node, who is refused by which plugin, and preemptions', async () => {
  const it = await watched(node('n', { allocatable: { cpu: '2' } }))
  it.put('pods', ours('first', {}, full))
  await it.runtime.settle()
  it.put('pods', ours('second', {}, full))
  await it.runtime.settle()
  const counts = () => [
    it.number('scheduler_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="scheduled"}'),
    it.number(
      'scheduler_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="unschedulable"}',
    ),
    it.number('scheduler_scheduling_algorithm_duration_seconds_count'),
    it.number('scheduler_pod_scheduling_attempts_sum'),
    it.number('\nscheduler_preemption_attempts_total'),
    it.number('scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"}'),
  ]
  assert.deepEqual(counts(), [1, 1, 2, 1, 1, 1])
  await it.runtime.advance(20_000)
  it.put('nodes', node('n', { allocatable: { cpu: '4' } }))
  await it.runtime.settle()
  assert.deepEqual(counts(), [2, 1, 3, 3, 1, 0])
  const waited = it.number('scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="2"}')
  assert.ok(waited >= 20 && waited < 21, `${waited} s`)
  assert.equal(it.number('scheduler_preemption_victims_count'), 0)
})

test('what pods ask for and are limited to is told with its units until they end, on a page of its own', async () => {
  const resourceMetrics = createMetrics()
  const it = startSchedulerStandIn()
  await it.runtime.complete(startScheduler({ ...it.options, resourceMetrics }))
  const requests = {
    cpu: '300m',
    memory: '1Mi',
    'example.com/x': '2',
    'hugepages-2Mi': '4Mi',
    'ephemeral-storage': '0',
  }
  const containers = [{ name: 'c', resources: { requests, limits: { cpu: '1' } } }]
  const spec = { priority: 7, schedulerName: 'other', nodeName: 'n', containers }
  it.put('pods', pod('a', spec))
  await it.runtime.settle()
  const labels = (resource: string, unit: string) =>
    `{namespace="default",node="n",pod="a",priority="7",resource="${resource}",scheduler="other",unit="${unit}"}`
  const lines = () =>
    resourceMetrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('kube_'))
  assert.deepEqual(lines(), [
    `kube_pod_resource_limit${labels('cpu', 'cores')} 1`,
    `kube_pod_resource_request${labels('cpu', 'cores')} 0.3`,
    `kube_pod_resource_request${labels('memory', 'bytes')} 1.048576e+06`,
    `kube_pod_resource_request${labels('example.com/x', '')} 2`,
    `kube_pod_resource_request${labels('hugepages-2Mi', 'bytes')} 4.194304e+06`,
  ])
  it.put('pods', { ...pod('a', spec), status: { phase: 'Failed' } })
  await it.runtime.settle()
  assert.deepEqual(lines(), [])
})

test('5,000 pods that wait are not looked at for a change that helps none of them, and once each for one that may', async () => {
  const it = await watched(node('n', { spec: { unschedulable: true } }), node('m', { allocatable: { cpu: '1' } }))
  for (let i = 0; i < 5000; i++) {
    it.put('pods', ours(`p${i}`, {}, full))
    if (i % 500 === 499) await it.runtime.settle(5_000_000)
  }
  assert.deepEqual([it.refused(), it.waiting()], [5000, 5000])
  it.put('nodes', node('n', { spec: { unschedulable: true }, labels: { irrelevant: 'yes' } }))
  it.put('nodes', node('m', { allocatable: { cpu: '1', memory: '2Gi' } }))
  it.put('nodes', node('small', { spec: { unschedulable: true }, allocatable: { cpu: '1' } }))
  it.put('csinodes', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'n' },
    spec: { drivers: [] },
  })
  await it.runtime.settle(5_000_000)
  await it.runtime.advance(20_000)
  assert.deepEqual([it.refused(), it.waiting()], [5000, 5000])
  it.put('nodes', node('m', { allocatable: { cpu: '2' } }))
  await it.runtime.settle(5_000_000)
  await it.runtime.advance(20_000)
  assert.deepEqual([it.refused(), it.waiting()], [5000 + 4999, 4999])
})

test('a pod that is gone before the watch has shown where it was bound leaves its room', async () => {
  const it = await started(node('n'))
  const pods = it.of('pods')
  const { put } = pods
  it.put('pods', ours('a', {}, full))
  // The binding; all watches end before it, and what is listed next is without the pod.
  Object.assign(pods, {
    put(bound: KubeObject) {
      pods.dropWatches(new Error('cut'))
      put(bound)
      pods.remove('default/a')
      pods.compact()
    },
  })
  await it.runtime.run({ until: () => it.wrote().includes('POST pods/a/binding') })
  Object.assign(pods, { put })
  await it.runtime.advance(60_000)
  await it.add(ours('b', {}, full))
  assert.equal(it.nodeOf('b'), 'n')
})

test('who is spread by default constraints that it must keep is tried again when a pod of its namespace goes', async () => {
  const defaultConstraints = [{ topologyKey: 'rack', maxSkew: 1, minDomains: 1, isHard: true }]
  const args = { ...DEFAULT_ARGS, defaultConstraints, areSystemDefaults: false }
  const closed = { spec: { taints: [{ key: 't', effect: 'NoSchedule' }] } }
  const profiles = [profile('default-scheduler', { args })]
  const it = await startedAs(
    { profiles },
    node('n', { labels: { rack: 'a' } }),
    node('m', { labels: { rack: 'b' }, ...closed }),
  )
  it.put('services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'default' },
    spec: { selector: { app: 'a' } },
  })
  const labels = { app: 'a' }
  await it.add(ours('first', {}, { labels }), ours('second', {}, { labels }))
  assert.deepEqual([it.nodeOf('first'), it.nodeOf('second')], ['n', undefined])
  it.of('pods').remove('default/first')
  await it.runtime.settle()
  assert.equal(it.nodeOf('second'), 'n')
})

/** A claim of a class whose volumes wait for a pod, and the pod that uses it. */
const lateClass: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'late' },
  provisioner: 'example.com/p',
  volumeBindingMode: 'WaitForFirstConsumer',
}
const claimOf = (name: string, storageClassName = 'late'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName,
    volumeMode: 'Filesystem',
  },
  status: { phase: 'Pending' },
})
const userOf = (claim: string, name = claim) =>
  ours(name, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] })

test('a pod that is changed while it waits for its volume is tried again as it is now', async () => {
  const it = await started(node('n'))
  it.put('storageclasses', lateClass)
  it.put('persistentvolumeclaims', claimOf('c'))
  await it.runtime.settle()
  await it.add(userOf('c'))
  const taints = [{ key: 'k', effect: 'NoSchedule' }]
  it.put('nodes', node('n', { spec: { taints } }))
  await it.change('c', (one) => ({ ...one, spec: { ...one['spec'], tolerations: [{ key: 'k', operator: 'Exists' }] } }))
  await it.runtime.advance(660_000)
  assert.ok(
    it.events().some((event) => event.includes('binding volumes')),
    it.events().join('\n'),
  )
  assert.deepEqual(
    it.events().filter((event) => event.includes('untolerated taint')),
    [],
  )
})

test('a volume that was promised to a pod and is free again helps the pod that was refused it', async () => {
  const it = await started(node('n'))
  it.put('storageclasses', { ...lateClass, provisioner: 'kubernetes.io/no-provisioner' })
  it.put('persistentvolumes', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'late',
      volumeMode: 'Filesystem',
    },
    status: { phase: 'Available' },
  })
  for (const name of ['a', 'b']) it.put('persistentvolumeclaims', claimOf(name))
  await it.runtime.settle()
  it.fail('PUT /api/v1/persistentvolumes/v', new Error('refused'))
  await it.add(userOf('a'), userOf('b'))
  assert.ok(
    it.events().some((event) => event.includes("didn't find available persistent volumes")),
    it.events().join('\n'),
  )
  const given = () => (it.of('persistentvolumes').get('/v') as PersistentVolume | undefined)?.spec?.claimRef?.name
  await it.runtime.advance(900)
  assert.equal(given(), 'b')
})

test('a pod that may preempt no other says so, as does one whose affinity contradicts itself', async () => {
  const it = await started(node('n'))
  await it.add(ours('low', {}, full))
  await it.add(ours('kind', { priority: 9, preemptionPolicy: 'Never' }, full))
  const named = (name: string) => ({ key: 'metadata.name', operator: 'In', values: [name] })
  const nodeSelectorTerms = [{ matchFields: [named('n'), named('m')] }]
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
  await it.add(ours('torn', { affinity: { nodeAffinity } }))
  const cpu = '0/1 nodes are available: 1 Insufficient cpu.'
  assert.deepEqual(it.events().slice(1), [
    `FailedScheduling: ${cpu} preemption: not eligible due to preemptionPolicy=Never.`,
    'FailedScheduling: 0/1 nodes are available: pod affinity terms conflict. not found',
  ])
})
