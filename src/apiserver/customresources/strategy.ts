import { type FieldError, invalid } from '../../api/errors/field-errors.ts'
import { withMetadata } from '../../api/metadata.ts'
import {
  asJson,
  type Json,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
  type SpecAndStatus,
} from '../../api/object.ts'
import { dottedPath } from '../../api/objects/json-path.ts'
import { sameJson } from '../../api/same.ts'
import { isSurelyValid } from '../../api/schema/structural/quick-validate.ts'
import { isObject, ownValue } from '../../api/schema/structural/structural.ts'
import { validateValue } from '../../api/schema/structural/validate-value.ts'
import type { CustomVersion, ResourceRow, ScalePaths } from '../../api/scheme/resource.ts'
import { forbidden } from '../../api/status.ts'
import { invariantProblems, valueProblems } from '../../api/validation/custom-values.ts'
import { finalizerWarnings } from '../../api/validation/meta.ts'
import { statusWritten } from '../registry/status-subresource.ts'
import type { Strategy, StrategyContext } from '../registry/strategy.ts'

/** Of the row's version, in which its requests are worked on. */
export function customStrategy(row: ResourceRow, custom: CustomVersion): Strategy {
  const main: Strategy = {
    beginCreate(object) {
      if (custom.terminating)
        throw forbidden(
          { group: row.group, resource: row.resource },
          object.metadata.name ?? '',
          'create not allowed while custom resource definition is terminating',
        )
      return { object, finish: () => {} }
    },
    standardFinalizersOnly: false,
    warningsOnCreate: ({ metadata }) => finalizerWarnings(metadata),
    warningsOnUpdate: ({ metadata }, old) => finalizerWarnings(metadata, old.metadata),
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      const first: SpecAndStatus = withMetadata(object, { generation: 1 })
      if (!custom.status || first.status === undefined) return first
      const { status: _, ...rest } = first
      return rest as KubeObject
    },
    validate(object) {
      const wrongType = typeErrors(object, row)
      return wrongType.length > 0
        ? [...wrongType, ...invariants(object, undefined, custom, [])]
        : valueErrors(object, undefined, custom)
    },
    prepareForUpdate(object: SpecAndStatus, old: SpecAndStatus) {
      const next = custom.status ? withStatusOf(object, old) : object
      return sameSpec(next, old, custom.status)
        ? next
        : withMetadata(next, { generation: (old.metadata.generation ?? 0) + 1 })
    },
    validateUpdate(object: SpecAndStatus, old: SpecAndStatus, context) {
      const wrongType = typeErrors(object, row)
      return wrongType.length > 0
        ? [...wrongType, ...invariants(object, old, custom, [], context)]
        : valueErrors(object, old, custom, context)
    },
    ...selectable(custom.selectableFields),
    ...(custom.status ? { resetFields: [['f:status']] } : {}),
  }
  return custom.status ? { ...main, status: statusStrategy(row, custom) } : main
}

function statusStrategy(row: ResourceRow, custom: CustomVersion): Omit<Strategy, 'status'> {
  const others = ['metadata', ...(custom.structural?.properties.keys() ?? [])].filter((name) => name !== 'status')
  return {
    standardFinalizersOnly: false,
    allowUnconditionalUpdate: false,
    prepareForUpdate: statusWritten,
    validateUpdate(object: SpecAndStatus, old: SpecAndStatus, context) {
      const wrongType = typeErrors(object, row)
      if (wrongType.length > 0) return wrongType
      const { structural, scale } = custom
      const errors: FieldError[] = []
      const { props } = structural?.properties.get('status') ?? {}
      const status: Json | undefined = object.status
      if (props !== undefined && status !== undefined && !isSurelyValid(status, props))
        errors.push(...validateValue(status, props, 'status', { value: old.status }))
      if (scale !== undefined) errors.push(...scaleStatusErrors(object, scale))
      return invariants(object, old, custom, errors, context, true)
    },
    resetFields: others.map((name) => [`f:${name}`]),
  }
}

/** The kind and version an object says it has. */
function typeErrors(object: KubeObject, row: ResourceRow): readonly FieldError[] {
  const errors: FieldError[] = []
  if (object.kind !== row.kind) errors.push(invalid('kind', object.kind, `must be ${row.kind}`))
  const { group } = parseApiVersion(object.apiVersion)
  const wanted = `${row.group}/${row.version}`
  if (group !== row.group) errors.push(invalid('apiVersion', object.apiVersion, `must be ${wanted}`))
  return errors
}

