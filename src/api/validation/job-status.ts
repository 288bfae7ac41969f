/** What a Job's status may become (KEP-4368): counters that only grow, conditions that stay, an end that is told whole. */
import type { Fields, KubeObject } from '../object.ts'
import { type FieldError, invalid, required } from './errors.ts'
import { nonNegativeField } from './templates.ts'

const TERMINAL = ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet']
/** Each end, and the condition that announces it. */
const ANNOUNCED = [
  ['Complete', 'SuccessCriteriaMet'],
  ['Failed', 'FailureTarget'],
] as const

export function validateJobStatus(object: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const status: Fields = object['status'] ?? {}
  const before: Fields = old['status'] ?? {}
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const)
    nonNegativeField(status[field], `status.${field}`, errors)
  const finished = holds(status, 'Complete') || holds(status, 'Failed')
  const active: number = status['active'] ?? 0
  if (finished && active > 0) errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'))
  completion(status, errors)
  conditions(status, before, errors)
  const indexed = object['spec']?.completionMode === 'Indexed'
  const indexes: string = status['completedIndexes'] ?? ''
  if (indexes !== '' && !indexed)
    errors.push(
      invalid(
        'status.completedIndexes',
        indexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    )
  // Indexes that are no longer asked for do not count any more.
  for (const field of indexed ? (['failed'] as const) : (['failed', 'succeeded'] as const))
    if ((status[field] ?? 0) < (before[field] ?? 0))
      errors.push(invalid(`status.${field}`, status[field] ?? 0, `cannot decrease the ${field} counter`))
  const ready: number = status['ready'] ?? 0
  if (ready > active) errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'))
  return errors
}

const holds = (status: Fields, type: string): boolean =>
  (status['conditions'] ?? []).some((condition: Fields) => condition['type'] === type && condition['status'] === 'True')

function completion(status: Fields, errors: FieldError[]): void {
  const path = 'status.completionTime'
  const time: string | undefined = status['completionTime'] ?? undefined
  if (holds(status, 'Complete')) {
    if (time === undefined) errors.push(required(path, 'completionTime is required for Complete jobs'))
  } else if (time !== undefined)
    errors.push(invalid(path, time, 'cannot set completionTime when there is no Complete=True condition'))
}

/** Kubernetes leaves the conditions themselves out of the message. */
function conditions(status: Fields, before: Fields, errors: FieldError[]): void {
  const say = (detail: string) =>
    errors.push({ type: 'FieldValueInvalid', field: 'status.conditions', message: `Invalid value: ${detail}` })
  for (const type of TERMINAL)
    if (holds(before, type) && !holds(status, type)) say(`cannot disable the terminal ${type}=True condition`)
  for (const [type, announcement] of ANNOUNCED)
    if (holds(status, type) && !holds(status, announcement))
      say(`cannot set ${type}=True condition without the ${announcement}=true condition`)
}
