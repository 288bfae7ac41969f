/** CronJob. */
import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'
import type { CronJob, CronJobSpec, JobSpec } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { isTimeZone, scheduleError } from './cron-schedule.ts'
import { validateJobSpec } from './jobs.ts'
import { printableSelector } from './labels.ts'
import { nonNegativeField } from './templates.ts'

const POLICIES = ['Allow', 'Forbid', 'Replace']
/** A job's name is the cron job's with eleven characters of time behind it, and must fit a label's 63. */
const LONGEST_NAME = 52

export function validateCronJob(object: CronJob): FieldError[] {
  const errors: FieldError[] = []
  const name = object.metadata.name ?? ''
  validateCronJobSpec(object.spec ?? {}, undefined, errors)
  if (name.length > LONGEST_NAME)
    errors.push(invalid('metadata.name', name, `must be no more than ${LONGEST_NAME} characters`))
  return errors
}

export function validateCronJobUpdate(object: CronJob, old: CronJob): FieldError[] {
  const errors: FieldError[] = []
  validateCronJobSpec(object.spec ?? {}, old.spec ?? {}, errors)
  return errors
}

function validateCronJobSpec(spec: Partial<CronJobSpec>, old: Fields | undefined, errors: FieldError[]): void {
  const schedule: string = spec.schedule ?? ''
  if (schedule !== '') validateSchedule(schedule, spec, old, errors)
  nonNegativeField(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds', errors)
  const zone: string | undefined = spec.timeZone ?? undefined
  if (zone !== undefined && zone !== old?.['timeZone']) validateZone(zone, errors)
  const policy: string = spec.concurrencyPolicy ?? ''
  if (policy === '') errors.push(required('spec.concurrencyPolicy'))
  else if (!POLICIES.includes(policy)) errors.push(notSupported('spec.concurrencyPolicy', policy, POLICIES))
  validateTemplate(spec.jobTemplate?.spec ?? {}, errors)
  nonNegativeField(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit', errors)
  nonNegativeField(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit', errors)
}

function validateSchedule(
  schedule: string,
  spec: Partial<CronJobSpec>,
  old: Fields | undefined,
  errors: FieldError[],
): void {
  const error = scheduleError(schedule)
  if (error !== undefined) errors.push(invalid('spec.schedule', schedule, error))
  if (!schedule.includes('TZ')) return
  if (old?.['schedule'] !== schedule)
    errors.push(invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (spec.timeZone !== undefined)
    errors.push(invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
}

function validateZone(zone: string, errors: FieldError[]): void {
  if (zone === '') return void errors.push(invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string'))
  if (zone.toLowerCase() === 'local')
    errors.push(
      invalid(
        'spec.timeZone',
        zone,
        'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ),
    )
  // Go knows `Local` itself.
  if (zone !== 'Local' && !isTimeZone(zone)) errors.push(invalid('spec.timeZone', zone, `unknown time zone ${zone}`))
}

function validateTemplate(job: Partial<JobSpec>, errors: FieldError[]): void {
  validateJobSpec(job, 'spec.jobTemplate.spec', errors)
  if (job.selector)
    errors.push(
      invalid('spec.jobTemplate.spec.selector', printableSelector(job.selector), '`selector` will be auto-generated'),
    )
  if (job.manualSelector !== undefined && job.manualSelector !== null)
    errors.push(notSupported('spec.jobTemplate.spec.manualSelector', job.manualSelector, ['nil', 'false']))
}
