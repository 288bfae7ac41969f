import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { budgetStatus, disruptedOf, expectedOf, withAllowed } from './disruptions-allowed.ts'

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

test('a number of available pods counts pods, shares and unavailable ones count what their controllers want', async () => {
  const scale = () => Promise.resolve(7)
  assert.deepEqual(await expectedOf(budget({ minAvailable: 2 }), 5, scale), { expectedPods: 5, desiredHealthy: 2 })
  assert.deepEqual(await expectedOf(budget({ minAvailable: '50%' }), 5, scale), { expectedPods: 7, desiredHealthy: 4 })
  assert.deepEqual(await expectedOf(budget({ maxUnavailable: 1 }), 5, scale), { expectedPods: 7, desiredHealthy: 6 })
  assert.deepEqual(await expectedOf(budget({ maxUnavailable: '50%' }), 5, scale), {
    expectedPods: 7,
    desiredHealthy: 3,
  })
})

test('pods that are not ready, being deleted or just evicted are not healthy', async () => {
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
  const status = budgetStatus(own, await expectedOf(own, pods.length, async () => 0), pods, disrupted, now)
  assert.deepEqual([status.currentHealthy, status.disruptionsAllowed, status.expectedPods], [2, 1, 5])
  assert.equal(status.conditions?.[0]?.reason, 'SufficientPods')
})

test('an eviction is given up after two minutes to the millisecond', () => {
  const own = budget({ minAvailable: 1 }, { disruptedPods: { a: '2026-01-01T00:08:00Z' } })
  assert.deepEqual(disruptedOf(own, [pod('a', true)], now - 1), { pods: { a: '2026-01-01T00:08:00Z' }, recheckMs: 1 })
  assert.deepEqual(disruptedOf(own, [pod('a', true)], now), { pods: {}, recheckMs: undefined })
})

test('where no pods are expected none may be evicted, healthy or not', async () => {
  const own = budget({ maxUnavailable: 1 })
  const pods = [pod('a', true), pod('b', true)]
  const expected = await expectedOf(own, pods.length, async () => 0)
  const status = budgetStatus(own, expected, pods, { pods: {}, recheckMs: undefined }, now)
  assert.deepEqual([status.currentHealthy, status.disruptionsAllowed, status.expectedPods], [2, 0, 0])
  assert.equal(status.conditions?.[0]?.reason, 'InsufficientPods')
})

test("the condition's time is that of its last change of status, and others are left alone", () => {
  const before = '2026-01-01T00:00:00Z'
  const other = { type: 'Other', status: 'True', reason: 'r', message: '', lastTransitionTime: before }
  const old = [
    other,
    { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', lastTransitionTime: before },
  ]
  const next = (status: string) => withAllowed(old, { status, reason: 'r', message: '' }, 3, now)
  assert.deepEqual(next('True')[0], other)
  assert.equal(next('True')[1]?.['lastTransitionTime'], before)
  assert.equal(next('True')[1]?.['observedGeneration'], 3)
  assert.equal(next('False')[1]?.['lastTransitionTime'], '2026-01-01T00:10:00Z')
})
