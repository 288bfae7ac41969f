/**
 * The rules of a CustomResourceDefinition. What all versions say alike (schema, subresources, columns, selectable fields)
 * Kubernetes keeps once for the definition, so errors in it are told once and name that place (`spec.validation`).
 */
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import { defaultErrors } from '../../api/schema/structural/check-defaults.ts'
import { schemaErrors } from '../../api/schema/structural/check-schema.ts'
import { isConvertible, structureErrors } from '../../api/schema/structural/check-structure.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { deepEqual } from '../../api/schema/structural/validate-value.ts'
import { webhookService, webhookURL } from '../../api/validation/admissionregistration.ts'
import { immutable } from '../../api/validation/common.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../api/validation/errors.ts'
import { definitionNames } from '../../api/validation/extension.ts'
import { dns1035Label, dns1123Subdomain } from '../../api/validation/names.ts'
import { approvalOf, isProtectedGroup } from '../loops/crd-names.ts'
import { internalSchema, internalVersions } from './internal.ts'
import { isTrue } from './rows.ts'
import { checkRulesOf, rulesOf } from './rules.ts'

export function validateDefinition(object: KubeObject): readonly FieldError[] {
  return [...nameErrors(object), ...specErrors(object), ...storedVersionErrors(object), ...approvalErrors(object)]
}

export function validateDefinitionUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = [...specErrors(object, old), ...storedVersionErrors(object)]
  const [spec, before]: [Fields, Fields] = [object['spec'] ?? {}, old['spec'] ?? {}]
  if (isTrue(old, 'Established')) {
    immutable('spec.scope', spec['scope'], before['scope'], errors)
    immutable('spec.names.kind', spec['names']?.kind, before['names']?.kind, errors)
  }
  immutable('spec.group', spec['group'], before['group'], errors)
  immutable('spec.names.plural', spec['names']?.plural, before['names']?.plural, errors)
  if (approvalErrors(old).length === 0) errors.push(...approvalErrors(object))
  return errors
}

