/**
 * What a Job's status may become (KEP-3998, KEP-4368): counters that only grow, conditions that stay, an end that is told whole. What was
 * written before a rule was made does not keep a Job's status from being written: most rules look at what changes alone.
 */
import { duplicate, type FieldError, invalid, required } from '../errors/field-errors.ts'
import type { Job, JobSpec, JobStatus, UncountedTerminatedPods } from '../generated/types.ts'
import type { Fields, Json } from '../object.ts'
import { same } from './common.ts'
import { indexOverlap, parsedIndexes } from './job-indexes.ts'
import { nonNegativeField } from './templates.ts'

const COUNTERS = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const

export function validateJobStatus(object: Job, old: Job): FieldError[] {
  const errors: FieldError[] = []
  const status: Partial<JobStatus> = object.status ?? {}
  const before: Partial<JobStatus> = old.status ?? {}
  for (const field of COUNTERS) nonNegativeField(status?.[field], `status.${field}`, errors)
  uncounted(status.uncountedTerminatedPods ?? {}, errors)
  ends(status, before, object.spec ?? {}, errors)
  indexes(status, before, object.spec ?? {}, errors)
  const changed = changes(status, before)
  if (isFinished(status) && (changed.finished || changed.of('terminating')) && (status.terminating ?? 0) > 0)
    errors.push(invalid('status.terminating', status.terminating, 'terminating>0 is invalid for finished job'))
  const active: number = status.active ?? 0
  const ready: number = status.ready ?? 0
  if ((changed.of('ready') || changed.of('active')) && ready > active)
    errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'))
  success(status, object.spec ?? {}, errors)
  steps(status, before, object.spec ?? {}, errors)
  return errors
}

const holds = (status: Partial<JobStatus>, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')

const isFinished = (status: Partial<JobStatus>): boolean => holds(status, 'Complete') || holds(status, 'Failed')

/** What a write changes of a status: a condition's holding, or a field. */
function changes(status: Partial<JobStatus>, before: Partial<JobStatus>) {
  return {
    finished: isFinished(status) !== isFinished(before),
    holding: (type: string): boolean => holds(status, type) !== holds(before, type),
    of: (field: string): boolean => !same((status as Fields)[field], (before as Fields)[field]),
  }
}

/** Kubernetes leaves the conditions themselves out of the message. */
const aboutConditions = (detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: 'status.conditions',
  message: `Invalid value: ${detail}`,
})

function uncounted(pods: UncountedTerminatedPods, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const field of ['succeeded', 'failed'] as const)
    (pods[field] ?? []).forEach((uid: string, i: number) => {
      const at = `status.uncountedTerminatedPods.${field}[${i}]`
      if (uid === '') errors.push(invalid(at, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicate(at, uid))
      seen.add(uid)
    })
}

/** A Job that has ended: by which conditions, when, and with what left. */
function ends(
  status: Partial<JobStatus>,
  before: Partial<JobStatus>,
  spec: Partial<JobSpec>,
  errors: FieldError[],
): void {
  const changed = changes(status, before)
  const { startTime, completionTime, active = 0, uncountedTerminatedPods } = status
  const complete = holds(status, 'Complete')
  for (const other of ['Failed', 'FailureTarget'])
    if ((changed.holding('Complete') || changed.holding(other)) && complete && holds(status, other))
      errors.push(aboutConditions(`cannot set Complete=True and ${other}=true conditions`))
  const completion = changed.holding('Complete') || changed.of('completionTime')
  if (completion && completionTime && !complete)
    errors.push(
      invalid(
        'status.completionTime',
        completionTime,
        'cannot set completionTime when there is no Complete=True condition',
      ),
    )
  if (completion && !completionTime && complete)
    errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'))
  if ((changed.of('startTime') || changed.of('completionTime')) && isBefore(completionTime, startTime))
    errors.push(invalid('status.completionTime', completionTime, 'must be equal to or after `startTime`'))
  for (const { type, announcement, watched } of ANNOUNCED)
    if (watched.some(changed.holding) && holds(status, type) && !holds(status, announcement))
      errors.push(aboutConditions(`cannot set ${type}=True condition without the ${announcement}=true condition`))
  if (!isFinished(status)) return
  if ((changed.finished || changed.of('active')) && active > 0)
    errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'))
  const neverStarted = spec.suspend === true && spec.completions === 0
  if ((changed.finished || changed.of('startTime')) && !startTime && !neverStarted)
    errors.push(required('status.startTime', 'startTime is required for finished job'))
  const uncountedPods: UncountedTerminatedPods = uncountedTerminatedPods ?? {}
  const { succeeded = [], failed = [] } = uncountedPods
  if ((changed.finished || changed.of('uncountedTerminatedPods')) && succeeded.length + failed.length > 0)
    errors.push(invalid('status.uncountedTerminatedPods', inGo(uncountedPods), 'must be empty for finished job'))
}

