import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { boundedReplicas, isDisabled, withCondition } from './status.ts'

const autoscaler = (spec: Fields): KubeObject =>
  ({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec }) as never

test('bounds are kept without any metric; within them metrics decide', () => {
  const bounds = autoscaler({ minReplicas: 2, maxReplicas: 4 })
  assert.equal(boundedReplicas(bounds, 5)?.replicas, 4)
  assert.equal(boundedReplicas(bounds, 1)?.replicas, 2)
  assert.equal(boundedReplicas(bounds, 3), undefined)
  assert.ok(isDisabled(bounds, 0))
  assert.ok(!isDisabled(autoscaler({ minReplicas: 0, maxReplicas: 4 }), 0))
})

test('a condition keeps its time while its status stays', () => {
  const first = withCondition({}, 'AbleToScale', 'True', 'A', 'a', 0)
  const second = withCondition(first, 'AbleToScale', 'True', 'B', 'b', 60_000)
  assert.deepEqual(second['conditions'][0], {
    type: 'AbleToScale',
    status: 'True',
    lastTransitionTime: '1970-01-01T00:00:00Z',
    reason: 'B',
    message: 'b',
  })
  const third = withCondition(second, 'AbleToScale', 'False', 'C', 'c', 60_000)
  assert.equal(third['conditions'][0].lastTransitionTime, '1970-01-01T00:01:00Z')
})
