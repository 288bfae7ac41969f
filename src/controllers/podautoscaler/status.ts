/** The status of a HorizontalPodAutoscaler. Pure. */
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus, MetricStatus } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'

export type AutoscalerCondition = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero'

/** Where nothing was found out, no metrics are told: null. */
export type AutoscalerStatus = Partial<Omit<HorizontalPodAutoscalerStatus, 'currentMetrics'>> & {
  readonly currentMetrics?: readonly MetricStatus[] | null
}

/** With this condition; the time is that of its last change of status. */
export function withAutoscalerCondition(
  status: AutoscalerStatus,
  type: AutoscalerCondition,
  value: 'True' | 'False',
  reason: string,
  message: string,
  nowMs: number,
): AutoscalerStatus {
  const old = status.conditions ?? []
  const known = old.find((condition) => condition.type === type)
  const lastTransitionTime = (known?.status === value ? known.lastTransitionTime : undefined) ?? formatTime(nowMs)
  const next = { type, status: value, lastTransitionTime, reason, message }
  const conditions = known === undefined ? [...old, next] : old.map((one) => (one === known ? next : one))
  return { ...status, conditions }
}

export const hasCondition = (status: AutoscalerStatus, type: AutoscalerCondition): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true

export const minReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec?.minReplicas ?? 1

/** What the bounds alone make of the number of replicas; undefined when it is for the metrics to say. */
export function boundedReplicas(
  autoscaler: HorizontalPodAutoscaler,
  current: number,
): { readonly replicas: number; readonly reason: string } | undefined {
  const max = autoscaler.spec?.maxReplicas ?? 0
  const min = minReplicasOf(autoscaler)
  if (current > max) return { replicas: max, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < min) return { replicas: min, reason: 'Current number of replicas below Spec.MinReplicas' }
  return undefined
}
