/** Rules of PriorityClass. */
import { type FieldError, forbiddenField, notSupported, required } from '../errors/field-errors.ts'
import type { PriorityClass } from '../generated/types.ts'
import type { Given } from '../object.ts'
import { immutable } from './common.ts'

const HIGHEST_USER_PRIORITY = 1_000_000_000
const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2 * HIGHEST_USER_PRIORITY],
  ['system-node-critical', 2 * HIGHEST_USER_PRIORITY + 1000],
])

export const whyUndeletable = (name: string): string | undefined =>
  SYSTEM_PRIORITIES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined

export function validatePriorityClass(object: Given<PriorityClass>): readonly FieldError[] {
  const errors: FieldError[] = []
  const name = object.metadata.name ?? ''
  const value: number = object.value ?? 0
  if (name.startsWith('system-')) {
    const why = whyNotSystem(name, value, object.globalDefault === true)
    if (why !== undefined)
      errors.push(
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`,
        ),
      )
  } else if (value > HIGHEST_USER_PRIORITY)
    errors.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`))
  preemptionPolicy(object.preemptionPolicy, errors)
  return errors
}

function whyNotSystem(name: string, value: number, isDefault: boolean): string | undefined {
  const known = SYSTEM_PRIORITIES.get(name)
  if (known === undefined) return `${name} is not a known system priority class`
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function preemptionPolicy(policy: string | undefined, errors: FieldError[]): void {
  if (policy === undefined) return
  if (policy === '') errors.push(required('preemptionPolicy'))
  else if (policy !== 'Never' && policy !== 'PreemptLowerPriority')
    errors.push(notSupported('preemptionPolicy', policy, ['PreemptLowerPriority', 'Never']))
}

export function validatePriorityClassUpdate(
  object: Given<PriorityClass>,
  old: Given<PriorityClass>,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if ((object.value ?? 0) !== (old.value ?? 0)) errors.push(forbiddenField('value', 'may not be changed in an update.'))
  immutable('preemptionPolicy', object.preemptionPolicy, old.preemptionPolicy, errors)
  return errors
}
