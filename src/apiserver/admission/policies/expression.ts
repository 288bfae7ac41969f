/** CEL expressions of policies and match conditions: compiled once, evaluated over a request under a budget. */

import { type AuthorizerAnswer, authorizerValue, requestResourceValue } from '../../../api/cel/authorizer.ts'
import { typeCheck } from '../../../api/cel/check.ts'
import { CALL_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import { type Budget, BudgetExceeded, evaluateExpression } from '../../../api/cel/eval-within-cost-limit.ts'
import { parse } from '../../../api/cel/parse.ts'
import { DYN } from '../../../api/cel/types.ts'
import { CelError, MapValue, type Value, wrap } from '../../../api/cel/values.ts'
import type { Namespace } from '../../../api/generated/types.ts'
import type { Fields, Json, KubeObject } from '../../../api/object.ts'
import {
  messageTypes,
  mutatingFunctions,
  policyFunctions,
  policyVariables,
} from '../../../api/validation/policy-expressions.ts'
import type { DecidedAuthorizer } from '../../auth/decided.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { user } from '../webhooks/admission-review.ts'

/** Thrown with what went wrong inside an expression. */
export class ExpressionError extends Error {}

export interface PolicyExpression {
  /** @throws ExpressionError */
  run(variables: ReadonlyMap<string, Value>, budget: Budget): Value
}

/** The expressions of one policy have cost too much together: none is evaluated any more. */
export class BudgetSpent extends ExpressionError {}

/**
 * A source that does not compile fails when it is run: it was checked when its policy was written.
 *
 * @param mutating whether it may make objects (`Object{…}`)
 */
export function compile(source: string, mutating = false): PolicyExpression {
  let broken: string | undefined
  let checked: ReturnType<typeof typeCheck> | undefined
  try {
    const language = mutating
      ? { functions: mutatingFunctions(), messages: messageTypes }
      : { functions: policyFunctions() }
    checked = typeCheck(parse(source), { variables: policyVariables, mixed: true, ...language })
    const [issue] = checked.issues
    if (issue !== undefined) broken = `compilation failed: ERROR: <input>:1:${issue.at + 1}: ${issue.message}`
  } catch (error) {
    broken = `compilation failed: ${(error as Error).message}`
  }
  return {
    run(variables, budget) {
      if (broken !== undefined || checked === undefined) throw new ExpressionError(broken ?? 'compilation failed')
      const own: Budget = { used: 0, limit: CALL_COST_LIMIT }
      let value: Value
      try {
        value = evaluateExpression(checked, variables, own)
      } catch (error) {
        if (error instanceof CelError || error instanceof BudgetExceeded) throw new ExpressionError(error.message)
        throw error
      } finally {
        budget.used += own.used
      }
      if (budget.used > budget.limit)
        throw new BudgetSpent(
          'validation failed due to running out of cost budget, no further validation rules will be run',
        )
      return value
    },
  }
}

/** The variables of a request; `object` and `oldObject` are of the version the rules name. */
export function requestVariables(
  attributes: AdmissionAttributes,
  shown: {
    readonly object: KubeObject | undefined
    readonly oldObject: KubeObject | undefined
    readonly request: Fields
  },
  reads: CacheReads,
  authorizer: DecidedAuthorizer,
): Map<string, Value> {
  const { namespace, endpoint } = attributes
  const { row } = endpoint
  const own = row.isOwnNamespace
  const found = own
    ? (attributes.object ?? attributes.oldObject)
    : namespace === ''
      ? undefined
      : reads.get<Namespace>('', 'namespaces', '', namespace)
  const json = (value: unknown): Value => wrap((value ?? null) as Json, DYN)
  const { object: _, oldObject: _o, ...request } = shown.request
  const answer = answererOf(attributes, authorizer)
  return new Map<string, Value>([
    ['object', json(shown.object)],
    ['oldObject', json(shown.oldObject)],
    ['request', json({ ...request, userInfo: user(attributes.user) })],
    ['namespaceObject', json(found)],
    ['params', null],
    ['authorizer', authorizerValue(answer)],
    ['authorizer.requestResource', requestResourceValue(answer, requested(attributes))],
  ])
}

/** Answers what the request's user, or a service account, may do. */
function answererOf({ user: asking }: AdmissionAttributes, authorizer: DecidedAuthorizer): AuthorizerAnswer {
  return ({ serviceAccount: account, path, ...question }) => {
    const user =
      account === undefined
        ? asking
        : {
            name: `system:serviceaccount:${account.namespace}:${account.name}`,
            groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
          }
    const { verdict, reason } = authorizer.authorize({ user, version: '*', path, isResource: path === '', ...question })
    return { allowed: verdict === 'allow', reason }
  }
}

const requested = ({
  endpoint: {
    row: { group, resource },
  },
  subresource,
  namespace,
  name,
}: AdmissionAttributes) => ({
  group,
  resource,
  subresource,
  namespace,
  name,
})

/** `variables.x`: each is evaluated when it is first read, and may read those before it. */
export function lazyVariables(
  list: readonly { readonly name: string; readonly expression: PolicyExpression }[],
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
): Value {
  const known = new Map<string, readonly [Value, Value]>()
  const entries = new Map<string, readonly [Value, Value]>()
  const composed = new MapValue(entries, undefined, true)
  const all = new Map([...variables, ['variables', composed as Value]])
  entries.get = (key) => {
    const present = known.get(key)
    if (present !== undefined) return present
    const found = list.find(({ name }) => `s${name}` === key)
    if (found === undefined) return undefined
    try {
      const made: readonly [Value, Value] = [found.name, found.expression.run(all, budget)]
      known.set(key, made)
      return made
    } catch (error) {
      if (error instanceof ExpressionError)
        throw new CelError(`composited variable ${JSON.stringify(found.name)} fails to evaluate: ${error.message}`)
      throw error
    }
  }
  return composed
}
