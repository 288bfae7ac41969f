/** What the job controllers need to know of a job and its pods. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'

export const jobsResource = { group: 'batch', version: 'v1', resource: 'jobs' }
/** Keeps a pod until it is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'

export const isIndexed = (job: KubeObject): boolean => job['spec'].completionMode === 'Indexed'
export const isSuspended = (job: KubeObject): boolean => job['spec'].suspend === true
export const isTracked = (pod: KubeObject): boolean => pod.metadata.finalizers?.includes(trackingFinalizer) === true

export function conditionOf(job: KubeObject, type: string): Fields | undefined {
  return ((job['status']?.conditions ?? []) as readonly Fields[]).find(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  )
}

export const isFinished = (job: KubeObject): boolean =>
  conditionOf(job, 'Complete') !== undefined || conditionOf(job, 'Failed') !== undefined

/** Why and how a job ends, before its pods are counted and after. */
export interface Ending {
  readonly type: 'Complete' | 'Failed'
  readonly reason: string
  readonly message: string
}

/** Conditions with one more (or with that one changed). */
export function withCondition(
  conditions: readonly Fields[],
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  nowMs: number,
): readonly Fields[] {
  const now = formatTime(nowMs)
  const next = { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message }
  const known = conditions.find((condition) => condition['type'] === type)
  if (known === undefined) return [...conditions, next]
  if (known['status'] === status && known['reason'] === reason) return conditions
  return conditions.map((condition) => (condition === known ? next : condition))
}

/** Other controllers may have taken a job over (KEP-4368). */
export const isManaged = ({ spec }: KubeObject): boolean =>
  spec.managedBy === undefined || spec.managedBy === 'kubernetes.io/job-controller'

/** Pods that go are not replaced before they have gone (KEP-3939). */
export const replacesOnlyFailed = ({ spec }: KubeObject): boolean =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined

/** A pod that will not succeed any more counts as failed; one that goes does only if its replacement need not wait for it. */
export function hasFailed(job: KubeObject, pod: KubeObject): boolean {
  const phase = pod['status']?.phase
  if (phase === 'Failed') return true
  if (replacesOnlyFailed(job)) return false
  return pod.metadata.deletionTimestamp !== undefined && phase !== 'Succeeded'
}

export const hasSucceeded = (pod: KubeObject): boolean => pod['status']?.phase === 'Succeeded'

/** When the pod's last container ended, in milliseconds. */
export function finishTime(pod: KubeObject, nowMs: number): number {
  const statuses: readonly Fields[] = pod['status']?.containerStatuses ?? []
  const ends = statuses.flatMap(({ state }) =>
    state?.terminated?.finishedAt ? [Date.parse(state.terminated.finishedAt)] : [],
  )
  if (ends.length > 0 && ends.length === statuses.length) return Math.max(...ends)
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp === undefined ? nowMs : Date.parse(deletionTimestamp)
}
