/**
 * Failures told by index (backoffLimitPerIndex, KEP-3850). How often an index has failed is written on its newest pod; that
 * pod, once failed itself, is kept until its replacement, which needs to know, has been made. Pure.
 */
import type { Job, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { parseInt64 } from '../../api/objects/integers.ts'
import { indexOf, parseIndexes } from './completion-indexes.ts'
import { finishTime, hasFailed, isTracked } from './job.ts'
import { policyVerdict } from './pod-failure-policy.ts'
import { backoffMs } from './pod-retry-delay.ts'

const failuresAnnotation = 'batch.kubernetes.io/job-index-failure-count'
const ignoredAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'

interface Failures {
  readonly counted: number
  readonly ignored: number
}

export const hasLimitPerIndex = (job: Job): boolean => job.spec?.backoffLimitPerIndex !== undefined

/** Before this pod: as it was made. */
function failuresBefore({ metadata }: KubeObject): Failures {
  const count = (name: string) => Number(parseInt64(metadata.annotations?.[name], 32) ?? 0)
  return { counted: count(failuresAnnotation), ignored: count(ignoredAnnotation) }
}

function failuresWith(job: Job, failed: KubeObject | undefined): Failures {
  if (failed === undefined) return { counted: 0, ignored: 0 }
  const { counted, ignored } = failuresBefore(failed)
  return policyVerdict(job, failed)?.counts === false
    ? { counted, ignored: ignored + 1 }
    : { counted: counted + 1, ignored }
}

/** What the pod that replaces `failed` (or is its index's first) carries. */
export function failureAnnotations(job: Job, failed: KubeObject | undefined): Readonly<Record<string, string>> {
  if (!hasLimitPerIndex(job)) return {}
  const { counted, ignored } = failuresWith(job, failed)
  return {
    [failuresAnnotation]: String(counted),
    ...(ignored > 0 ? { [ignoredAnnotation]: String(ignored) } : {}),
  }
}

/** Indexes that will not be tried again: those of the status, and those whose last failure was one too many. */
export function failedIndexesOf(job: Job, own: readonly Pod[]): ReadonlySet<number> | undefined {
  if (!hasLimitPerIndex(job)) return undefined
  const { completions = 0, backoffLimitPerIndex } = job.spec!
  const failed = parseIndexes(job.status?.failedIndexes ?? '', completions)
  for (const pod of own) {
    const index = isTracked(pod) && hasFailed(job, pod) ? indexOf(pod, completions) : undefined
    if (index === undefined) continue
    const verdict = policyVerdict(job, pod)
    const counts = verdict?.counts ?? true
    if (verdict?.action === 'FailIndex' || (counts && failuresBefore(pod).counted >= (backoffLimitPerIndex ?? 0)))
      failed.add(index)
  }
  return failed
}

/** By index the failed pod that is still to be replaced. */
export function podsToReplace(
  job: Job,
  own: readonly Pod[],
  over: readonly (ReadonlySet<number> | undefined)[],
): ReadonlyMap<number, KubeObject> {
  const last = new Map<number, KubeObject>()
  if (!hasLimitPerIndex(job)) return last
  const completions: number = job.spec?.completions ?? 0
  const alive = new Set<number>()
  for (const pod of own) {
    const index = isTracked(pod) ? indexOf(pod, completions) : undefined
    if (index === undefined || over.some((indexes) => indexes?.has(index))) continue
    if (!hasFailed(job, pod)) alive.add(index)
    else if (!last.has(index) || failuresOf(last.get(index)) < failuresOf(pod)) last.set(index, pod)
  }
  for (const index of alive) last.delete(index)
  return last
}

function failuresOf(pod: Pod | undefined): number {
  if (pod === undefined) return -1
  const { counted, ignored } = failuresBefore(pod)
  return counted + ignored
}

/** Milliseconds until a failed pod may be replaced; 0 for an index that has not failed. */
export function indexBackoff(job: Job, failed: KubeObject | undefined, nowMs: number): number {
  if (failed === undefined) return 0
  const { counted, ignored } = failuresWith(job, failed)
  return Math.max(0, backoffMs(counted + ignored) - (nowMs - finishTime(failed)))
}
