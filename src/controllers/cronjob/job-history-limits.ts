/** Which of a CronJob's ended jobs have to go: those beyond successfulJobsHistoryLimit and failedJobsHistoryLimit. Pure. */
import type { CronJob, Job } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { trueCondition } from '../job/job.ts'

/** Finished jobs beyond the limits, those that began first, first. */
export function surplusJobs(cronJob: CronJob, jobs: readonly Job[]): readonly Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec!
  const beyond = (type: string, limit: number | undefined): readonly Job[] => {
    if (limit === undefined) return []
    const ended = jobs.filter((job) => trueCondition(job, type) !== undefined)
    return ended.sort(byStart).slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)]
}

/** Jobs by the time of their start, those that have not started last; then by name. */
function byStart(a: KubeObject, b: KubeObject): number {
  const start = (job: Job): string => job.status?.startTime ?? '9'
  const name = ({ metadata }: KubeObject): string => metadata.name ?? ''
  if (start(a) !== start(b)) return start(a) < start(b) ? -1 : 1
  return name(a) < name(b) ? -1 : 1
}
