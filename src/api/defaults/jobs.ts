/** Defaults of Job and CronJob. */
import type { Job, JobSpec } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { type Defaulter, missing, unset, whenAny } from './rule.ts'
import { labelsFromTemplate } from './workloads.ts'

const batch = (name: string) => `io.k8s.api.batch.v1.${name}`
const MAX_INT32 = 2147483647

const isAbsent = (value: unknown): boolean => value === undefined || value === null

function job(value: Partial<Job>): Fields | undefined {
  const spec: Partial<JobSpec> = value.spec ?? {}
  const added = unset(spec, {
    ...(isAbsent(spec.completions) && isAbsent(spec.parallelism) ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: isAbsent(spec.backoffLimitPerIndex) ? 6 : MAX_INT32,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: isAbsent(spec.podFailurePolicy) ? 'TerminatingOrFailed' : 'Failed',
  })
  return whenAny({
    ...(added ? { spec: { ...spec, ...added } } : {}),
    ...labelsFromTemplate(value, spec.template?.metadata?.labels),
  })
}

export const jobDefaults: Readonly<Record<string, Defaulter>> = {
  [batch('Job')]: job,
  [batch('CronJobSpec')]: (value) =>
    missing(value, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  [batch('PodFailurePolicyOnPodConditionsPattern')]: (value) => missing(value, { status: 'True' }),
}
