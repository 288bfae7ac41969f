import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../object.ts'
import { validateJobStatus } from './job-status.ts'
import { podWarnings } from './pod-warnings.ts'
import { claimTemplateWarnings } from './warnings.ts'

const object = (kind: string, more: Omit<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'o' },
  ...more,
})

test("a StatefulSet's claims are told of a fraction of a byte, without their spec in the path", () => {
  const claim = { spec: { resources: { requests: { storage: '1500m' } } } }
  assert.deepEqual(claimTemplateWarnings(object('StatefulSet', { spec: { volumeClaimTemplates: [claim] } })), [
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ])
})

test('files of a volume that hide each other are told, each with those before it', () => {
  const projected = {
    sources: [
      { secret: { name: 's', items: [{ key: 'a', path: 'p' }] } },
      { serviceAccountToken: { path: 'p/token' } },
      { configMap: { name: 'c', items: [{ key: 'a', path: 'other' }] } },
    ],
  }
  assert.deepEqual(podWarnings(object('Pod', { spec: { volumes: [{ name: 'v', projected }] } })), [
    'volume "v" (Projected): overlapping paths: "p/token" (ServiceAccountToken) with "p" (Secret "s")',
  ])
})

test("a Job's counters only grow, and its end is told whole", () => {
  const messages = (status: object, before: object) =>
    validateJobStatus(object('Job', { status }), object('Job', { status: before })).map(
      ({ field, message }) => `${field}: ${message}`,
    )
  const complete = { type: 'Complete', status: 'True' }
  assert.deepEqual(messages({ conditions: [complete], ready: 1 }, { failed: 2 }), [
    'status.completionTime: Required value: completionTime is required for Complete jobs',
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    'status.failed: Invalid value: 0: cannot decrease the failed counter',
    'status.ready: Invalid value: 1: cannot set more ready pods than active',
  ])
  assert.deepEqual(messages({ active: 1 }, { active: 2 }), [])
  assert.deepEqual(messages({ completedIndexes: '0' }, { succeeded: 1 }), [
    'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter',
  ])
  const indexed = (status: object) => object('Job', { spec: { completionMode: 'Indexed' }, status })
  assert.deepEqual(validateJobStatus(indexed({ completedIndexes: '0', succeeded: 1 }), indexed({ succeeded: 2 })), [])
})
