/** What the job controller tells of its work, under kube-controller-manager's names; nothing where no metrics are kept. */
import type { Job, Pod } from '../../api/generated/types.ts'
import { exponentialBuckets } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Ending, isIndexed, isTracked, replacesOnlyFailed } from './job.ts'

export type JobSyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted'

export interface JobMetrics {
  /** A sync that began at `began`, in milliseconds of the monotonic clock, is over. */
  synced(job: Job, action: JobSyncAction, result: 'success' | 'error', began: number): void
  /** A pod was made, or refused; `isAgain`: others of the job have failed or are ending. */
  made(job: Job, isAgain: boolean, isMade: boolean): void
  /** The status that was written counts more ended pods than the one before. */
  counted(before: Job, now: Job): void
  finished(job: Job, ending: Ending): void
  /** A pod came, changed or went: `undefined` where it is not there. */
  podSeen(old: Pod | undefined, now: Pod | undefined): void
}

const silent: JobMetrics = {
  synced: () => {},
  made: () => {},
  counted: () => {},
  finished: () => {},
  podSeen: () => {},
}

export function jobMetrics({ clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>): JobMetrics {
  if (metrics === undefined) return silent
  const labels = ['action', 'completion_mode', 'result']
  const syncs = metrics.counter('job_controller_job_syncs_total', 'Syncs of jobs.', labels)
  const seconds = metrics.histogram(
    'job_controller_job_sync_duration_seconds',
    'Seconds that a sync of a job took.',
    labels,
    exponentialBuckets(0.004, 2, 15),
  )
  const jobs = metrics.counter('job_controller_jobs_finished_total', 'Jobs that are over, by why.', [
    'completion_mode',
    'reason',
    'result',
  ])
  const pods = metrics.counter('job_controller_job_pods_finished_total', 'Ended pods that their jobs have counted.', [
    'completion_mode',
    'result',
  ])
  const creations = metrics.counter('job_controller_job_pods_creation_total', 'Pods that were made, by why.', [
    'reason',
    'status',
  ])
  const held = metrics.counter(
    'job_controller_terminated_pods_tracking_finalizer_total',
    "Ended pods that had their job's finalizer (add), and that lost it (delete).",
    ['event'],
  )
  return {
    synced(job, action, result, began) {
      const values = [action, modeOf(job), result]
      syncs.child(...values).add()
      seconds.child(...values).observe((clock.monotonic() - began) / 1000)
    },
    made(job, isAgain, isMade) {
      const again = replacesOnlyFailed(job) ? 'recreate_failed' : 'recreate_terminating_or_failed'
      creations.child(isAgain ? again : 'new', isMade ? 'succeeded' : 'failed').add()
    },
    counted(before, now) {
      for (const result of ['failed', 'succeeded'] as const) {
        const more = (now.status?.[result] ?? 0) - (before.status?.[result] ?? 0)
        pods.child(modeOf(now), result).add(Math.max(0, more))
      }
    },
    finished: (job, { type, reason }) =>
      jobs.child(modeOf(job), reason, type === 'Complete' ? 'succeeded' : 'failed').add(),
    podSeen(old, now) {
      const was = old !== undefined && isHeld(old)
      const is = now !== undefined && isHeld(now)
      if (was !== is) held.child(is ? 'add' : 'delete').add()
    },
  }
}

const modeOf = (job: Job): string => (isIndexed(job) ? 'Indexed' : 'NonIndexed')
const isHeld = (pod: Pod): boolean => isTracked(pod) && ['Failed', 'Succeeded'].includes(pod.status?.phase ?? '')
