/** Rules of LimitRange and ResourceQuota. */

import { duplicate, type FieldError, forbiddenField, invalid, invalidChoice, required } from '../errors/field-errors.ts'
import type {
  LimitRange,
  LimitRangeItem,
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../generated/types.ts'
import { qualifiedName } from '../names/name-formats.ts'
import {
  containerResourceName,
  isOvercommitAllowed,
  isStandardQuotaResource,
  quotaResourceName,
  resourceName,
  resourceQuantity,
} from '../names/resource-names.ts'
import type { Fields } from '../object.ts'
import { asGiven } from '../schema/canonical.ts'
import { compareQuantities, quantityMilliValue, quantityValue } from '../values/quantity.ts'
import { entries, same } from './common.ts'
import { internalForm } from './internal.ts'

const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']
const POD_SCOPES = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity']
const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]
const COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

type Quantities = { readonly [name: string]: string }

export function validateLimitRange(object: LimitRange): readonly FieldError[] {
  const errors: FieldError[] = []
  const types = new Set<string>()
  object.spec?.limits?.forEach((limit, i: number) => {
    const path = `spec.limits[${i}]`
    const type: string = limit.type ?? ''
    limitType(type, `${path}.type`, errors)
    if (types.has(type)) errors.push(duplicate(`${path}.type`, type))
    types.add(type)
    limitItem(limit, type, path, errors)
  })
  return errors
}

function limitType(type: string, path: string, errors: FieldError[]): void {
  const messages = qualifiedName(type)
  for (const message of messages) errors.push(invalid(path, type, message))
  if (messages.length === 0 && !type.includes('/') && !LIMIT_TYPES.includes(type))
    errors.push(invalid(path, type, 'must be a standard limit type or fully qualified'))
}

function limitItem(limit: LimitRangeItem, type: string, path: string, errors: FieldError[]): void {
  const name = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName
  const names = new Set<string>()
  const list = (field: string): Quantities => {
    for (const [key] of entries((limit as Fields)[field])) {
      name(key, `${path}.${field}[${key}]`, errors)
      names.add(key)
    }
    return (limit as Fields)[field] ?? {}
  }
  const max = list('max')
  const min = list('min')
  let defaults: Quantities = {}
  let requests: Quantities = {}
  if (type === 'Pod') {
    for (const field of ['default', 'defaultRequest'])
      if (entries((limit as Fields)[field]).length > 0)
        errors.push(forbiddenField(`${path}.${field}`, "may not be specified when `type` is 'Pod'"))
  } else {
    defaults = list('default')
    requests = list('defaultRequest')
  }
  if (type === 'PersistentVolumeClaim' && min['storage'] === undefined && max['storage'] === undefined)
    errors.push(
      required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'),
    )
  const ratios = list('maxLimitRequestRatio')
  for (const key of names) {
    const own = (map: Quantities): string | undefined => (Object.hasOwn(map, key) ? map[key] : undefined)
    compare(own(min), own(max), own(defaults), own(requests), own(ratios), key, path, errors)
  }
}

function compare(
  min: string | undefined,
  max: string | undefined,
  preset: string | undefined,
  request: string | undefined,
  ratio: string | undefined,
  key: string,
  path: string,
  errors: FieldError[],
): void {
  const exceeds = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0
  const say = (field: string, printed: string | undefined, detail: string) =>
    errors.push(invalid(`${path}.${field}[${key}]`, printed, detail))
  if (exceeds(min, max)) say('min', min, `min value ${min} is greater than max value ${max}`)
  if (exceeds(min, request))
    say('defaultRequest', request, `min value ${min} is greater than default request value ${request}`)
  if (exceeds(request, max))
    say('defaultRequest', request, `default request value ${request} is greater than max value ${max}`)
  if (exceeds(request, preset))
    say('defaultRequest', request, `default request value ${request} is greater than default limit value ${preset}`)
  if (exceeds(min, preset)) say('default', min, `min value ${min} is greater than default value ${preset}`)
  if (exceeds(preset, max)) say('default', max, `default value ${preset} is greater than max value ${max}`)
  if (ratio !== undefined && compareQuantities(ratio, '1') < 0)
    say('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`)
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const small = quantityValue(max) < 9223372036854775n && quantityValue(min) < 9223372036854775n
    const of = (text: string) => Number(small ? quantityMilliValue(text) : quantityValue(text))
    const limit = of(max) / of(min)
    if (Number(quantityValue(ratio)) > limit)
      say('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`)
  }
  if (
    !isOvercommitAllowed(key) &&
    preset !== undefined &&
    request !== undefined &&
    compareQuantities(preset, request) !== 0
  )
    say('defaultRequest', request, `default value ${preset} must equal to defaultRequest value ${request} in ${key}`)
}

export function validateResourceQuota(object: ResourceQuota): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<ResourceQuotaSpec> = object.spec ?? {}
  hardQuantities(spec.hard, 'spec.hard', errors)
  scopes(spec, errors)
  scopeSelector(spec, errors)
  return errors
}

