/** --horizontal-pod-autoscaler-* of kube-controller-manager. */
import type { PodAutoscalerOptions } from '../controllers/podautoscaler/settings.ts'
import { FlagError, type ReadFlags } from './flags.ts'

/** @throws FlagError for a period without which nothing else would be done */
export function autoscalerOptionsOf(flags: ReadFlags): PodAutoscalerOptions {
  const syncPeriodMs = flags.ms('horizontal-pod-autoscaler-sync-period')
  if (syncPeriodMs <= 0) throw new FlagError('--horizontal-pod-autoscaler-sync-period must be greater than 0')
  return {
    syncPeriodMs,
    downscaleStabilizationMs: flags.ms('horizontal-pod-autoscaler-downscale-stabilization'),
    tolerance: flags.number('horizontal-pod-autoscaler-tolerance') ?? 0,
    cpuInitializationPeriodMs: flags.ms('horizontal-pod-autoscaler-cpu-initialization-period'),
    initialReadinessDelayMs: flags.ms('horizontal-pod-autoscaler-initial-readiness-delay'),
  }
}
