/** The status of a HorizontalPodAutoscaler. Pure. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'

export type AutoscalerCondition = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero'

/** With this condition; the time is that of its last change of status. */
export function withCondition(
  status: Fields,
  type: AutoscalerCondition,
  value: 'True' | 'False',
  reason: string,
  message: string,
  nowMs: number,
): Fields {
  const old: readonly Fields[] = status['conditions'] ?? []
  const known = old.find((condition) => condition['type'] === type)
  const lastTransitionTime = known?.['status'] === value ? known['lastTransitionTime'] : formatTime(nowMs)
  const next = { type, status: value, lastTransitionTime, reason, message }
  const conditions = known === undefined ? [...old, next] : old.map((one) => (one === known ? next : one))
  return { ...status, conditions }
}

/** What the bounds alone make of the number of replicas; undefined when it is for the metrics to say. */
export function boundedReplicas(
  autoscaler: KubeObject,
  current: number,
): { readonly replicas: number; readonly reason: string } | undefined {
  const { minReplicas = 1, maxReplicas } = autoscaler['spec'] as { minReplicas?: number; maxReplicas: number }
  if (current > maxReplicas)
    return { replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < minReplicas)
    return { replicas: minReplicas, reason: 'Current number of replicas below Spec.MinReplicas' }
  return undefined
}

/** A target at rest is left there, unless the autoscaler itself may go that far. */
export const isDisabled = (autoscaler: KubeObject, current: number): boolean =>
  current === 0 && (autoscaler['spec'].minReplicas ?? 1) !== 0
