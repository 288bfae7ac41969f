/** What the job controllers need to know of a job and its pods. */
import type { Job, JobCondition, Pod } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'

export const jobsResource = { group: 'batch', version: 'v1', resource: 'jobs' }
/** Keeps a pod until it is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === 'Indexed'
export const isSuspended = (job: Job): boolean => job.spec?.suspend === true
export const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(trackingFinalizer) === true

export function trueCondition(job: Job, type: string): JobCondition | undefined {
  return ((job.status?.conditions ?? []) as readonly JobCondition[]).find(
    (condition) => condition.type === type && condition.status === 'True',
  )
}

export const isFinished = (job: Job): boolean =>
  trueCondition(job, 'Complete') !== undefined || trueCondition(job, 'Failed') !== undefined

/** Why and how a job ends, before its pods are counted and after. */
export interface Ending {
  readonly type: 'Complete' | 'Failed'
  readonly reason: string
  readonly message: string
}

/** Conditions with one more (or with that one changed). */
export function withJobCondition(
  conditions: readonly JobCondition[],
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  nowMs: number,
): readonly JobCondition[] {
  const now = formatTime(nowMs)
  const next = { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message }
  const known = conditions.find((condition) => condition.type === type)
  if (known === undefined) return [...conditions, next]
  if (known.status === status && known.reason === reason) return conditions
  return conditions.map((condition) => (condition === known ? next : condition))
}

/** Others have kinds of that name, too. */
export const isJob = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean =>
  apiVersion === 'batch/v1' && kind === 'Job'

/** Other controllers may have taken a job over (KEP-4368). */
export const isManaged = ({ spec }: Job): boolean =>
  spec?.managedBy === undefined || spec?.managedBy === 'kubernetes.io/job-controller'

/** A pod that is being deleted is replaced only once it is terminal (podReplacementPolicy `Failed`, KEP-3939). */
export const replacesOnlyFailed = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined

/** A pod that will not succeed any more counts as failed; one that goes does only if its replacement need not wait for it. */
export function hasFailed(job: Job, pod: Pod): boolean {
  const phase = pod.status?.phase
  if (phase === 'Failed') return true
  if (replacesOnlyFailed(job)) return false
  return pod.metadata.deletionTimestamp !== undefined && phase !== 'Succeeded'
}

export const hasSucceeded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded'

/**
 * When the pod ended, in milliseconds: its last container did; where they do not all say so, when it was found not ready, was
 * asked to end, or was made.
 */
export function finishTime(pod: Pod): number {
  const statuses = pod.status?.containerStatuses ?? []
  const ends = statuses.flatMap(({ state }) =>
    state?.terminated?.finishedAt ? [Date.parse(state.terminated.finishedAt)] : [],
  )
  if (ends.length > 0 && ends.length === statuses.length) return Math.max(...ends)
  const unready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  if (unready?.lastTransitionTime) return Date.parse(unready.lastTransitionTime)
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata
  return deletionTimestamp === undefined
    ? Date.parse(creationTimestamp ?? '')
    : Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000
}
