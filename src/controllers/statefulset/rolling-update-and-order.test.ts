import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { ordinalOf, podOf, withIdentity } from './pod-identity.ts'
import { planSync, type StatefulSetPlanInput } from './rolling-update-and-order.ts'
import { setStatus } from './status.ts'

const setOf = (spec: Fields = {}): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's', namespace: 'n', uid: 'set' },
    spec: { replicas: 3, serviceName: 's', template: { metadata: { labels: { app: 's' } }, spec: {} }, ...spec },
  }) as never

type Look = 'ready' | 'unready' | 'pending' | 'failed' | 'going'
function podsOf(set: KubeObject, looks: Readonly<Record<number, Look>>, revision = 's-1'): KubeObject[] {
  return Object.entries(looks).map(([ordinal, look]) => {
    const pod = podOf(set, set['spec'].template, revision, Number(ordinal))
    const phase = { pending: 'Pending', failed: 'Failed' }[look as string] ?? 'Running'
    const going = look === 'going' ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
    const ready = look === 'ready' || look === 'going' ? 'True' : 'False'
    const conditions = [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' }]
    return { ...pod, metadata: { ...pod.metadata, ...going }, status: { phase, conditions } } as unknown as KubeObject
  })
}

function steps(set: KubeObject, pods: readonly KubeObject[], more: Partial<StatefulSetPlanInput> = {}): string[] {
  const plan = planSync({
    set,
    pods,
    updateRevision: 's-1',
    nowMs: Date.parse('2026-01-01T00:01:00Z'),
    lacksClaims: () => false,
    hasWrongClaims: () => false,
    hasStaleClaims: () => false,
    ...more,
  })
  return plan.phases
    .flat()
    .map((step) =>
      step.type === 'create' ? `create ${step.ordinal} ${step.revision}` : `${step.type} ${step.pod.metadata.name}`,
    )
}

test('in order: one pod at a time, each after those before it are ready', () => {
  const set = setOf()
  assert.deepEqual(steps(set, []), ['create 0 update'])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'pending' })), [])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready' })), ['create 1 update'])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 1: 'unready', 2: 'ready' })), [])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 2: 'ready' })), ['create 1 update'])
})

test('in parallel: all at once', () => {
  const set = setOf({ podManagementPolicy: 'Parallel' })
  assert.deepEqual(steps(set, podsOf(set, { 1: 'pending', 4: 'ready', 3: 'unready' })), [
    'create 0 update',
    'create 2 update',
    'delete s-4',
    'delete s-3',
  ])
})

test('scaled down from the highest ordinal; only the lowest unhealthy pod is not waited for', () => {
  const set = setOf({ replicas: 1 })
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 1: 'ready', 2: 'ready' })), ['delete s-2'])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 1: 'ready', 2: 'going' })), [])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 1: 'ready', 2: 'unready' })), ['delete s-2'])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 1: 'unready', 2: 'unready' })), [])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'unready', 1: 'ready' })), [])
})

test('ordinals begin where the set says, and pods below are not wanted', () => {
  const set = setOf({ replicas: 2, ordinals: { start: 4 } })
  assert.deepEqual(steps(set, podsOf(set, { 4: 'ready', 5: 'ready', 1: 'ready' })), ['delete s-1'])
})

test('a pod that has ended is deleted, and made again when it has gone', () => {
  const set = setOf()
  assert.deepEqual(steps(set, podsOf(set, { 0: 'failed', 1: 'ready', 2: 'ready' })), ['delete s-0'])
})

