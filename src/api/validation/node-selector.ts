/** core/v1 NodeSelector: terms of requirements on a node's labels and name. */
import { type FieldError, invalid, invalidChoice, required } from '../errors/field-errors.ts'
import { dns1123Subdomain, labelValue, qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { validateSetOperator } from './labels.ts'

export function validateNodeSelector(selector: Fields, path: string, errors: FieldError[]): void {
  const terms: readonly Fields[] = selector['nodeSelectorTerms'] ?? []
  if (terms.length === 0) {
    errors.push(required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term'))
    return
  }
  terms.forEach((term, i) => {
    validateNodeSelectorTerm(term, `${path}.nodeSelectorTerms[${i}]`, errors)
  })
}

/** `withValues`: whether the values of labels are looked at, one by one. */
export function validateNodeSelectorTerm(term: Fields, path: string, errors: FieldError[], withValues = true): void {
  term['matchExpressions']?.forEach((requirement: Fields, i: number) => {
    const at = `${path}.matchExpressions[${i}]`
    labelRequirement(requirement, at, errors, withValues)
  })
  term['matchFields']?.forEach((requirement: Fields, i: number) => {
    fieldRequirement(requirement, `${path}.matchFields[${i}]`, errors)
  })
}

function labelRequirement(requirement: Fields, path: string, errors: FieldError[], withValues: boolean): void {
  const { key = '', operator = '' } = requirement
  const values: readonly string[] = requirement['values'] ?? []
  if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
  } else if (!validateSetOperator(operator, values, path, errors))
    errors.push(invalidChoice(`${path}.operator`, operator, 'not a valid selector operator'))
  for (const message of qualifiedName(key)) errors.push(invalid(`${path}.key`, key, message))
  if (!withValues) return
  values.forEach((value, i) => {
    for (const message of labelValue(value)) errors.push(invalid(`${path}.values[${i}]`, value, message))
  })
}

function fieldRequirement(requirement: Fields, path: string, errors: FieldError[]): void {
  const { key = '', operator = '' } = requirement
  const values: readonly string[] = requirement['values'] ?? []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1)
      errors.push(
        required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
      )
  } else errors.push(invalidChoice(`${path}.operator`, operator, 'not a valid selector operator'))
  if (key !== 'metadata.name') {
    errors.push(invalid(`${path}.key`, key, 'not a valid field selector key'))
    return
  }
  values.forEach((value, i) => {
    for (const message of dns1123Subdomain(value)) errors.push(invalid(`${path}.values[${i}]`, value, message))
  })
}
