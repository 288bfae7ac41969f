/** Rules of what extends the API: APIService, and the names in a CustomResourceDefinition. */

import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'
import type { APIService, APIServiceSpec, CustomResourceDefinitionNames } from '../generated/types.ts'
import { dns1035Label, dns1123Subdomain, pathSegmentName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'

const MAX_GROUP_PRIORITY = 20000
const MAX_VERSION_PRIORITY = 1000

export function validateAPIService(object: APIService): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<APIServiceSpec> = object.spec ?? {}
  const { group = '', version = '', groupPriorityMinimum: minimum = 0, versionPriority: priority = 0 } = spec
  const name = object.metadata.name ?? ''
  const wanted = `${version}.${group}`
  if (name !== '' && name !== wanted && pathSegmentName(name).length === 0)
    errors.push(invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`))
  if (group === '') {
    if (version !== 'v1')
      errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  } else for (const message of dns1123Subdomain(group)) errors.push(invalid('spec.group', group, message))
  for (const message of dns1035Label(version)) errors.push(invalid('spec.version', version, message))
  if (minimum <= 0 || minimum > MAX_GROUP_PRIORITY)
    errors.push(invalid('spec.groupPriorityMinimum', minimum, `must be positive and less than ${MAX_GROUP_PRIORITY}`))
  if (priority <= 0 || priority > MAX_VERSION_PRIORITY)
    errors.push(invalid('spec.versionPriority', priority, `must be positive and less than ${MAX_VERSION_PRIORITY}`))
  const insecure = spec.insecureSkipTLSVerify === true
  const service = spec.service
  if (service === undefined) {
    if ((spec.caBundle?.length ?? 0) > 0)
      errors.push(
        invalid('spec.caBundle', `${spec.caBundle?.length} bytes`, 'local APIServices may not have a caBundle'),
      )
    if (insecure)
      errors.push(invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'))
    return errors
  }
  if (!service.namespace) errors.push(required('spec.service.namespace'))
  if (!service.name) errors.push(required('spec.service.name'))
  const port: number = service.port ?? 443
  if (port < 1 || port > 65535)
    errors.push(invalid('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive'))
  if (insecure && (spec.caBundle?.length ?? 0) > 0)
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
  return errors
}

const STATUSES = ['True', 'False', 'Unknown']

export function validateAPIServiceStatus(object: APIService): readonly FieldError[] {
  const conditions = object.status?.conditions ?? []
  return conditions.flatMap(({ status = '' }, i) =>
    STATUSES.includes(status) ? [] : [notSupported(`status.conditions[${i}].status`, status, STATUSES)],
  )
}

/** The names of a custom resource. */
export function definitionNames(names: Partial<CustomResourceDefinitionNames>, errors: FieldError[]): void {
  const lower = (field: string) => {
    const value: string = (names as Fields)[field] ?? ''
    if (value === '') errors.push(required(`spec.names.${field}`))
    else for (const message of dns1035Label(value)) errors.push(invalid(`spec.names.${field}`, value, message))
  }
  lower('plural')
  lower('singular')
  for (const field of ['kind', 'listKind']) {
    const value: string = (names as Fields)[field] ?? ''
    if (value === '') errors.push(required(`spec.names.${field}`))
    else
      for (const message of dns1035Label(value.toLowerCase()))
        errors.push(
          invalid(`spec.names.${field}`, value, `may have mixed case, but should otherwise match: ${message}`),
        )
  }
  for (const field of ['shortNames', 'categories'])
    (names as Fields)[field]?.forEach((value: string, i: number) => {
      for (const message of dns1035Label(value)) errors.push(invalid(`spec.names.${field}[${i}]`, value, message))
    })
  if (names.kind && names.kind === names.listKind)
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'))
}
