/** Labels and label selectors: the rules of metav1.LabelSelector and of label maps, and the selector's meaning. */
import { type FieldError, forbiddenField, invalid, invalidChoice, required } from '../errors/field-errors.ts'
import { labelValue, qualifiedName } from '../names/name-formats.ts'
import type { Fields, Json } from '../object.ts'
import { joinPath, type Rule } from './rules.ts'

/** A map of labels: errors stand at the map's own path, sorted by key. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined | null,
  path: string,
  errors: FieldError[],
): void {
  if (!labels) return
  for (const key of Object.keys(labels).sort()) {
    for (const message of qualifiedName(key)) errors.push(invalid(path, key, message))
    for (const message of labelValue(labels[key]!)) errors.push(invalid(path, labels[key], message))
  }
}

/** validateLabels as a rule. */
export const labels: Rule = (value, path, errors) => validateLabels(value, path, errors)

/** A label's key on its own. */
export const labelNameRule: Rule = (value, path, errors) => {
  for (const message of qualifiedName(value ?? '')) errors.push(invalid(path, value ?? '', message))
}

/** metav1.LabelSelector. Absent is accepted. */
export const labelSelector: Rule = (selector, path, errors) => validateLabelSelector(selector, path, errors)

export interface LabelSelectorOptions {
  /** Unknown operators are passed over: where the reader of the selector ignores such expressions. */
  readonly allowUnknownOperators?: boolean
}

export function validateLabelSelector(
  selector: Fields | undefined | null,
  path: string,
  errors: FieldError[],
  options: LabelSelectorOptions = {},
): void {
  if (!selector) return
  validateLabels(selector['matchLabels'], joinPath(path, 'matchLabels'), errors)
  selector['matchExpressions']?.forEach((requirement: Fields, i: number) => {
    validateLabelRequirement(requirement, `${joinPath(path, 'matchExpressions')}[${i}]`, errors, options)
  })
}

/** How many values the operators that all selectors know may have; false for another operator. */
export function validateSetOperator(
  operator: string,
  values: readonly string[],
  path: string,
  errors: FieldError[],
): boolean {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    return true
  }
  if (operator !== 'Exists' && operator !== 'DoesNotExist') return false
  if (values.length > 0)
    errors.push(forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  return true
}

export function validateLabelRequirement(
  requirement: Fields,
  path: string,
  errors: FieldError[],
  options: LabelSelectorOptions = {},
): void {
  const values: readonly string[] = requirement['values'] ?? []
  const operator: string = requirement['operator'] ?? ''
  if (!validateSetOperator(operator, values, path, errors) && options.allowUnknownOperators !== true)
    errors.push(invalidChoice(`${path}.operator`, operator, 'not a valid selector operator'))
  for (const message of qualifiedName(requirement['key'] ?? ''))
    errors.push(invalid(`${path}.key`, requirement['key'] ?? '', message))
  values.forEach((value, i) => {
    for (const message of labelValue(value)) errors.push(invalid(`${path}.values[${i}]`, value, message))
  })
}

/** Whether the selector can be used at all (every key, value and operator is well formed). */
export function isUsableSelector(selector: Fields | undefined | null): boolean {
  const errors: FieldError[] = []
  validateLabelSelector(selector, '', errors)
  return errors.length === 0
}

/** Neither labels nor expressions: a selector that selects everything. */
export function isEmptySelector(selector: Fields): boolean {
  return Object.keys(selector['matchLabels'] ?? {}).length === 0 && !selector['matchExpressions']?.length
}

/** A map with its keys sorted, as Go prints maps; null when absent. */
export function printableMap(map: Readonly<Record<string, Json>> | undefined | null): Json {
  if (!map) return null
  const out: Record<string, Json> = {}
  for (const key of Object.keys(map).sort())
    Object.defineProperty(out, key, { value: map[key], enumerable: true, configurable: true, writable: true })
  return out
}

/** A LabelSelector as error messages print it: fields in the type's order, null when absent. */
export function printableSelector(selector: Fields | undefined | null): Json {
  if (!selector) return null
  const { matchLabels, matchExpressions } = selector
  return {
    ...(matchLabels && Object.keys(matchLabels).length ? { matchLabels: printableMap(matchLabels) } : {}),
    ...(matchExpressions?.length
      ? {
          matchExpressions: matchExpressions.map((e: Fields) => ({
            key: e['key'] ?? '',
            operator: e['operator'] ?? '',
            ...(e['values']?.length ? { values: e['values'] } : {}),
          })),
        }
      : {}),
  }
}
