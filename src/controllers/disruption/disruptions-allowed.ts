/** The status of a PodDisruptionBudget: how many pods it covers, how many are well and must be, and how many may be evicted. */
import type { Condition, Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'
import { scaled } from '../int-or-percent.ts'
import { isReady } from '../pods/pod.ts'

/** An evicted pod that is still not being deleted after this time is not coming to it. */
const evictionTimeoutMs = 120_000

interface Expected {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/**
 * `scale`: the replicas that the pods' controllers want together; needed for percentages and maxUnavailable.
 */
export async function expectedOf(
  budget: PodDisruptionBudget,
  pods: number,
  scale: () => Promise<number>,
): Promise<Expected> {
  const { minAvailable, maxUnavailable } = budget.spec!
  if (maxUnavailable !== undefined) {
    const expectedPods = await scale()
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods)) }
  }
  if (typeof minAvailable === 'number') return { expectedPods: pods, desiredHealthy: minAvailable }
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 }
  const expectedPods = await scale()
  return { expectedPods, desiredHealthy: scaled(minAvailable, expectedPods) }
}

export interface Disrupted {
  /** Evicted a moment ago, and not being deleted yet: pod name to time. */
  readonly pods: Readonly<Record<string, string>>
  /** Milliseconds until the first of them is given up; undefined without any. */
  readonly recheckMs: number | undefined
}

export function disruptedOf(budget: PodDisruptionBudget, pods: readonly Pod[], nowMs: number): Disrupted {
  const noted: Readonly<Record<string, string>> = budget.status?.disruptedPods ?? {}
  const kept: [string, string][] = []
  let recheckMs: number | undefined
  for (const pod of pods) {
    const name = pod.metadata.name ?? ''
    const time = Object.hasOwn(noted, name) ? noted[name] : undefined
    if (time === undefined || pod.metadata.deletionTimestamp !== undefined) continue
    const left = Date.parse(time) + evictionTimeoutMs - nowMs
    if (left <= 0) continue
    kept.push([name, time])
    recheckMs = Math.min(recheckMs ?? left, left)
  }
  return { pods: Object.fromEntries(kept), recheckMs }
}

export function budgetStatus(
  budget: PodDisruptionBudget,
  { expectedPods, desiredHealthy }: Expected,
  pods: readonly Pod[],
  disrupted: Disrupted,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const healthy = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      !Object.hasOwn(disrupted.pods, pod.metadata.name ?? '') &&
      isReady(pod),
  )
  const currentHealthy = healthy.length
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const generation = budget.metadata.generation ?? 0
  const reason = disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods'
  const status = disruptionsAllowed > 0 ? 'True' : 'False'
  return {
    observedGeneration: generation,
    ...(Object.keys(disrupted.pods).length > 0 ? { disruptedPods: disrupted.pods } : {}),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withAllowed(budget.status?.conditions ?? [], { status, reason, message: '' }, generation, nowMs),
  }
}

/** The DisruptionAllowed condition, whose time is that of its last change of status. */
export function withAllowed(
  old: readonly Condition[],
  now: { readonly status: string; readonly reason: string; readonly message: string },
  generation: number | undefined,
  nowMs: number,
): readonly Condition[] {
  const known = old.find((condition) => condition.type === 'DisruptionAllowed')
  const lastTransitionTime = known?.status === now.status ? known.lastTransitionTime : formatTime(nowMs)
  const observed = generation === undefined ? {} : { observedGeneration: generation }
  const next = { type: 'DisruptionAllowed', ...observed, lastTransitionTime, ...now }
  return known === undefined ? [...old, next] : old.map((condition) => (condition === known ? next : condition))
}
