/** The jobs of a CronJob: made for a time, and which of the old ones have to go. Pure. */
import type { CronJob, Job } from '../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import { trueCondition } from '../job/job.ts'
import { controllerReference } from '../pods/pod.ts'
import { zonedTime } from './next-schedule-time.ts'

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

export const jobName = (cronJob: CronJob, timeMs: number): string =>
  `${cronJob.metadata.name}-${Math.floor(timeMs / 60_000)}`

export function jobFor(cronJob: CronJob, timeMs: number): KubeObject {
  const { metadata, spec } = cronJob.spec!.jobTemplate
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations: {
        ...metadata?.annotations,
        [scheduledAnnotation]: zonedTime(cronJob.spec?.timeZone ?? '', timeMs),
      },
      name: jobName(cronJob, timeMs),
      creationTimestamp: formatTime(timeMs),
      ownerReferences: [controllerReference(cronJob)],
    },
    spec,
  }
}

/** As the status lists it while it runs. */
export function referenceTo({ metadata }: KubeObject): Fields {
  const { namespace, name, uid, resourceVersion } = metadata
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion }
}

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
