/** What is accepted of Jobs and CronJobs, but told to the user. */
import type { CronJob, CronJobSpec, PodTemplateSpec } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { podNameWarnings, podTemplateWarnings } from './pod-warnings.ts'

export function jobWarnings(spec: Fields, path: string): string[] {
  const { completions, parallelism, completionMode, backoffLimitPerIndex } = spec
  if (completionMode !== 'Indexed' || backoffLimitPerIndex !== undefined) return []
  return completions > 100_000 && parallelism > 10_000
    ? [
        `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
      ]
    : []
}

export function cronJobWarnings(object: CronJob, old?: CronJob): string[] {
  const warnings: string[] = []
  const spec: Partial<CronJobSpec> = object.spec ?? {}
  if (!old) warnings.push(...podNameWarnings(object))
  const template: PodTemplateSpec | undefined = spec.jobTemplate?.spec?.template
  if (object.metadata.generation !== old?.metadata.generation)
    warnings.push(...podTemplateWarnings(template, 'spec.jobTemplate.spec.template'))
  if (!old) warnings.push(...jobWarnings(spec.jobTemplate?.spec ?? {}, 'spec.jobTemplate.spec'))
  return warnings
}
