/** How far a job is, by its status and its pods. Pure. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { indexOf, parseIndexes, pendingIndexes } from './indexes.ts'
import { conditionOf, type Ending, hasFailed, hasSucceeded, isIndexed, isTracked } from './job.ts'

/** Ended pods that neither the counts nor the notes of the status hold. */
export function newlyFinished(job: KubeObject, own: readonly KubeObject[]): readonly KubeObject[] {
  const { succeeded = [], failed = [] } = (job['status']?.uncountedTerminatedPods ?? {}) as Fields
  const noted = new Set<string>([...succeeded, ...failed])
  return own.filter(
    (pod) => isTracked(pod) && !noted.has(pod.metadata.uid ?? '') && (hasSucceeded(pod) || hasFailed(job, pod)),
  )
}

export function succeededOf(job: KubeObject, own: readonly KubeObject[], fresh: readonly KubeObject[]): number {
  const status: Fields = job['status'] ?? {}
  if (!isIndexed(job))
    return (
      (status['succeeded'] ?? 0) +
      (status['uncountedTerminatedPods']?.succeeded?.length ?? 0) +
      fresh.filter(hasSucceeded).length
    )
  return completedIndexes(job, own).size
}

function completedIndexes(job: KubeObject, own: readonly KubeObject[]): ReadonlySet<number> {
  const completions: number = job['spec'].completions ?? 0
  const done = parseIndexes(job['status']?.completedIndexes ?? '', completions)
  for (const pod of own) {
    const index = hasSucceeded(pod) && isTracked(pod) ? indexOf(pod, completions) : undefined
    if (index !== undefined) done.add(index)
  }
  return done
}

export function freeIndexes(
  job: KubeObject,
  count: number,
  active: readonly KubeObject[],
  fresh: readonly KubeObject[],
) {
  const completions: number = job['spec'].completions ?? 0
  const taken = new Set(completedIndexes(job, fresh))
  for (const pod of active) {
    const index = indexOf(pod, completions)
    if (index !== undefined) taken.add(index)
  }
  return pendingIndexes(count, taken, completions)
}

/** Decided in an earlier sync, and not told yet. */
export function plannedEnding(job: KubeObject): Ending | undefined {
  const met = conditionOf(job, 'SuccessCriteriaMet')
  if (met !== undefined) return { type: 'Complete', reason: met['reason'], message: met['message'] }
  const target = conditionOf(job, 'FailureTarget')
  return target && { type: 'Failed', reason: target['reason'], message: target['message'] }
}

export function isComplete(job: KubeObject, succeeded: number, active: number): boolean {
  const { completions } = job['spec']
  // Without a number, any success is enough once the others have ended.
  if (completions === undefined) return succeeded > 0 && active === 0
  return succeeded >= completions && active === 0
}
