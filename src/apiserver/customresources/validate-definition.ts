/**
 * The rules of a CustomResourceDefinition. What all versions say alike (schema, subresources, columns, selectable fields)
 * Kubernetes keeps once for the definition, so errors in it are told once and name that place (`spec.validation`).
 */
import { type FieldError, invalid, notSupportedText, required } from '../../api/errors/field-errors.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../api/generated/types.ts'
import { dns1035Label, dns1123Subdomain } from '../../api/names/name-formats.ts'
import type { Given, Json, KubeObject } from '../../api/object.ts'
import { asObject } from '../../api/unchecked.ts'
import { immutable } from '../../api/validation/common.ts'
import { definitionNames } from '../../api/validation/extension.ts'
import { internalVersions } from './internal.ts'
import { approvalOf, isProtectedGroup } from './name-conflicts.ts'
import { isConditionTrue } from './rows.ts'
import { conversionErrors } from './validate-conversion.ts'
import { commonErrors, type Shared, sharedOf, versionErrors } from './validate-version.ts'

export function validateDefinition(object: KubeObject): readonly FieldError[] {
  return [...nameErrors(object), ...specErrors(object), ...storedVersionErrors(object), ...approvalErrors(object)]
}

export function validateDefinitionUpdate(
  object: Given<CustomResourceDefinition>,
  old: Given<CustomResourceDefinition>,
): readonly FieldError[] {
  const errors: FieldError[] = [...specErrors(object, old), ...storedVersionErrors(object)]
  type Spec = Partial<CustomResourceDefinitionSpec>
  const [spec, before]: [Spec, Spec] = [object.spec ?? {}, old.spec ?? {}]
  if (isConditionTrue(old, 'Established')) {
    immutable('spec.scope', spec.scope, before.scope, errors)
    immutable('spec.names.kind', spec.names?.kind, before.names?.kind, errors)
  }
  immutable('spec.group', spec.group, before.group, errors)
  immutable('spec.names.plural', spec.names?.plural, before.names?.plural, errors)
  if (approvalErrors(old).length === 0) errors.push(...approvalErrors(object))
  return errors
}

function nameErrors(object: Given<CustomResourceDefinition>): readonly FieldError[] {
  const { group = '', names }: Partial<CustomResourceDefinitionSpec> = object.spec ?? {}
  const name = object.metadata.name ?? ''
  if (name === '' || name === `${names?.plural ?? ''}.${group}`) return []
  return [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function storedVersionErrors(object: Given<CustomResourceDefinition>): readonly FieldError[] {
  const stored: readonly string[] = object.status?.storedVersions ?? []
  if (stored.length === 0)
    return [
      invalid(
        'status.storedVersions',
        (object.status?.storedVersions ?? null) as Json,
        'must have at least one stored version',
      ),
    ]
  const versions: readonly CustomResourceDefinitionVersion[] = object.spec?.versions ?? []
  const errors: FieldError[] = []
  const stores = versions.filter((version) => version.storage === true)
  const storage = stores.at(-1)
  if (storage !== undefined && (stores.length > 1 || !stored.includes(storage.name)))
    errors.push(invalid('status.storedVersions', stored, `must have the storage version ${storage.name}`))
  stored.forEach((name, i) => {
    if (!versions.some((version) => version.name === name))
      errors.push(
        invalid(
          `status.storedVersions[${i}]`,
          name,
          'missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions'.replaceAll(
            'v1',
            name,
          ),
        ),
      )
  })
  return errors
}

const APPROVED = 'api-approved.kubernetes.io'
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'

function approvalErrors(object: Given<CustomResourceDefinition>): readonly FieldError[] {
  if (!isProtectedGroup(object.spec?.group ?? '')) return []
  const annotation = object.metadata.annotations?.[APPROVED]
  const path = `metadata.annotations[${APPROVED}]`
  const must = `protected groups must have approval annotation ${JSON.stringify(APPROVED)}`
  switch (approvalOf(annotation)) {
    case 'missing':
      return [required(path, `${must}, ${SEE}`)]
    case 'invalid':
      return [invalid(path, annotation, `${must} with either a URL or a reason starting with "unapproved", ${SEE}`)]
    default:
      return []
  }
}

function specErrors(
  object: Given<CustomResourceDefinition>,
  old?: Given<CustomResourceDefinition>,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<CustomResourceDefinitionSpec> = object.spec ?? {}
  const versions: readonly CustomResourceDefinitionVersion[] = spec.versions ?? []
  const { group = '', scope = '' } = spec
  if (group === '') errors.push(required('spec.group'))
  else {
    for (const message of dns1123Subdomain(group)) errors.push(invalid('spec.group', group, message))
    if (!group.includes('.') && dns1123Subdomain(group).length === 0)
      errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') errors.push(required('spec.scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(notSupportedText('spec.scope', scope, ['Cluster', 'Namespaced']))
  if (spec.preserveUnknownFields === true && versions.some(({ schema }) => hasDefault(schema?.openAPIV3Schema)))
    errors.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'))
  versions.forEach((version, i) => {
    if (version.schema?.openAPIV3Schema === undefined)
      errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`))
  })
  const shared = sharedOf(versions)
  const at = (i: number) => `spec.versions[${i}]`
  for (const [i, version] of versions.entries()) versionErrors(version, at(i), shared, errors)
  listErrors(versions, spec.versions !== undefined && spec.versions !== null, shared, errors)
  const [first] = versions
  if (first?.['name'])
    for (const message of dns1035Label(first['name'])) errors.push(invalid('spec.version', first['name'], message))
  definitionNames(spec.names ?? {}, errors)
  if (first !== undefined) commonErrors(first, shared, errors)
  conversionErrors(spec.conversion, errors)
  if (spec.preserveUnknownFields === true && old?.spec?.preserveUnknownFields !== true)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  return errors
}

/** Whether a schema, or one within it, has a default. */
function hasDefault(schema: Json | undefined): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if (Array.isArray(schema)) return schema.some(hasDefault)
  const fields = asObject(schema)
  if (fields['default'] !== undefined) return true
  return (
    SCHEMAS.some((name) => hasDefault(fields[name])) ||
    NAMED_SCHEMAS.some((name) => Object.values(asObject(fields[name])).some(hasDefault))
  )
}

const SCHEMAS = ['items', 'additionalItems', 'additionalProperties', 'not', 'allOf', 'anyOf', 'oneOf']
const NAMED_SCHEMAS = ['properties', 'patternProperties', 'definitions', 'dependencies']

/** `given`: whether there is a list at all, be it empty. */
function listErrors(
  versions: readonly CustomResourceDefinitionVersion[],
  given: boolean,
  shared: Shared,
  errors: FieldError[],
): void {
  const shown = () => (versions.length === 0 && !given ? null : internalVersions(versions, shared))
  const names = versions.map((version) => version.name ?? '')
  if (new Set(names).size < names.length)
    errors.push(invalid('spec.versions', shown(), 'must contain unique version names'))
  if (versions.filter((version) => version.storage === true).length !== 1)
    errors.push(invalid('spec.versions', shown(), 'must have exactly one version marked as storage version'))
}