test('an update replaces from the highest ordinal down to the partition, as many as may be unavailable', () => {
  const rolling = (rollingUpdate: Fields) => setOf({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
  const outdated = (set: KubeObject, looks: Record<number, Look> = { 0: 'ready', 1: 'ready', 2: 'ready' }) =>
    steps(set, podsOf(set, looks), { updateRevision: 's-2' })
  assert.deepEqual(outdated(rolling({})), ['delete s-2'])
  assert.deepEqual(outdated(rolling({ maxUnavailable: 2 })), ['delete s-2', 'delete s-1'])
  assert.deepEqual(outdated(rolling({ maxUnavailable: '10%' })), ['delete s-2'])
  assert.deepEqual(outdated(rolling({ partition: 2 })), ['delete s-2'])
  assert.deepEqual(outdated(rolling({ partition: 3 })), [])
  assert.deepEqual(outdated(setOf({ updateStrategy: { type: 'OnDelete' } })), [])
  const parallel = setOf({ podManagementPolicy: 'Parallel', updateStrategy: { type: 'RollingUpdate' } })
  assert.deepEqual(outdated(parallel, { 0: 'ready', 1: 'unready', 2: 'ready' }), ['delete s-1'])
})

test('below the partition a pod is made again as it was', () => {
  const set = setOf({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } })
  assert.deepEqual(steps(set, podsOf(set, { 1: 'ready', 2: 'ready' })), ['create 0 current'])
  assert.deepEqual(steps(set, podsOf(set, { 0: 'ready', 2: 'ready' })), ['create 1 update'], 'the first above is new')
})

test('the partition is counted from the first ordinal', () => {
  const set = setOf({
    ordinals: { start: 5 },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
  })
  assert.deepEqual(steps(set, podsOf(set, { 6: 'ready', 7: 'ready' })), ['create 5 current'])
  assert.deepEqual(steps(set, podsOf(set, { 5: 'ready', 7: 'ready' })), ['create 6 update'])
})

test('no pod is made while a claim goes with a former one', () => {
  const set = setOf()
  const input = { updateRevision: 's-1', nowMs: 0, lacksClaims: () => false, hasWrongClaims: () => false }
  const plan = planSync({ set, pods: [], ...input, hasStaleClaims: () => true })
  assert.deepEqual([plan.phases.flat(), plan.waitsForClaims], [[], true])
})

test('names, labels and volumes follow the ordinal, and are mended', () => {
  const set = setOf({ volumeClaimTemplates: [{ metadata: { name: 'd' } }] })
  const [pod] = podsOf(set, { 2: 'ready' }) as [KubeObject]
  assert.deepEqual(pod['spec'].volumes, [{ name: 'd', persistentVolumeClaim: { claimName: 'd-s-2' } }])
  assert.equal(ordinalOf(set, pod), 2)
  for (const name of ['s-02', 's-x', 't-1', 's-99999999999'])
    assert.equal(ordinalOf(set, { ...pod, metadata: { name } }), -1)
  assert.equal(withIdentity(set, pod), pod)
  const { labels: _, ...metadata } = pod.metadata
  assert.deepEqual(steps(set, [...podsOf(set, { 0: 'ready', 1: 'ready' }), { ...pod, metadata }]), [
    'identify s-2',
    'delete s-2',
  ])
})

test('the status takes the new revision when all pods are new and ready, not before', () => {
  const set = setOf()
  const names = { current: 's-1', update: 's-2', collisionCount: 0 }
  const told = (pods: readonly KubeObject[], outdated = 0) => {
    const { currentRevision, currentReplicas, updatedReplicas } = setStatus(set, pods, names, outdated, 0)
    return [currentRevision, currentReplicas, updatedReplicas]
  }
  const two = podsOf(set, { 1: 'ready', 2: 'ready' }, 's-2')
  assert.deepEqual(told([...podsOf(set, { 0: 'ready' }), ...two], 1), ['s-1', undefined, 2])
  assert.deepEqual(told(two), ['s-1', undefined, 2])
  assert.deepEqual(told([...podsOf(set, { 0: 'ready' }, 's-2'), ...two]), ['s-2', 3, 3])
})

test('a pod that runs is written with its claims when their owners change, one that waits is not', () => {
  const wrong = { hasWrongClaims: () => true }
  for (const set of [setOf({ replicas: 1 }), setOf({ replicas: 1, podManagementPolicy: 'Parallel' })]) {
    assert.deepEqual(steps(set, podsOf(set, { 0: 'ready' }), wrong), ['claims s-0', 'identify s-0'])
    assert.deepEqual(steps(set, podsOf(set, { 0: 'pending' }), wrong), ['claims s-0'])
  }
})