function valueErrors(
  object: KubeObject,
  old: KubeObject | undefined,
  version: CustomVersion,
  context?: StrategyContext,
): readonly FieldError[] {
  const { structural, scale } = version
  const errors: FieldError[] = []
  if (structural !== undefined) errors.push(...valueProblems(object, old, structural))
  if (scale !== undefined) errors.push(...scaleSpecErrors(object, scale), ...scaleStatusErrors(object, scale))
  return invariants(object, old, version, errors, context)
}

/** What is wrong beyond values. */
function invariants(
  object: KubeObject,
  old: KubeObject | undefined,
  { structural }: CustomVersion,
  before: readonly FieldError[],
  context?: StrategyContext,
  isStatus = false,
): readonly FieldError[] {
  if (structural === undefined) return before
  const { failed, tolerated } = invariantProblems(object, old, structural, before, isStatus)
  // What an update does not change is not refused for it; its sender is told.
  for (const { field, message } of tolerated) context?.warn?.(`${field}: ${message}`)
  return failed
}

function withStatusOf(object: SpecAndStatus, old: SpecAndStatus): KubeObject {
  if (object.status === old.status) return object
  const { status: _, ...rest } = object
  return (old.status === undefined ? rest : { ...rest, status: old.status }) as KubeObject
}

/** Whether nothing changes that counts for generation: all but metadata, and status where it is a subresource. */
function sameSpec(a: KubeObject, b: KubeObject, withStatus: boolean): boolean {
  const counted = (object: SpecAndStatus) => {
    const { apiVersion: _a, kind: _k, metadata: _m, status, ...rest } = object
    return withStatus || status === undefined ? rest : { ...rest, status }
  }
  return sameJson(counted(a), counted(b))
}

type Found = { readonly value: Json | undefined } | { readonly error: string }

/** The value at a dotted path, or what Kubernetes says when something on the way is no map. */
export function nested(object: KubeObject, path: string): Found {
  const names = dottedPath(path) ?? []
  let value: Json | undefined = asJson(object)
  for (const [i, name] of names.entries()) {
    if (value === null || value === undefined) return { value: undefined }
    if (!isObject(value))
      return {
        error: `.${names.slice(0, i + 1).join('.')} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected map[string]interface{}`,
      }
    value = ownValue(value, name)
  }
  return { value }
}

function replicasErrors(object: KubeObject, path: string): readonly FieldError[] {
  const found = nested(object, path)
  if ('error' in found) return [invalid(path, 0, found.error)]
  const { value } = found
  if (value === undefined) return []
  const isInt = (typeof value === 'number' && Number.isInteger(value)) || typeof value === 'bigint'
  if (!isInt)
    return [
      invalid(path, 0, `${path} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected int64`),
    ]
  if ((value as number) < 0) return [invalid(path, value, 'should be a non-negative integer')]
  if ((value as number) > 2147483647) return [invalid(path, value, 'should be less than or equal to 2147483647')]
  return []
}

const scaleSpecErrors = (object: KubeObject, { specReplicasPath }: ScalePaths) =>
  replicasErrors(object, specReplicasPath)

function scaleStatusErrors(object: KubeObject, scale: ScalePaths): readonly FieldError[] {
  const errors = [...replicasErrors(object, scale.statusReplicasPath)]
  const path = scale.labelSelectorPath
  if (path === '') return errors
  const found = nested(object, path)
  if ('error' in found) errors.push(invalid(path, '', found.error))
  else if (found.value !== undefined && typeof found.value !== 'string')
    errors.push(
      invalid(
        path,
        '',
        `${path} accessor error: ${goValue(found.value)} is of the type ${goType(found.value)}, expected string`,
      ),
    )
  return errors
}

/** Go's %v of decoded JSON. */
function goValue(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  const object = value as JsonObject
  return `map[${Object.keys(object)
    .sort()
    .map((key) => `${key}:${goValue(object[key] ?? null)}`)
    .join(' ')}]`
}

function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64'
}

/** What field selectors may name; an absent field is the empty text. */
function selectable(paths: readonly string[]): Pick<Strategy, 'fieldLabels' | 'selectableFields'> {
  const labels = paths.map((path) => path.replace(/^\./, ''))
  return {
    fieldLabels: labels,
    selectableFields: (object) =>
      Object.fromEntries(
        paths.map((path, i) => {
          const found = nested(object, path)
          const value = 'value' in found ? found.value : undefined
          return [labels[i] as string, value === undefined || typeof value === 'object' ? '' : String(value)]
        }),
      ),
  }
}
