import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateLimitsOf } from './controller-limits.ts'

test('the controllers of namespaces and of garbage ask faster than the others, as a kube-controller-manager v1.37.1 was measured to do (2026-11-27)', () => {
  const limits = { qps: 3, burst: 3 }
  const account = (name: string) => rateLimitsOf(`system:serviceaccount:kube-system:${name}`, limits)
  // Of 14 namespaces: 311 requests in the first second, then 60 in each.
  assert.deepEqual(account('namespace-controller'), { qps: 60, burst: 300 })
  assert.deepEqual(account('generic-garbage-collector'), { qps: 6, burst: 6 })
  assert.deepEqual(account('deployment-controller'), limits)
  assert.deepEqual(rateLimitsOf('system:kube-controller-manager', limits), limits)
  assert.deepEqual(rateLimitsOf('system:serviceaccount:default:namespace-controller', limits), limits)
  assert.ok(rateLimitsOf('system:serviceaccount:kube-system:namespace-controller', { qps: -1, burst: 5 }).qps < 0)
})
