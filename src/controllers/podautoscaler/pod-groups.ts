/** Which of a target's pods count, by what is known of them. Pure. */
import type { Pod } from '../../api/generated/types.ts'
import { podCondition } from '../pods/pod.ts'
import type { PodMetrics } from './metrics-client.ts'
import type { PodAutoscalerOptions } from './settings.ts'

export interface PodGroups {
  readonly ready: number
  readonly unready: ReadonlySet<string>
  /** They have no metrics. */
  readonly missing: ReadonlySet<string>
  /** Failed, or on their way out. */
  readonly ignored: ReadonlySet<string>
}

/** `resource`: what is measured, where that is a resource: of CPU, samples of pods that only begin do not count. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  resource: string,
  nowMs: number,
  options: PodAutoscalerOptions,
): PodGroups {
  let ready = 0
  const unready = new Set<string>()
  const missing = new Set<string>()
  const ignored = new Set<string>()
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const phase = pod.status?.phase
    const metric = metrics.get(name)
    if (deletionTimestamp !== undefined || phase === 'Failed') ignored.add(name)
    else if (phase === 'Pending') unready.add(name)
    else if (metric === undefined) missing.add(name)
    else if (resource === 'cpu' && isBeginning(pod, metric, nowMs, options)) unready.add(name)
    else ready++
  }
  return { ready, unready, missing, ignored }
}

function isBeginning(
  pod: Pod,
  { atMs, windowMs }: { readonly atMs: number; readonly windowMs: number },
  nowMs: number,
  { cpuInitializationPeriodMs, initialReadinessDelayMs }: PodAutoscalerOptions,
): boolean {
  const condition = podCondition(pod, 'Ready')
  const startTime = pod.status?.startTime
  if (condition === undefined || startTime === undefined) return true
  const started = Date.parse(startTime)
  const changed = Date.parse(condition.lastTransitionTime ?? '')
  const isUnready = condition.status === 'False'
  // While it may still be initializing: not ready, or its sample began before it was.
  if (started + cpuInitializationPeriodMs > nowMs) return isUnready || atMs < changed + windowMs
  // Afterwards: not ready, and never was.
  return isUnready && started + initialReadinessDelayMs > changed
}
