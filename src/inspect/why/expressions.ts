/**
 * Expressions of policies and match conditions, evaluated here as the API server would. What hangs on the user, on an authorizer or on
 * what of an object was not read stays unknown.
 */

import { typeCheck } from '../../api/cel/check.ts'
import { CALL_COST_LIMIT } from '../../api/cel/cost-limits.ts'
import type { Variables } from '../../api/cel/eval-within-cost-limit.ts'
import { BudgetExceeded, evaluateExpression } from '../../api/cel/eval-within-cost-limit.ts'
import { parse } from '../../api/cel/parse.ts'
import { DYN } from '../../api/cel/types.ts'
import { CelError, MapValue, mapKeyOf, type Value, wrap } from '../../api/cel/values.ts'
import { asJson, type JsonObject, type KubeObject } from '../../api/object.ts'
import { policyFunctions, policyVariables } from '../../api/validation/policy-expressions.ts'
import type { WriteRequest, WritingUser } from './rules.ts'

/** `fails`: the API server would come to the same error. */
export type Evaluated =
  | { readonly is: 'value'; readonly value: Value }
  | { readonly is: 'failed'; readonly message: string }
  | { readonly is: 'unknown' }

const UNKNOWN = { is: 'unknown' } as const
/** Of a request what is known only when it is made. */
const OF_THE_REQUEST = /\brequest\.(options|dryRun)\b|\brequest\[|\brequest\.userInfo\.(uid|extra)\b/
/** What is known where it is known which user will send it. */
const OF_THE_USER = /\brequest\.userInfo\b/

/** Whether an expression asks after the user that sends the request, or after what it may do. */
export const asksUser = (expression: string): boolean =>
  OF_THE_USER.test(expression) || /\bauthorizer\b/.test(expression)
/** Parts of an object that are not in its metadata. */
const BEYOND_METADATA = /\b(object|oldObject)(?!\.(metadata|kind|apiVersion)\b)\s*[.[]/

export function evaluated(expression: string, variables: Variables, isWhole: boolean): Evaluated {
  const request = variables.get('request')
  const isUserKnown = request instanceof MapValue && request.entries.has(mapKeyOf('userInfo'))
  if (OF_THE_REQUEST.test(expression) || (OF_THE_USER.test(expression) && !isUserKnown)) return UNKNOWN
  if (!isWhole && BEYOND_METADATA.test(expression)) return UNKNOWN
  try {
    const environment = { variables: policyVariables, mixed: true, functions: policyFunctions() }
    const checked = typeCheck(parse(expression), environment)
    if (checked.issues.length > 0 || [...checked.reads].some((name) => !variables.has(name))) return UNKNOWN
    return { is: 'value', value: evaluateExpression(checked, variables, { used: 0, limit: CALL_COST_LIMIT }) }
  } catch (error) {
    const isItsOwn = error instanceof CelError || error instanceof BudgetExceeded
    return isItsOwn
      ? { is: 'failed', message: `expression '${expression}' resulted in error: ${error.message}` }
      : UNKNOWN
  }
}

interface Conditional {
  readonly matchConditions?: readonly { readonly expression: string }[]
}

/** Whether a webhook or policy is asked about a write; `unknown` where that cannot be said, or it fails. */
export function conditionsOf({ matchConditions = [] }: Conditional, variables: Variables, isWhole: boolean) {
  const answers = matchConditions.map(({ expression }) => evaluated(expression, variables, isWhole))
  if (answers.some((one) => one.is === 'value' && one.value !== true)) return 'not asked'
  return answers.every(({ is }) => is === 'value') ? 'asked' : 'unknown'
}

/** Whether all of an object was read: of Secrets, and in long lists, it is the metadata alone. */
export const isWhole = ({ object, oldObject }: WriteRequest): boolean =>
  [object, oldObject].every((one) => one?.kind !== 'PartialObjectMetadata' && one?.kind !== 'Secret')

export function variablesOf(
  write: WriteRequest,
  namespaceObject: KubeObject | undefined,
  user?: WritingUser,
): Map<string, Value> {
  const { ref, operation, subresource, object, oldObject } = write
  const { group, version, kind, resource, namespace, name } = ref
  const request: JsonObject = {
    operation,
    name,
    namespace,
    kind: { group, version, kind },
    requestKind: { group, version, kind },
    resource: { group, version, resource },
    requestResource: { group, version, resource },
    subResource: subresource,
    requestSubResource: subresource,
    ...(user === undefined ? {} : { userInfo: asJson(user) }),
  }
  const asValue = (one: KubeObject | undefined) => (one === undefined ? null : wrap(asJson(one), DYN))
  return new Map<string, Value>([
    ['object', asValue(object)],
    ['oldObject', asValue(oldObject)],
    ['request', wrap(request, DYN)],
    ['namespaceObject', asValue(namespaceObject)],
  ])
}

/** With the variables that a policy names; `isKnown`: whether all of them that an expression reads could be evaluated. */
export function withVariables(
  named: readonly { readonly name: string; readonly expression: string }[],
  given: Variables,
  whole: boolean,
): { readonly variables: Variables; isKnown(expression: string): boolean } {
  const values = new Map<string, readonly [Value, Value]>()
  const variables = new Map(given).set('variables', new MapValue(values))
  const unknown = new Set<string>()
  const isKnown = (expression: string) =>
    [...expression.matchAll(/\bvariables\.(\w+)|\bvariables\[/g)].every(
      ([, name]) => name !== undefined && !unknown.has(name),
    )
  for (const { name, expression } of named) {
    const found = isKnown(expression) ? evaluated(expression, variables, whole) : UNKNOWN
    if (found.is === 'value') values.set(mapKeyOf(name), [name, found.value])
    else unknown.add(name)
    variables.set('variables', new MapValue(new Map(values)))
  }
  return { variables, isKnown }
}