function hardQuantities(map: Fields | undefined, path: string, errors: FieldError[]): void {
  for (const [key, value] of entries(map)) {
    quotaResourceName(key, `${path}[${key}]`, errors)
    resourceQuantity(key, value as string, `${path}[${key}]`, errors)
  }
}

function scopeFits(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods'
  if (POD_SCOPES.includes(scope)) return resource === 'pods' || COMPUTE.includes(resource)
  if (scope === 'VolumeAttributesClass') return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
  return true
}

const standardNames = (spec: Partial<ResourceQuotaSpec>): readonly string[] =>
  entries(spec.hard)
    .map(([key]) => key)
    .filter(isStandardQuotaResource)

function scopes(spec: Partial<ResourceQuotaSpec>, errors: FieldError[]): void {
  const list: readonly string[] = spec.scopes ?? []
  const standard = standardNames(spec)
  // Each error says the whole list, and is told once.
  const told = new Set<string>()
  const tell = (detail: string, isSo: () => boolean) => {
    if (told.has(detail) || !isSo()) return
    told.add(detail)
    errors.push(invalid('spec.scopes', list, detail))
  }
  for (const scope of list) {
    tell('unsupported scope', () => !SCOPES.includes(scope))
    tell('unsupported scope applied to resource', () => standard.some((name) => !scopeFits(scope, name)))
  }
  for (const pair of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ])
    if (pair.every((scope) => list.includes(scope))) errors.push(invalid('spec.scopes', list, 'conflicting scopes'))
}

function scopeSelector(spec: Partial<ResourceQuotaSpec>, errors: FieldError[]): void {
  const standard = standardNames(spec)
  let told = false
  const seen = new Set<string>()
  // Kubernetes names the list, not the requirement.
  const at = 'spec.scopeSelector.matchExpressions'
  const all: readonly ScopedResourceSelectorRequirement[] = spec.scopeSelector?.matchExpressions ?? []
  for (const requirement of all) {
    const { scopeName = '', operator = '', values = [] } = requirement
    if (!SCOPES.includes(scopeName)) errors.push(invalidChoice(`${at}.scopeName`, scopeName, 'unsupported scope'))
    if (!told && standard.some((name) => !scopeFits(scopeName, name))) {
      // Says the whole list.
      told = true
      const selector = internalForm('io.k8s.api.core.v1.ScopeSelector', { matchExpressions: all })
      errors.push(invalid(at, selector, 'unsupported scope applied to resource'))
    }
    if (scopeName !== 'PriorityClass' && scopeName !== 'VolumeAttributesClass' && SCOPES.includes(scopeName)) {
      if (operator !== 'Exists')
        errors.push(
          invalid(
            `${at}.operator`,
            operator,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
          ),
        )
    }
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0)
        errors.push(
          required(`${at}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
        )
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length !== 0)
        errors.push(
          invalid(
            `${at}.values`,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        )
    } else errors.push(invalidChoice(`${at}.operator`, operator, 'not a valid selector operator'))
    seen.add(scopeName)
  }
  for (const pair of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ])
    if (pair.every((scope) => seen.has(scope))) errors.push(invalid(at, all as never, 'conflicting scopes'))
}

export function validateResourceQuotaUpdate(object: ResourceQuota, old: ResourceQuota): readonly FieldError[] {
  const errors = [...validateResourceQuota(object)]
  const set = (o: ResourceQuota) => [...new Set<string>(o.spec?.scopes ?? [])].sort()
  if (!same(set(object), set(old)))
    errors.push(invalid('spec.scopes', asGiven(object.spec, 'scopes', []), 'field is immutable'))
  return errors
}

export function validateResourceQuotaStatus(object: ResourceQuota): readonly FieldError[] {
  const errors: FieldError[] = []
  hardQuantities(object.status?.hard, 'status.hard', errors)
  hardQuantities(object.status?.used, 'status.used', errors)
  return errors
}
