/** Rules of kinds with a handful each: Lease, PriorityClass, StorageVersionMigration. */
import type { Lease, LeaseSpec, PriorityClass, StorageVersionMigration } from '../generated/types.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { immutable } from './common.ts'
import { validateConditions } from './conditions.ts'
import { type FieldError, forbiddenField, invalid, notSupported, required } from './errors.ts'
import { dns1035Label, dns1123Subdomain, qualifiedName } from './names.ts'

const HIGHEST_USER_PRIORITY = 1_000_000_000
const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2 * HIGHEST_USER_PRIORITY],
  ['system-node-critical', 2 * HIGHEST_USER_PRIORITY + 1000],
])

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

export function validateStorageVersionMigration(object: StorageVersionMigration): readonly FieldError[] {
  const errors: FieldError[] = []
  const { group, resource } = migratedBy(object)
  if (resource === '') errors.push(required('spec.resource.resource', 'resource is required to be set'))
  else for (const message of dns1035Label(resource)) errors.push(invalid('spec.resource.resource', resource, message))
  if (group !== '')
    for (const message of dns1123Subdomain(group)) errors.push(invalid('spec.resource.group', group, message))
  return errors
}

export function validateStorageVersionMigrationUpdate(
  object: StorageVersionMigration,
  old: StorageVersionMigration,
): readonly FieldError[] {
  const errors = [...validateStorageVersionMigration(object)]
  const { group, resource } = migratedBy(object)
  const was = migratedBy(old)
  // As Kubernetes prints the field: by the name that it has in Go.
  if (group !== was.group || resource !== was.resource)
    errors.push(invalid('spec', { Resource: { group, resource } }, IMMUTABLE))
  return errors
}

const IMMUTABLE = 'field is immutable'

/** A migration's version and outcome stay once they are there. */
export function validateStorageVersionMigrationStatus(
  object: StorageVersionMigration,
  old: StorageVersionMigration,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const path = 'status.resourceVersion'
  const { resourceVersion: version = '', conditions = [] } = statusOf(object)
  const { resourceVersion: oldVersion = '', conditions: before = [] } = statusOf(old)
  if (version !== '' && !/^[1-9][0-9]*$/.test(version))
    errors.push(invalid(path, version, `resource version is not well formed: ${version}`))
  validateConditions(conditions, 'status.conditions', errors)
  if (oldVersion !== '' && version !== oldVersion) errors.push(invalid(path, version, IMMUTABLE))
  const isTrue = (list: readonly Fields[], type: string) =>
    list.some((condition) => condition['type'] === type && condition['status'] === 'True')
  const wrong = (message: string) =>
    errors.push(
      invalid('status.conditions', conditions.length === 0 ? null : conditions.map(printedCondition), message),
    )
  if (isTrue(conditions, 'Succeeded') && isTrue(conditions, 'Failed'))
    wrong('Both success and failed conditions cannot be true at the same time')
  if (isTrue(before, 'Succeeded') && !isTrue(conditions, 'Succeeded'))
    wrong('Success condition cannot be set to false once it is true')
  if (isTrue(before, 'Failed') && !isTrue(conditions, 'Failed'))
    wrong('Failed condition cannot be set to false once it is true')
  return errors
}

interface MigrationStatus {
  readonly resourceVersion?: string
  readonly conditions?: readonly Fields[]
}

interface Migration extends KubeObject {
  readonly spec?: { readonly resource?: { readonly group?: string; readonly resource?: string } }
  readonly status?: MigrationStatus
}

const statusOf = ({ status = {} }: Migration): MigrationStatus => status

function migratedBy({ spec }: Migration): { readonly group: string; readonly resource: string } {
  const { group = '', resource = '' } = spec?.resource ?? {}
  return { group, resource }
}

function printedCondition(condition: Fields): Fields {
  const { type, status, observedGeneration, lastTransitionTime = null, reason, message = '' } = condition
  const generation = observedGeneration === undefined ? {} : { observedGeneration }
  return { type, status, ...generation, lastTransitionTime, reason, message }
}