/** Each end, the condition that announces it, and the conditions whose change makes the rule be asked. */
const ANNOUNCED = [
  { type: 'Failed', announcement: 'FailureTarget', watched: ['Failed'] },
  { type: 'Complete', announcement: 'SuccessCriteriaMet', watched: ['Complete', 'SuccessCriteriaMet'] },
] as const

const isBefore = (a: string | undefined, b: string | undefined): boolean => !!a && !!b && Date.parse(a) < Date.parse(b)

const inGo = ({ succeeded, failed }: UncountedTerminatedPods): Json => ({
  Succeeded: succeeded ?? null,
  Failed: failed ?? null,
})

function indexes(
  status: Partial<JobStatus>,
  before: Partial<JobStatus>,
  spec: Partial<JobSpec>,
  errors: FieldError[],
): void {
  const changed = changes(status, before)
  const completed: string = status.completedIndexes ?? ''
  const failed: string | undefined = status.failedIndexes ?? undefined
  const parse = (field: string, text: string) => {
    const parsed = parsedIndexes(text, spec.completions)
    if ('problem' in parsed) errors.push(invalid(`status.${field}`, text, `error parsing ${field}: ${parsed.problem}`))
  }
  const perIndex = (spec.backoffLimitPerIndex ?? undefined) !== undefined
  if (changed.of('completedIndexes') && spec.completions !== undefined) parse('completedIndexes', completed)
  if (changed.of('failedIndexes') && failed !== undefined && perIndex) parse('failedIndexes', failed)
  if (changed.of('completedIndexes') && completed !== '' && spec.completionMode !== 'Indexed')
    errors.push(
      invalid(
        'status.completedIndexes',
        completed,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    )
  if (changed.of('failedIndexes') && failed !== undefined && !perIndex)
    errors.push(
      invalid('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
    )
  if ((changed.of('failedIndexes') || changed.of('completedIndexes')) && failed !== undefined) {
    const shared = indexOverlap(parsedIndexes(completed, spec.completions), parsedIndexes(failed, spec.completions))
    if (shared !== undefined)
      errors.push(
        invalid('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${shared}`),
      )
  }
}

/** That enough has succeeded (KEP-3998) goes with no failure. */
function success(status: Partial<JobStatus>, spec: Partial<JobSpec>, errors: FieldError[]): void {
  const met = holds(status, 'SuccessCriteriaMet')
  for (const other of ['Failed', 'FailureTarget'])
    if (met && holds(status, other))
      errors.push(aboutConditions(`cannot set SuccessCriteriaMet=True and ${other}=true conditions`))
  if (!met && holds(status, 'Complete') && spec.successPolicy !== undefined)
    errors.push(aboutConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
}

const TERMINAL = ['Failed', 'Complete', 'FailureTarget'] as const

/** From one status to the next. */
function steps(
  status: Partial<JobStatus>,
  before: Partial<JobStatus>,
  spec: Partial<JobSpec>,
  errors: FieldError[],
): void {
  for (const type of TERMINAL)
    if (holds(before, type) && !holds(status, type))
      errors.push(aboutConditions(`cannot disable the terminal ${type}=True condition`))
  // Indexes that are no longer asked for do not count any more.
  const scalable = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  for (const field of scalable ? (['failed'] as const) : (['failed', 'succeeded'] as const))
    if ((status[field] ?? 0) < (before[field] ?? 0))
      errors.push(invalid(`status.${field}`, status[field] ?? 0, `cannot decrease the ${field} counter`))
  const changed = changes(status, before)
  if (before.startTime && changed.of('startTime') && spec.suspend !== true)
    errors.push(
      invalid('status.startTime', status.startTime ?? null, 'field is immutable for unsuspended job once set'),
    )
  if (before.completionTime && status.completionTime && changed.of('completionTime'))
    errors.push(invalid('status.completionTime', status.completionTime, 'field is immutable'))
  if (holds(before, 'SuccessCriteriaMet') && !holds(status, 'SuccessCriteriaMet'))
    errors.push(aboutConditions('cannot disable the SuccessCriteriaMet=True condition'))
}
