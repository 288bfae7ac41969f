/** When a Job fails or succeeds early: podFailurePolicy (KEP-3329) and successPolicy (KEP-3998). */
import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../errors/field-errors.ts'
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../generated/types.ts'
import { qualifiedName } from '../names/name-formats.ts'
import { internalForm } from './internal.ts'

const MAX_RULES = 20
const MAX_PATTERNS = 20
const MAX_CODES = 255
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const CONDITION_STATUSES = ['False', 'True', 'Unknown']

export function validatePodFailurePolicy(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const rules: readonly PodFailurePolicyRule[] = spec.podFailurePolicy!.rules ?? []
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES))
  const names = new Set<string>()
  for (const list of ['containers', 'initContainers'] as const)
    for (const container of spec.template?.spec?.[list] ?? []) names.add(container['name'])
  rules.forEach((rule, i) => {
    validateRule(rule, `${path}.rules[${i}]`, spec, names, errors)
  })
}

function validateRule(
  rule: PodFailurePolicyRule,
  path: string,
  spec: Partial<JobSpec>,
  names: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const action: string = rule.action ?? ''
  if (action === '')
    errors.push(required(`${path}.action`, `valid values: [${ACTIONS.map((a) => `"${a}"`).join(' ')}]`))
  else if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'))
  } else if (!ACTIONS.includes(action)) errors.push(notSupported(`${path}.action`, action, ACTIONS))
  const codes: PodFailurePolicyOnExitCodesRequirement | undefined = rule.onExitCodes
  const conditions: readonly PodFailurePolicyOnPodConditionsPattern[] = rule.onPodConditions ?? []
  if (codes) validateExitCodes(codes, `${path}.onExitCodes`, names, errors)
  if (conditions.length) validateConditions(conditions, `${path}.onPodConditions`, errors)
  if (codes && conditions.length)
    errors.push(withoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  if (!codes && conditions.length === 0)
    errors.push(withoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'))
}

/** An error about the whole, whose message stands where its value would. */
function withoutValue(path: string, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` }
}

function validateExitCodes(
  codes: PodFailurePolicyOnExitCodesRequirement,
  path: string,
  names: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const operator: string = codes.operator ?? ''
  if (operator === '')
    errors.push(required(`${path}.operator`, `valid values: [${OPERATORS.map((o) => `"${o}"`).join(' ')}]`))
  else if (!OPERATORS.includes(operator)) errors.push(notSupported(`${path}.operator`, operator, OPERATORS))
  const container: string | undefined = codes.containerName ?? undefined
  if (container !== undefined && !names.has(container))
    errors.push(
      invalid(
        `${path}.containerName`,
        container,
        'must be one of the container or initContainer names in the pod template',
      ),
    )
  const values: readonly number[] = codes.values ?? []
  if (values.length === 0)
    errors.push(invalid(`${path}.values`, codes.values ?? null, 'at least one value is required'))
  else if (values.length > MAX_CODES) errors.push(tooMany(`${path}.values`, values.length, MAX_CODES))
  let ordered = true
  const seen = new Set<number>()
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0)
      errors.push(invalid(`${path}.values[${i}]`, value, 'must not be 0 for the In operator'))
    if (seen.has(value)) errors.push(duplicate(`${path}.values[${i}]`, value))
    seen.add(value)
    if (i > 0 && values[i - 1]! > value) ordered = false
  })
  if (!ordered) errors.push(invalid(`${path}.values`, values, 'must be ordered'))
}

function validateConditions(
  conditions: readonly PodFailurePolicyOnPodConditionsPattern[],
  path: string,
  errors: FieldError[],
): void {
  if (conditions.length > MAX_PATTERNS) errors.push(tooMany(path, conditions.length, MAX_PATTERNS))
  conditions.forEach((pattern, i) => {
    const type: string = pattern.type ?? ''
    for (const message of qualifiedName(type)) errors.push(invalid(`${path}[${i}].type`, type, message))
    const status: string = pattern.status ?? ''
    if (status === '')
      errors.push(
        required(`${path}[${i}].status`, `valid values: [${CONDITION_STATUSES.map((s) => `"${s}"`).join(' ')}]`),
      )
    else if (!CONDITION_STATUSES.includes(status))
      errors.push(notSupported(`${path}[${i}].status`, status, CONDITION_STATUSES))
  })
}

export function validateSuccessPolicy(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const rules: readonly SuccessPolicyRule[] = spec.successPolicy!.rules ?? []
  if (spec.completionMode !== 'Indexed')
    return void errors.push(
      invalid(
        path,
        internalForm('io.k8s.api.batch.v1.SuccessPolicy', spec.successPolicy),
        'requires indexed completion mode',
      ),
    )
  if (rules.length === 0)
    errors.push(required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'))
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES))
  rules.forEach((rule, i) => {
    const at = `${path}.rules[${i}]`
    const count: number | undefined = rule.succeededCount ?? undefined
    const indexes: string | undefined = rule.succeededIndexes ?? undefined
    if (count === undefined && indexes === undefined)
      errors.push(required(at, 'at least one of succeededCount or succeededIndexes must be specified'))
    const completions: number = spec.completions ?? 0
    let total = completions
    if (indexes !== undefined) {
      if (indexes.length > MOST_INDEX_BYTES) errors.push(tooLong(`${at}.succeededIndexes`, MOST_INDEX_BYTES))
      const parsed = countIndexes(indexes, completions)
      if (typeof parsed === 'string')
        errors.push(invalid(`${at}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${parsed}`))
      total = typeof parsed === 'string' ? 0 : parsed
    }
    if (count !== undefined) {
      if (count < 0) errors.push(invalid(`${at}.succeededCount`, count, 'must be greater than or equal to 0'))
      if (count > completions)
        errors.push(
          invalid(
            `${at}.succeededCount`,
            count,
            `must be less than or equal to ${completions} (the number of specified completions)`,
          ),
        )
      if (indexes !== undefined && count > total)
        errors.push(
          invalid(
            `${at}.succeededCount`,
            count,
            `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
          ),
        )
    }
  })
}

const MOST_INDEX_BYTES = 65_536
const INDEX = /^[0-9]{1,10}$/
const unreadable = (index: string) => `cannot convert string to integer for index: "${index}"`
const tooLarge = (index: string) => `too large index: "${index}"`

/** How many indexes `1,3-5` names, or what is wrong with it. */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let last = -1
  for (const part of text.split(',')) {
    const [first = '', second] = part.split('-')
    if (!INDEX.test(first)) return unreadable(first)
    const from = Number(first)
    if (from >= completions) return tooLarge(first)
    if (second !== undefined && !INDEX.test(second)) return unreadable(second)
    const to = second === undefined ? from : Number(second)
    if (to >= completions) return tooLarge(second ?? first)
    if (from <= last) return `non-increasing order, previous: ${last}, current: ${from}`
    if (second !== undefined && to <= from) return `non-increasing order, previous: ${from}, current: ${to}`
    total += to - from + 1
    last = to
  }
  return total
}
