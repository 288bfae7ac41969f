/** How far a job is, by its status and its pods. Pure. */
import type { Job, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isActive, isTerminating } from '../pods/pod.ts'
import { failedIndexesOf, podsToReplace } from './backoff-limit-per-index.ts'
import { indexOf, parseIndexes, pendingIndexes } from './completion-indexes.ts'
import { hasFailed, hasSucceeded, isIndexed, isTracked, replacesOnlyFailed } from './job.ts'
import { countsAsFailed } from './pod-failure-policy.ts'
import { surplusPods } from './removal-order.ts'

export interface JobProgress {
  readonly own: readonly Pod[]
  readonly active: readonly KubeObject[]
  /** Ended pods that neither the counts nor the notes of the status hold. */
  readonly fresh: readonly KubeObject[]
  /** Pods, or indexes of an Indexed job. */
  readonly succeeded: number
  /** Pods that count against the job's limit. */
  readonly failed: number
  /** Of Indexed jobs only. */
  readonly completedIndexes: ReadonlySet<number>
  /** Of jobs with a limit per index only. */
  readonly failedIndexes: ReadonlySet<number> | undefined
  /** By index; kept until they are replaced. */
  readonly toReplace: ReadonlyMap<number, KubeObject>
}

export function progressOf(job: Job, own: readonly Pod[]): JobProgress {
  const status = job.status
  const { succeeded: notedSucceeded = [], failed: notedFailed = [] } = status?.uncountedTerminatedPods ?? {}
  const noted = new Set<string>([...notedSucceeded, ...notedFailed])
  const fresh = own.filter(
    (pod) => isTracked(pod) && !noted.has(pod.metadata.uid ?? '') && (hasSucceeded(pod) || hasFailed(job, pod)),
  )
  const newFailures = fresh.filter((pod) => hasFailed(job, pod) && countsAsFailed(job, pod)).length
  const completedIndexes = isIndexed(job) ? completedIndexesOf(job, own) : new Set<number>()
  const failedIndexes = failedIndexesOf(job, own)
  return {
    own,
    active: own.filter(isActive),
    fresh,
    succeeded: isIndexed(job)
      ? completedIndexes.size
      : (status?.succeeded ?? 0) + notedSucceeded.length + fresh.filter(hasSucceeded).length,
    failed: (status?.failed ?? 0) + notedFailed.length + newFailures,
    completedIndexes,
    failedIndexes,
    toReplace: podsToReplace(job, own, [completedIndexes, failedIndexes]),
  }
}

function completedIndexesOf(job: Job, own: readonly Pod[]): ReadonlySet<number> {
  const completions: number = job.spec?.completions ?? 0
  const done = parseIndexes(job.status?.completedIndexes ?? '', completions)
  for (const pod of own) {
    const index = hasSucceeded(pod) && isTracked(pod) ? indexOf(pod, completions) : undefined
    if (index !== undefined) done.add(index)
  }
  return done
}

/** How many pods are to be active now. */
export function wantedActive(job: Job, { active, succeeded }: JobProgress): number {
  const { parallelism = 1, completions } = job.spec!
  if (completions !== undefined) return Math.min(parallelism, Math.max(0, completions - succeeded))
  // Without a number, the first success is the last but for those under way.
  return succeeded > 0 ? active.length : parallelism
}

/** Indexes without a pod at work, the lowest first. */
export function freeIndexes(job: Job, count: number, progress: JobProgress): readonly number[] {
  const completions: number = job.spec?.completions ?? 0
  const taken = new Set([...progress.completedIndexes, ...(progress.failedIndexes ?? [])])
  for (const pod of progress.own) {
    const index = indexOf(pod, completions)
    if (index === undefined) continue
    if (isActive(pod) || (replacesOnlyFailed(job) && isTerminating(pod))) taken.add(index)
  }
  return pendingIndexes(count, taken, completions)
}

/** Active pods of an Indexed job whose index it no longer has, or has another pod for that is further. */
export function misplaced(job: Job, active: readonly KubeObject[]): readonly KubeObject[] {
  if (!isIndexed(job)) return []
  const completions: number = job.spec?.completions ?? 0
  return [...Map.groupBy(active, (pod) => indexOf(pod, completions))].flatMap(([index, pods]) =>
    index === undefined ? pods : surplusPods(pods, pods.length - 1),
  )
}

export function isJobComplete(job: Job, succeeded: number, active: number): boolean {
  const { completions } = job.spec!
  // Without a number, any success is enough once the others have ended.
  if (completions === undefined) return succeeded > 0 && active === 0
  return succeeded >= completions && active === 0
}
