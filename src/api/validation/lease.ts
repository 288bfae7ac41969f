/** Rules of Lease. */
import { type FieldError, forbiddenField, invalid, notSupported } from '../errors/field-errors.ts'
import type { Lease, LeaseSpec } from '../generated/types.ts'
import { qualifiedName } from '../names/name-formats.ts'

export function validateLease(object: Lease): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: LeaseSpec = object.spec ?? {}
  const seconds: number | undefined = spec.leaseDurationSeconds
  if (seconds !== undefined && seconds <= 0)
    errors.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'))
  const transitions: number | undefined = spec.leaseTransitions
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'))
  const strategy: string | undefined = spec.strategy
  if (strategy !== undefined) leaseStrategy(strategy, errors)
  if (spec.preferredHolder && !strategy)
    errors.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  return errors
}

function leaseStrategy(strategy: string, errors: FieldError[]): void {
  const parts = strategy.split('/')
  const path = 'spec.strategy'
  if (parts.length > 2) errors.push(invalid(path, strategy, 'must consist of at most one slash'))
  else if (parts.length === 2)
    for (const message of qualifiedName(strategy)) errors.push(invalid(path, strategy, message))
  else if (strategy !== 'OldestEmulationVersion') errors.push(notSupported(path, strategy, ['OldestEmulationVersion']))
}
