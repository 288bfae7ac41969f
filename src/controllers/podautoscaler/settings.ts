/** What kube-controller-manager's flags --horizontal-pod-autoscaler-* say. */
export interface PodAutoscalerOptions {
  /** Each autoscaler is looked at so often. */
  readonly syncPeriodMs: number
  /** A target is scaled down to the largest number that was recommended within this time. */
  readonly downscaleStabilizationMs: number
  /** By what part of it usage may differ from its target without being acted on. */
  readonly tolerance: number
  /** So long after its start a pod's CPU samples count only while it is ready. */
  readonly cpuInitializationPeriodMs: number
  /** A pod whose readiness changed last within this time of its start has never been ready. */
  readonly initialReadinessDelayMs: number
}

export const USUAL_OPTIONS: PodAutoscalerOptions = {
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.1,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
}
