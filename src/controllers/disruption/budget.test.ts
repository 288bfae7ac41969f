import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { budgetStatus, disruptedOf, expectedOf } from './budget.ts'

const budget = (spec: Fields, status: Fields = {}): KubeObject =>
  ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', generation: 1 },
    spec,
    status,
  }) as never
const pod = (name: string, ready: boolean, metadata: Fields = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as never
const now = Date.parse('2026-01-01T00:10:00Z')

test('a number of available pods counts pods, shares and unavailable ones count what their controllers want', () => {
  const scale = () => 7
  assert.deepEqual(expectedOf(budget({ minAvailable: 2 }), 5, scale), { expectedPods: 5, desiredHealthy: 2 })
  assert.deepEqual(expectedOf(budget({ minAvailable: '50%' }), 5, scale), { expectedPods: 7, desiredHealthy: 4 })
  assert.deepEqual(expectedOf(budget({ maxUnavailable: 1 }), 5, scale), { expectedPods: 7, desiredHealthy: 6 })
  assert.deepEqual(expectedOf(budget({ maxUnavailable: '50%' }), 5, scale), { expectedPods: 7, desiredHealthy: 3 })
})

test('pods that are not ready, being deleted or just evicted are not healthy', () => {
  const evicted = {
    disruptedPods: { c: '2026-01-01T00:09:00Z', gone: '2026-01-01T00:09:00Z', old: '2026-01-01T00:01:00Z' },
  }
  const own = budget({ minAvailable: 1 }, evicted)
  const pods = [
    pod('a', true),
    pod('b', false),
    pod('c', true),
    pod('d', true, { deletionTimestamp: 'x' }),
    pod('old', true),
  ]
  const disrupted = disruptedOf(own, pods, now)
  assert.deepEqual(disrupted, { pods: { c: '2026-01-01T00:09:00Z' }, recheckMs: 60_000 })
  const status = budgetStatus(
    own,
    expectedOf(own, pods.length, () => 0),
    pods,
    disrupted,
    now,
  )
  assert.deepEqual([status['currentHealthy'], status['disruptionsAllowed'], status['expectedPods']], [2, 1, 5])
  assert.equal(status['conditions'][0].reason, 'SufficientPods')
})
