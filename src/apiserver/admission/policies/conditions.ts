/** matchConditions of webhooks and policies (KEP-3716): expressions that all must hold for a request to be judged. */
import type { Budget } from '../../../api/cel/eval-within-cost-limit.ts'
import { MapValue, type Value } from '../../../api/cel/values.ts'
import type { MatchCondition as ConditionSpec } from '../../../api/generated/types.ts'
import { compile, ExpressionError, type PolicyExpression } from './expression.ts'

export interface MatchCondition {
  readonly source: string
  readonly expression: PolicyExpression
}

export type ConditionOutcome =
  | { readonly matches: boolean }
  /** No condition is false, and some could not be evaluated. */
  | { readonly error: string }

export const matchConditionsOf = ({
  matchConditions = [],
}: {
  readonly matchConditions?: readonly ConditionSpec[]
}): readonly MatchCondition[] =>
  matchConditions.map(({ expression }) => ({
    source: expression,
    expression: compile(expression),
  }))

/** One that is false decides, whatever goes wrong in the others. */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
): ConditionOutcome {
  const errors: string[] = []
  for (const { source, expression } of conditions) {
    try {
      if (expression.run(variables, budget) !== true) return { matches: false }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      errors.push(`expression '${source}' resulted in error: ${error.message}`)
    }
  }
  if (errors.length === 0) return { matches: true }
  return { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` }
}

/** Conditions of policies are compiled with the namespace among their variables, and evaluated without its fields. */
export const withoutNamespace = (variables: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> =>
  new Map(variables).set('namespaceObject', NO_NAMESPACE)

const NO_NAMESPACE = new MapValue(new Map())