function nameErrors(object: KubeObject): readonly FieldError[] {
  const { group = '', names = {} } = object['spec'] ?? {}
  const name = object.metadata.name ?? ''
  if (name === '' || name === `${names.plural ?? ''}.${group}`) return []
  return [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function storedVersionErrors(object: KubeObject): readonly FieldError[] {
  const stored: readonly string[] = object['status']?.storedVersions ?? []
  if (stored.length === 0)
    return [
      invalid(
        'status.storedVersions',
        (object['status']?.storedVersions ?? null) as Json,
        'must have at least one stored version',
      ),
    ]
  const versions: readonly Fields[] = object['spec']?.versions ?? []
  const errors: FieldError[] = []
  const stores = versions.filter((version) => version['storage'] === true)
  const storage = stores.at(-1)
  if (storage !== undefined && (stores.length > 1 || !stored.includes(storage['name'])))
    errors.push(invalid('status.storedVersions', stored, `must have the storage version ${storage['name']}`))
  stored.forEach((name, i) => {
    if (!versions.some((version) => version['name'] === name))
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

function approvalErrors(object: KubeObject): readonly FieldError[] {
  if (!isProtectedGroup(object['spec']?.group ?? '')) return []
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

/** What all versions say alike. */
interface Shared {
  readonly schema: boolean
  readonly subresources: boolean
  readonly columns: boolean
  readonly selectable: boolean
}

function sharedOf(versions: readonly Fields[]): Shared {
  const alike = (of: (version: Fields) => Json | undefined) =>
    versions.every((version) => deepEqual(of(version) ?? null, of(versions[0] as Fields) ?? null))
  return {
    schema: alike((version) => version['schema']),
    subresources: alike((version) => version['subresources']),
    columns: alike((version) => version['additionalPrinterColumns']),
    selectable: alike((version) => version['selectableFields']),
  }
}

function specErrors(object: KubeObject, old?: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  const versions: readonly Fields[] = spec['versions'] ?? []
  const { group = '', scope = '' } = spec
  if (group === '') errors.push(required('spec.group'))
  else {
    for (const message of dns1123Subdomain(group)) errors.push(invalid('spec.group', group, message))
    if (!group.includes('.')) errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') errors.push(required('spec.scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']))
  if (spec['preserveUnknownFields'] === true && old?.['spec']?.preserveUnknownFields !== true)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  versions.forEach((version, i) => {
    if (version['schema']?.openAPIV3Schema === undefined)
      errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`))
  })
  const shared = sharedOf(versions)
  const at = (i: number) => `spec.versions[${i}]`
  for (const [i, version] of versions.entries()) versionErrors(version, at(i), shared, errors)
  listErrors(versions, spec['versions'] !== undefined && spec['versions'] !== null, shared, errors)
  const [first] = versions
  if (first?.['name'])
    for (const message of dns1035Label(first['name'])) errors.push(invalid('spec.version', first['name'], message))
  definitionNames(spec['names'] ?? {}, errors)
  if (first !== undefined) {
    const status = first['subresources']?.status !== undefined && shared.subresources
    if (shared.schema) errors.push(...wholeSchemaErrors(first, 'spec.validation', status))
    if (shared.subresources) subresourceErrors(first['subresources'], 'spec.subresources', errors)
    if (shared.columns) columnErrors(first['additionalPrinterColumns'], 'spec.additionalPrinterColumns', errors)
    if (shared.selectable)
      selectableErrors(
        first['selectableFields'],
        shared.schema ? first['schema']?.openAPIV3Schema : undefined,
        'spec.selectableFields',
        errors,
      )
  }
  conversionErrors(spec['conversion'], errors)
  return errors
}

/** `given`: whether there is a list at all, be it empty. */
function listErrors(versions: readonly Fields[], given: boolean, shared: Shared, errors: FieldError[]): void {
  const shown = () => (versions.length === 0 && !given ? null : internalVersions(versions, shared))
  const names = versions.map((version) => version['name'] ?? '')
  if (new Set(names).size < names.length)
    errors.push(invalid('spec.versions', shown(), 'must contain unique version names'))
  if (versions.filter((version) => version['storage'] === true).length !== 1)
    errors.push(invalid('spec.versions', shown(), 'must have exactly one version marked as storage version'))
}

function versionErrors(version: Fields, path: string, shared: Shared, errors: FieldError[]): void {
  const { name = '', deprecated, deprecationWarning: warning } = version
  for (const message of dns1035Label(name)) errors.push(invalid(`${path}.name`, name, message))
  if (warning !== undefined) warningErrors(warning, deprecated === true, `${path}.deprecationWarning`, errors)
  const status = version['subresources']?.status !== undefined
  if (!shared.schema) errors.push(...wholeSchemaErrors(version, `${path}.schema`, status))
  if (!shared.subresources) subresourceErrors(version['subresources'], `${path}.subresources`, errors)
  if (!shared.columns) columnErrors(version['additionalPrinterColumns'], `${path}.additionalPrinterColumns`, errors)
  if (!shared.selectable)
    selectableErrors(
      version['selectableFields'],
      shared.schema ? undefined : version['schema']?.openAPIV3Schema,
      `${path}.selectableFields`,
      errors,
    )
}

function warningErrors(warning: string, deprecated: boolean, path: string, errors: FieldError[]): void {
  if (!deprecated) errors.push(invalid(path, warning, 'can only be set for deprecated versions'))
  if (warning.length > 256) errors.push(invalid(path, warning, 'must be <= 256 characters long'))
  if (warning === '') errors.push(invalid(path, warning, 'must not be an empty string'))
  let at = 0
  for (const c of warning) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(c)) {
      errors.push(
        invalid(
          path,
          warning,
          `must only contain printable UTF-8 characters; non-printable character found at index ${at}`,
        ),
      )
      break
    }
    at += Buffer.byteLength(c)
  }
}

/** Fields that a root schema may have where status is a subresource. */
const ROOT_FIELDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'default',
  'maximum',
  'minimum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
])

function wholeSchemaErrors(version: Fields, path: string, status: boolean): readonly FieldError[] {
  const schema: JSONSchemaProps | undefined = version['schema']?.openAPIV3Schema
  if (schema === undefined) return []
  const errors: FieldError[] = []
  const at = `${path}.openAPIV3Schema`
  if (status) {
    if (schema.type !== undefined && schema.type !== '' && schema.type !== 'object')
      errors.push(
        invalid(
          `${at}.type`,
          schema.type,
          'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        ),
      )
    else if (Object.keys(schema).some((field) => !ROOT_FIELDS.has(field)))
      errors.push(
        invalid(
          at,
          internalSchema(schema),
          'only [] fields are allowed at the root of the schema if the status subresource is enabled'.replace(
            '[]',
            ALLOWED_TEXT,
          ),
        ),
      )
  }
  const convertible = isConvertible(schema)
  const structure = convertible ? structureErrors(schema, at) : []
  errors.push(...structure)
  const structural = convertible && structure.length === 0
  if (structural) errors.push(...defaultErrors(structuralOf(schema), at, rulesOf))
  errors.push(...schemaErrors(schema, at, structural ? checkRulesOf(schema) : undefined))
  return errors
}

const ALLOWED_TEXT =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]'

function simplePath(text: string | undefined, path: string, errors: FieldError[]): boolean {
  if (text === undefined || text === '') {
    errors.push(required(path))
    return false
  }
  if (text.startsWith('.')) return true
  errors.push(invalid(path, text, 'must be a simple json path starting with .'))
  return false
}

function subresourceErrors(subresources: Fields | undefined, path: string, errors: FieldError[]): void {
  const scale: Fields | undefined = subresources?.['scale']
  if (scale === undefined) return
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  const at = (field: string) => `${path}.scale.${field}`
  if (simplePath(specReplicasPath, at('specReplicasPath'), errors) && !specReplicasPath.startsWith('.spec.'))
    errors.push(invalid(at('specReplicasPath'), specReplicasPath, 'should be a json path under .spec'))
  if (simplePath(statusReplicasPath, at('statusReplicasPath'), errors) && !statusReplicasPath.startsWith('.status.'))
    errors.push(invalid(at('statusReplicasPath'), statusReplicasPath, 'should be a json path under .status'))
  if (labelSelectorPath === undefined || labelSelectorPath === '') return
  if (simplePath(labelSelectorPath, at('labelSelectorPath'), errors) && !/^\.(spec|status)\./.test(labelSelectorPath))
    errors.push(
      invalid(at('labelSelectorPath'), labelSelectorPath, 'should be a json path under either .spec or .status'),
    )
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function columnErrors(columns: readonly Fields[] | undefined, path: string, errors: FieldError[]): void {
  columns?.forEach((column, i) => {
    const at = `${path}[${i}]`
    const { name = '', type = '', format = '', jsonPath } = column
    if (name === '') errors.push(required(`${at}.name`))
    const types = `must be one of ${COLUMN_TYPES.join(',')}`
    if (type === '') errors.push(required(`${at}.type`, types))
    else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(`${at}.type`, type, types))
    if (format !== '' && !COLUMN_FORMATS.includes(format))
      errors.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`))
    simplePath(jsonPath, `${at}.JSONPath`, errors)
  })
}

const MOST_SELECTABLE = 8

function selectableErrors(
  fields: readonly Fields[] | undefined,
  schema: JSONSchemaProps | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (fields === undefined || fields.length === 0) return
  if (schema === undefined) {
    const words =
      path === 'spec.selectableFields'
        ? 'validations.schema is included'
        : '`version.schema.openAPIV3Schema` is not included'
    errors.push(invalid(path, '', `may only be set when ${words}`))
    return
  }
  const seen = new Set<string>()
  const valid = new Set<string>()
  fields.forEach(({ jsonPath = '' }, i) => {
    const at = `${path}[${i}].jsonPath`
    const wrong = selectablePathError(jsonPath, schema)
    if (jsonPath === '') errors.push(required(at))
    else if (wrong !== undefined) errors.push(invalid(at, jsonPath, wrong))
    else valid.add(jsonPath)
    if (jsonPath !== '' && seen.has(jsonPath)) errors.push(duplicate(at, jsonPath))
    seen.add(jsonPath)
  })
  if (valid.size > MOST_SELECTABLE) errors.push(tooMany(path, fields.length, MOST_SELECTABLE))
}

function selectablePathError(text: string, root: JSONSchemaProps): string | undefined {
  if (text === '') return undefined
  if (!text.startsWith('.') && !text.startsWith('['))
    return `is an invalid path: expected [ or . but got: ${/^[^.[]*/.exec(text)?.[0] ?? ''}`
  const nowhere = 'is an invalid path: does not refer to a valid field'
  let schema: JSONSchemaProps | undefined = root
  const names = text.slice(1).split('.')
  if (['metadata', 'apiVersion', 'kind'].includes(names[0] as string)) return nowhere
  for (const name of names) {
    if (name.includes('[')) return 'is an invalid path: array notation is not allowed'
    const properties: JSONSchemaProps['properties'] = schema?.properties
    schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema === undefined) return nowhere
  }
  return ['string', 'boolean', 'integer'].includes(schema.type ?? '')
    ? undefined
    : 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
}

function conversionErrors(conversion: Fields | undefined, errors: FieldError[]): void {
  if (conversion === undefined) return
  const { strategy = '', webhook } = conversion
  const client: Fields | undefined = webhook?.clientConfig
  const reviews: readonly string[] = webhook?.conversionReviewVersions ?? []
  const path = 'spec.conversion'
  const at = `${path}.webhookClientConfig`
  if (strategy === '') errors.push(required(`${path}.strategy`))
  else if (strategy !== 'None' && strategy !== 'Webhook')
    errors.push(notSupported(`${path}.strategy`, strategy, ['None', 'Webhook']))
  if (strategy !== 'Webhook') {
    if (strategy === '' || strategy === 'None') {
      const not = 'should not be set when strategy is not set to Webhook'
      if (client !== undefined) errors.push(forbiddenField(at, not))
      if (reviews.length > 0) errors.push(forbiddenField(`${path}.conversionReviewVersions`, not))
    }
    return
  }
  if (client === undefined) errors.push(required(at, 'required when strategy is set to Webhook'))
  else {
    const { url, service } = client
    if ((url === undefined) === (service === undefined))
      errors.push(required(at, 'exactly one of url or service is required'))
    else if (url !== undefined) webhookURL(url, `${at}.url`, errors)
    else serviceErrors(service, `${at}.service`, errors)
  }
  reviewErrors(reviews, `${path}.conversionReviewVersions`, errors)
}

function serviceErrors(service: Fields, path: string, errors: FieldError[]): void {
  const { name = '', namespace = '' } = service
  if (name === '') errors.push(required(`${path}.name`))
  if (namespace === '') errors.push(required(`${path}.namespace`))
  webhookService({ ...service, name: name || 'named', namespace: namespace || 'named' }, path, errors)
}

function reviewErrors(reviews: readonly string[], path: string, errors: FieldError[]): void {
  if (reviews.length === 0) {
    errors.push(required(path))
    return
  }
  const seen = new Set<string>()
  reviews.forEach((version, i) => {
    if (seen.has(version)) {
      errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'))
      return
    }
    seen.add(version)
    for (const message of dns1035Label(version)) errors.push(invalid(`${path}[${i}]`, version, message))
  })
  if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    errors.push(invalid(path, reviews, 'must include at least one of v1, v1beta1'))
}
