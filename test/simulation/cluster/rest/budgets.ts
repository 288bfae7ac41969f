/** Budgets at rest: what they tell is counted from the pods as they are, and they allow what is over. */
import type { Fields, KubeObject } from '../../../../src/api/object.ts'
import { covers } from '../laws/budgets.ts'
import { describe, isMarked, isReady } from '../laws/laws.ts'
import type { Truth } from '../truth.ts'

export function checkBudget(truth: Truth, failed: (problem: string) => void, budget: KubeObject): void {
  const what = describe(budget)
  const { status = {}, spec } = budget
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods, disruptedPods = {} }: Fields = status
  const condition = (status.conditions ?? []).find(({ type }: Fields) => type === 'DisruptionAllowed')
  // The controller of a pod is not there: nothing is known, and nothing allowed.
  if (condition?.reason === 'SyncFailed') {
    if (disruptionsAllowed !== 0) failed(`${what} allows ${disruptionsAllowed} and knows nothing of its pods`)
    return
  }
  if (status.observedGeneration !== budget.metadata.generation) failed(`${what} was not observed as it is now`)
  const covered = truth.list('pods').filter((pod) => covers(budget, pod))
  for (const name of Object.keys(disruptedPods))
    if (!covered.some((pod) => pod.metadata.name === name)) failed(`${what} waits for ${name}, which is gone`)
  const healthy = covered.filter(
    (pod) => !isMarked(pod) && isReady(pod) && !Object.hasOwn(disruptedPods, pod.metadata.name ?? ''),
  ).length
  if (currentHealthy !== healthy) failed(`${what} counts ${currentHealthy} of ${healthy} healthy pods`)
  const over = expectedPods > 0 ? Math.max(0, healthy - desiredHealthy) : 0
  if (disruptionsAllowed !== over) failed(`${what} allows ${disruptionsAllowed} evictions instead of ${over}`)
  if (
    typeof spec.minAvailable === 'number' &&
    (expectedPods !== covered.length || desiredHealthy !== spec.minAvailable)
  )
    failed(
      `${what} wants ${desiredHealthy} of ${expectedPods} pods instead of ${spec.minAvailable} of ${covered.length}`,
    )
  if (spec.maxUnavailable === 1 && desiredHealthy !== Math.max(0, expectedPods - 1))
    failed(`${what} wants ${desiredHealthy} of ${expectedPods} pods, of which one may be unavailable`)
  if (spec.minAvailable === '50%' && desiredHealthy !== Math.ceil(expectedPods / 2))
    failed(`${what} wants ${desiredHealthy} of ${expectedPods} pods instead of a half`)
}
