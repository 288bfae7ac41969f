/** Whether a job is over, and why. Pure. */
import type { Job, JobStatus, Pod } from '../../api/generated/types.ts'
import { durationMs } from '../../api/objects/integers.ts'
import { isActive } from '../pods/pod.ts'
import { type Ending, hasFailed, isSuspended, trueCondition } from './job.ts'
import { policyVerdict } from './pod-failure-policy.ts'
import type { JobProgress } from './progress.ts'
import { successByPolicy } from './success-policy.ts'

const failed = (reason: string, message: string): Ending => ({ type: 'Failed', reason, message })

/** What comes first decides, and what was decided in an earlier sync stands. */
export function endingOf(job: Job, status: JobStatus, progress: JobProgress, nowMs: number): Ending | undefined {
  return (
    plannedEnding(job) ??
    failedByPolicy(job, progress) ??
    failedTooOften(job, progress) ??
    failedInTime(job, status, nowMs) ??
    failedByIndexes(job, progress) ??
    successByPolicy(job, progress.completedIndexes)
  )
}

/** Decided in an earlier sync, and not told yet. */
function plannedEnding(job: Job): Ending | undefined {
  const met = trueCondition(job, 'SuccessCriteriaMet')
  if (met !== undefined) return { type: 'Complete', reason: met.reason ?? '', message: met.message ?? '' }
  const target = trueCondition(job, 'FailureTarget')
  return target && failed(target.reason ?? '', target.message ?? '')
}

function failedByPolicy(job: Job, { own }: JobProgress): Ending | undefined {
  for (const pod of own) {
    const message = hasFailed(job, pod) ? policyVerdict(job, pod)?.message : undefined
    if (message !== undefined) return failed('PodFailurePolicy', message)
  }
  return undefined
}

function failedTooOften(job: Job, progress: JobProgress): Ending | undefined {
  const { backoffLimit = 6, template } = job.spec!
  // Containers that start again in their pod fail too.
  const restarts = template.spec?.restartPolicy === 'OnFailure' ? restartsOf(progress.own) : 0
  const tooMany = progress.failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit)
  return tooMany ? failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit') : undefined
}

function restartsOf(pods: readonly Pod[]): number {
  let restarts = 0
  for (const pod of pods.filter(isActive)) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    for (const { restartCount = 0 } of [...containerStatuses, ...initContainerStatuses]) restarts += restartCount
  }
  return restarts
}

/** Milliseconds until the job has run out of time, not positive when it has; undefined when time is no matter. */
export function timeLeft(job: Job, status: JobStatus, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec!
  const since = status.startTime
  if (activeDeadlineSeconds === undefined || since === undefined || isSuspended(job)) return undefined
  return Date.parse(since) + durationMs(activeDeadlineSeconds) - nowMs
}

function failedInTime(job: Job, status: JobStatus, nowMs: number): Ending | undefined {
  const left = timeLeft(job, status, nowMs)
  if (left === undefined || left > 0) return undefined
  return failed('DeadlineExceeded', 'Job was active longer than specified deadline')
}

function failedByIndexes(job: Job, { failedIndexes, succeeded }: JobProgress): Ending | undefined {
  const { maxFailedIndexes, completions = 0 } = job.spec!
  const count = failedIndexes?.size ?? 0
  if (maxFailedIndexes !== undefined && count > maxFailedIndexes)
    return failed('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  return count > 0 && count + succeeded >= completions ? failed('FailedIndexes', 'Job has failed indexes') : undefined
}
