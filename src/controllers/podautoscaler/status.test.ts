import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec } from '../../api/generated/types.ts'
import { boundedReplicas, withAutoscalerCondition } from './status.ts'

const autoscaler = (
  bounds: Pick<HorizontalPodAutoscalerSpec, 'minReplicas' | 'maxReplicas'>,
): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h' },
  spec: { ...bounds, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
})

test('bounds are kept without any metric; within them metrics decide', () => {
  const bounds = autoscaler({ minReplicas: 2, maxReplicas: 4 })
  assert.equal(boundedReplicas(bounds, 5)?.replicas, 4)
  assert.equal(boundedReplicas(bounds, 1)?.replicas, 2)
  assert.equal(boundedReplicas(bounds, 3), undefined)
})

test('a condition keeps its time while its status stays', () => {
  const first = withAutoscalerCondition({}, 'AbleToScale', 'True', 'A', 'a', 0)
  const second = withAutoscalerCondition(first, 'AbleToScale', 'True', 'B', 'b', 60_000)
  assert.deepEqual(second.conditions?.[0], {
    type: 'AbleToScale',
    status: 'True',
    lastTransitionTime: '1970-01-01T00:00:00Z',
    reason: 'B',
    message: 'b',
  })
  const third = withAutoscalerCondition(second, 'AbleToScale', 'False', 'C', 'c', 60_000)
  assert.equal(third.conditions?.[0]?.lastTransitionTime, '1970-01-01T00:01:00Z')
})
