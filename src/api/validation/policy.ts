/** Rules of PodDisruptionBudget. */
import { type FieldError, invalid, notSupported } from '../errors/field-errors.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../generated/types.ts'
import { percentText } from '../names/name-formats.ts'
import { validateConditions } from './conditions.ts'
import { validateLabelSelector } from './labels.ts'

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget']

function amount(value: number | string | undefined, path: string, errors: FieldError[]): void {
  if (value === undefined) return
  if (typeof value === 'string') {
    const messages = percentText(value)
    for (const message of messages) errors.push(invalid(path, value, message))
    if (messages.length === 0 && Number.parseInt(value, 10) > 100)
      errors.push(invalid(path, value, 'must not be greater than 100%'))
  } else if (value < 0) errors.push(invalid(path, value, 'must be greater than or equal to 0'))
}

export function validatePodDisruptionBudget(object: PodDisruptionBudget): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<PodDisruptionBudgetSpec> = object.spec ?? {}
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.push(
      invalid(
        'spec',
        {
          MinAvailable: minAvailable,
          Selector: spec.selector ?? null,
          MaxUnavailable: maxUnavailable,
          UnhealthyPodEvictionPolicy: policy ?? null,
        },
        'minAvailable and maxUnavailable cannot be both set',
      ),
    )
  amount(minAvailable, 'spec.minAvailable', errors)
  amount(maxUnavailable, 'spec.maxUnavailable', errors)
  validateLabelSelector(spec.selector, 'spec.selector', errors)
  if (policy !== undefined && !POLICIES.includes(policy))
    errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, POLICIES))
  return errors
}

export function validatePodDisruptionBudgetStatus(object: PodDisruptionBudget): readonly FieldError[] {
  const errors: FieldError[] = []
  validateConditions(object.status?.conditions ?? [], 'status.conditions', errors)
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
    const value: number = object.status?.[field] ?? 0
    if (value < 0) errors.push(invalid(`status.${field}`, value, 'must be greater than or equal to 0'))
  }
  return errors
}
