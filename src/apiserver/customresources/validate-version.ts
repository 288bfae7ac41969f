/** What a version of a definition says: its schema, subresources, columns and selectable fields. */
import { duplicate, type FieldError, invalid, required, tooMany } from '../../api/errors/field-errors.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '../../api/generated/types.ts'
import { dns1035Label } from '../../api/names/name-formats.ts'
import type { Json } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { defaultErrors } from '../../api/schema/structural/check-defaults.ts'
import { schemaErrors } from '../../api/schema/structural/check-schema.ts'
import { isConvertible, structureErrors } from '../../api/schema/structural/check-structure.ts'
import { internalSchema } from '../../api/schema/structural/internal-schema.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { rulesOfDefaults } from '../../api/validation/x-kubernetes-validations.ts'
import { checkRulesOf } from './check-cel-rules-of-definition.ts'

/** What all versions say alike. */
export interface Shared {
  readonly schema: boolean
  readonly subresources: boolean
  readonly columns: boolean
  readonly selectable: boolean
}

export function sharedOf(versions: readonly CustomResourceDefinitionVersion[]): Shared {
  const alike = (of: (version: CustomResourceDefinitionVersion) => unknown) =>
    versions.every((version) => sameJson((of(version) ?? null) as Json, (of(versions[0]!) ?? null) as Json))
  return {
    schema: alike((version) => version.schema),
    subresources: alike((version) => version.subresources),
    columns: alike((version) => version.additionalPrinterColumns),
    selectable: alike((version) => version.selectableFields),
  }
}

/** What the first version says for all of them: told once, at the definition's own place for it. */
export function commonErrors(first: CustomResourceDefinitionVersion, shared: Shared, errors: FieldError[]): void {
  const status = first.subresources?.status !== undefined && shared.subresources
  if (shared.schema) errors.push(...wholeSchemaErrors(first, 'spec.validation', status))
  if (shared.subresources) subresourceErrors(first.subresources, 'spec.subresources', errors)
  if (shared.columns) columnErrors(first.additionalPrinterColumns, 'spec.additionalPrinterColumns', errors)
  if (shared.selectable)
    selectableErrors(
      first.selectableFields,
      shared.schema ? first.schema?.openAPIV3Schema : undefined,
      'spec.selectableFields',
      errors,
    )
}

/** What this version says differently from the others. */
export function versionErrors(
  version: CustomResourceDefinitionVersion,
  path: string,
  shared: Shared,
  errors: FieldError[],
): void {
  const { name = '', deprecated, deprecationWarning: warning } = version
  for (const message of dns1035Label(name)) errors.push(invalid(`${path}.name`, name, message))
  if (warning !== undefined) warningErrors(warning, deprecated === true, `${path}.deprecationWarning`, errors)
  const status = version.subresources?.status !== undefined
  if (!shared.schema) errors.push(...wholeSchemaErrors(version, `${path}.schema`, status))
  if (!shared.subresources) subresourceErrors(version.subresources, `${path}.subresources`, errors)
  if (!shared.columns) columnErrors(version.additionalPrinterColumns, `${path}.additionalPrinterColumns`, errors)
  if (!shared.selectable)
    selectableErrors(
      version.selectableFields,
      shared.schema ? undefined : version.schema?.openAPIV3Schema,
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

function wholeSchemaErrors(
  version: CustomResourceDefinitionVersion,
  path: string,
  status: boolean,
): readonly FieldError[] {
  const schema: JSONSchemaProps | undefined = version.schema?.openAPIV3Schema
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
  const defaults = structural ? defaultErrors(structuralOf(schema), at, rulesOfDefaults()) : []
  errors.push(...defaults)
  // Rules are looked at once all else is well.
  const ruled = structural && defaults.length === 0
  errors.push(...schemaErrors(schema, at, ruled ? checkRulesOf(schema) : undefined))
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

function subresourceErrors(
  subresources: CustomResourceSubresources | undefined,
  path: string,
  errors: FieldError[],
): void {
  const scale = subresources?.scale
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

function columnErrors(
  columns: readonly CustomResourceColumnDefinition[] | undefined,
  path: string,
  errors: FieldError[],
): void {
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
  fields: readonly SelectableField[] | undefined,
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
