/** The job of a CronJob for a time: its name, which no second job for that time can have, and what its template makes it. Pure. */
import type { CronJob } from '../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
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
