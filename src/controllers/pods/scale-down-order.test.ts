import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { podsToDelete } from './scale-down-order.ts'

const now = Date.parse('2026-01-02T00:00:00Z')
const pod = (
  name: string,
  parts: {
    node?: string
    phase?: string
    readySince?: string
    restarts?: number
    cost?: string
    created?: string
  } = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    uid: name,
    creationTimestamp: parts.created ?? '2026-01-01T00:00:00Z',
    annotations: parts.cost === undefined ? {} : { 'controller.kubernetes.io/pod-deletion-cost': parts.cost },
  },
  spec: parts.node === undefined ? {} : { nodeName: parts.node },
  status: {
    phase: parts.phase ?? 'Running',
    conditions: parts.readySince
      ? [{ type: 'Ready', status: 'True', lastTransitionTime: parts.readySince }]
      : [{ type: 'Ready', status: 'False' }],
    containerStatuses: [{ restartCount: parts.restarts ?? 0 }],
  },
})
const order = (pods: readonly KubeObject[]) =>
  podsToDelete(pods, pods, pods.length - 1, now).map(({ metadata }) => metadata.name)
const since = '2026-01-01T00:00:00Z'

test('unassigned, pending, then not ready pods go first', () => {
  const pods = [
    pod('ready', { node: 'a', readySince: since }),
    pod('running', { node: 'b' }),
    pod('pending', { node: 'c', phase: 'Pending' }),
    pod('unassigned', { phase: 'Pending' }),
  ]
  assert.deepEqual(order(pods), ['unassigned', 'pending', 'running'])
})

test('a lower deletion cost goes before a crowded node, which goes before a younger pod', () => {
  const pods = [
    pod('young', { node: 'c', readySince: '2026-01-01T23:59:00Z' }),
    pod('crowded-1', { node: 'b', readySince: since }),
    pod('crowded-2', { node: 'b', readySince: since }),
    pod('cheap', { node: 'a', readySince: since, cost: '-5' }),
    pod('old', { node: 'd', readySince: since }),
  ]
  assert.deepEqual(order(pods), ['cheap', 'crowded-1', 'crowded-2', 'young'])
})

test('more restarts go first; what is equal is told apart by uid', () => {
  const pods = [
    pod('b', { node: '1', readySince: since }),
    pod('a', { node: '2', readySince: since }),
    pod('restarted', { node: '3', readySince: since, restarts: 4 }),
    pod('z', { node: '4', readySince: since }),
  ]
  assert.deepEqual(order(pods), ['restarted', 'a', 'b'])
})

test('ages of one order of magnitude are alike: the uid decides between 24 and 20 hours', () => {
  const old = pod('a', { node: 'n', created: '2026-01-01T00:00:00Z' })
  const younger = pod('b', { node: 'n', created: '2026-01-01T04:00:00Z' })
  const youngest = pod('c', { node: 'n', created: '2026-01-01T12:00:00Z' })
  assert.deepEqual(podsToDelete([younger, old], [], 1, now), [old])
  assert.deepEqual(podsToDelete([younger, old, youngest], [], 1, now), [youngest])
})
