/** Rules of StorageVersionMigration. */
import { type FieldError, invalid, required } from '../errors/field-errors.ts'
import type { StorageVersionMigration } from '../generated/types.ts'
import { dns1035Label, dns1123Subdomain } from '../names/name-formats.ts'
import type { Fields, KubeObject } from '../object.ts'
import { validateConditions } from './conditions.ts'

export function validateStorageVersionMigration(object: StorageVersionMigration): readonly FieldError[] {
  const errors: FieldError[] = []
  const { group, resource } = migratedBy(object)
  if (resource === '') errors.push(required('spec.resource.resource', 'resource is required to be set'))
  else joined('spec.resource.resource', resource, dns1035Label(resource), errors)
  if (group !== '') joined('spec.resource.group', group, dns1123Subdomain(group), errors)
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
  const hasTrueCondition = (list: readonly Fields[], type: string) =>
    list.some((condition) => condition['type'] === type && condition['status'] === 'True')
  const wrong = (message: string) =>
    errors.push(
      invalid('status.conditions', conditions.length === 0 ? null : conditions.map(printedCondition), message),
    )
  if (hasTrueCondition(conditions, 'Succeeded') && hasTrueCondition(conditions, 'Failed'))
    wrong('Both success and failed conditions cannot be true at the same time')
  if (hasTrueCondition(before, 'Succeeded') && !hasTrueCondition(conditions, 'Succeeded'))
    wrong('Success condition cannot be set to false once it is true')
  if (hasTrueCondition(before, 'Failed') && !hasTrueCondition(conditions, 'Failed'))
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

/** All that is wrong with a name in one error. */
function joined(path: string, value: string, messages: readonly string[], errors: FieldError[]): void {
  if (messages.length > 0) errors.push(invalid(path, value, messages.join(',')))
}
