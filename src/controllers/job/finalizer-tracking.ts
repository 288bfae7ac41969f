/**
 * Counting a job's pods so that each counts once, whatever fails in between: ended pods are first noted in the status by
 * uid, then lose their finalizer, then move from the notes into the counts.
 */
import type { Job, JobStatus, Pod } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import type { ResourceClient } from '../../client/client.ts'
import { formatIndexes, indexOf, parseIndexes } from './completion-indexes.ts'
import {
  type Ending,
  hasFailed,
  hasSucceeded,
  isIndexed,
  isTracked,
  trackingFinalizer,
  withJobCondition,
} from './job.ts'
import { countsAsFailed } from './pod-failure-policy.ts'
import type { JobProgress } from './progress.ts'

/** Ended pods in one round. */
const mostAtOnce = 500

export interface TrackingParts {
  writeStatus(job: Job, status: JobStatus): Promise<Job>
  /** Resolves when the pod's tracking finalizer is off. */
  release(pod: Pod): Promise<void>
  now(): number
}

export interface CountedPods {
  readonly job: Job
  /** The job has its last condition now. */
  readonly ended: boolean
  /** There were more ended pods than one round takes. */
  readonly more: boolean
}

/** `status`: as this sync has it so far, with the numbers of active, ready and terminating pods. */
export async function countAndRelease(
  parts: TrackingParts,
  stored: Job,
  status: JobStatus,
  progress: JobProgress,
  ending: Ending | undefined,
): Promise<CountedPods> {
  let job = stored
  let current = status
  const completions: number = job.spec?.completions ?? 0
  const uncounted = {
    succeeded: [...((status.uncountedTerminatedPods?.succeeded ?? []) as readonly string[])],
    failed: [...((status.uncountedTerminatedPods?.failed ?? []) as readonly string[])],
  }
  const completed = parseIndexes(status.completedIndexes ?? '', completions)
  const release: Pod[] = []
  const tracked = progress.own.filter(isTracked)
  const kept = new Set(ending === undefined ? progress.toReplace.values() : [])
  let more = false
  for (const pod of tracked) {
    const uid = pod.metadata.uid ?? ''
    if (release.length === mostAtOnce) {
      more = true
      break
    }
    const index = isIndexed(job) ? indexOf(pod, completions) : undefined
    if (kept.has(pod)) continue
    // A pod that the status counts as failed stays failed, though it may succeed after its job has failed.
    const isNotedFailed = uncounted.failed.includes(uid)
    if (hasSucceeded(pod) && !isNotedFailed) {
      if (index !== undefined) completed.add(index)
      else if (!isIndexed(job) && !uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid)
      release.push(pod)
    } else if (isNotedFailed || hasFailed(job, pod) || ending?.type === 'Failed') {
      const has = !isIndexed(job) || index !== undefined
      if (has && countsAsFailed(job, pod) && !isNotedFailed) uncounted.failed.push(uid)
      release.push(pod)
    } else if (ending !== undefined) release.push(pod)
  }
  // Noted before, and released since.
  settle(new Set(tracked.map((pod) => pod.metadata.uid ?? '')))
  if (isIndexed(job)) {
    current = { ...current, succeeded: completed.size, completedIndexes: formatIndexes(completed) }
  }
  if (progress.failedIndexes !== undefined) {
    current = { ...current, failedIndexes: formatIndexes(progress.failedIndexes) }
  }
  if (ending !== undefined) {
    const interim = ending.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
    const conditions = withJobCondition(
      current.conditions ?? [],
      interim,
      'True',
      ending.reason,
      ending.message,
      parts.now(),
    )
    current = { ...current, conditions }
  }
  await write()
  const released = new Set<string>()
  await Promise.all(
    release.map(async (pod) => {
      await parts.release(pod)
      released.add(pod.metadata.uid ?? '')
    }),
  )
  settle(new Set(tracked.map((pod) => pod.metadata.uid ?? '').filter((uid) => !released.has(uid))))
  const counted = uncounted.succeeded.length === 0 && uncounted.failed.length === 0 && !more
  // A job is over when its last pod is.
  const ended = ending !== undefined && counted && !current.terminating
  if (ended && ending !== undefined) {
    const conditions = withJobCondition(
      current.conditions ?? [],
      ending.type,
      'True',
      ending.reason,
      ending.message,
      parts.now(),
    )
    const completionTime = ending.type === 'Complete' ? { completionTime: formatTime(parts.now()) } : {}
    current = { ...current, conditions, ...completionTime }
  }
  await write()
  return { job, ended, more }

  /** Those noted that no pod with the finalizer stands for any more are counted. */
  function settle(held: ReadonlySet<string>): void {
    for (const kind of ['succeeded', 'failed'] as const) {
      const left = uncounted[kind].filter((uid) => held.has(uid))
      const done = uncounted[kind].length - left.length
      uncounted[kind] = left
      if (done > 0) current = { ...current, [kind]: (current[kind] ?? 0) + done }
    }
  }

  async function write(): Promise<void> {
    const noted = Object.fromEntries(Object.entries(uncounted).filter(([, uids]) => uids.length > 0))
    const next = withoutZeros({ ...current, uncountedTerminatedPods: noted })
    if (sameJson(next, job.status ?? {})) return
    job = await parts.writeStatus(job, next)
    current = job.status ?? {}
  }
}

/** Counts of nothing are not written, but for those that the API always shows. */
function withoutZeros(status: JobStatus): JobStatus {
  const absent = new Set(['active', 'succeeded', 'failed'])
  return Object.fromEntries(
    Object.entries(status).filter(
      ([name, value]) =>
        !(absent.has(name) && value === 0) && (value !== '' || name === 'failedIndexes') && value !== undefined,
    ),
  )
}

export async function removeTrackingFinalizer(pods: Pick<ResourceClient, 'patch'>, pod: Pod): Promise<void> {
  const body = { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } }
  await pods.patch(pod.metadata.name ?? '', 'strategic', body).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}
