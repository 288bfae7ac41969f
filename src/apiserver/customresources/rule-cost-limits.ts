/**
 * What the rules of a definition may cost by their estimate (KEP-2876): each by itself, and all of a version's schema together. A
 * definition with rules beyond that is refused when it is written.
 */
import { RULE_ESTIMATE_LIMIT, SCHEMA_ESTIMATE_LIMIT } from '../../api/cel/cost-limits.ts'
import { type FieldError, forbiddenField } from '../../api/errors/field-errors.ts'

/** Of those that are told as costly: of one rule, as a part of what all may cost. */
const WORTH_TELLING = SCHEMA_ESTIMATE_LIMIT / 100
const MOST_TOLD = 4

/** The costs of one schema's rules, in CEL's units. */
export interface RuleCosts {
  /** The rule or message at `path` costs so much at most. `what`: that, in an error's words. */
  add(path: string, what: string, cost: number): readonly FieldError[]
  /** Of all together, told of the schema at `path`. */
  finish(path: string): readonly FieldError[]
}

export function createRuleCosts(): RuleCosts {
  const expensive: { readonly path: string; readonly cost: number }[] = []
  let total = 0
  return {
    add(path, what, cost) {
      total += cost
      if (cost >= WORTH_TELLING) expensive.push({ path, cost })
      return cost > RULE_ESTIMATE_LIMIT ? [forbiddenField(path, costText(what, cost, RULE_ESTIMATE_LIMIT))] : []
    },
    finish(path) {
      if (total <= SCHEMA_ESTIMATE_LIMIT) return []
      const worst = expensive.toSorted((a, b) => b.cost - a.cost).slice(0, MOST_TOLD)
      const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
      return [
        ...worst.map((one) =>
          forbiddenField(
            one.path,
            'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
          ),
        ),
        forbiddenField(path, costText(what, total, SCHEMA_ESTIMATE_LIMIT)),
      ]
    },
  }
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}
