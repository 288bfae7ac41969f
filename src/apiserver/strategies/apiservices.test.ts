import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { APIServiceSpec } from '../../api/generated/types.ts'
import type { StrategyContext } from '../registry/strategy.ts'
import { withAvailability } from './apiservices.ts'

const context = { now: '2026-01-01T00:00:00Z' } as StrategyContext
const made = (spec: Partial<APIServiceSpec>) =>
  withAvailability(
    { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: {}, spec: spec as APIServiceSpec },
    context,
  )

test('an APIService of this server itself is available at once, one behind a Service is not said to be', () => {
  const [available] = made({ group: 'a.example.com', version: 'v1' })['status'].conditions
  assert.deepEqual([available.type, available.status, available.reason], ['Available', 'True', 'Local'])
  assert.equal(available.lastTransitionTime, '2026-01-01T00:00:00Z')
  assert.deepEqual(made({ service: { name: 'a', namespace: 'b' } })['status'], {})
})
