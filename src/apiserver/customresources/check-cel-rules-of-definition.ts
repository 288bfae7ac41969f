/**
 * x-kubernetes-validations (KEP-2876) as a definition is written: its rules are typed and held to the limits of their estimated cost
 * (rule-cost-limits.ts). What runs them stands in api, for those that judge objects without being the server.
 */

import { maxCardinality, typeOfSchema } from '../../api/cel/schema-types.ts'
import { type FieldError, internal, invalid } from '../../api/errors/field-errors.ts'
import type { RuleChecks, SchemaPlace } from '../../api/schema/structural/check-schema.ts'
import { internalRule } from '../../api/schema/structural/internal-schema.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { compiledRules } from '../../api/validation/x-kubernetes-validations.ts'
import { createRuleCosts, type RuleCosts } from './rule-cost-limits.ts'

const NO_TYPE =
  'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'

/** The checks of one definition's rules. */
export function checkRulesOf(root: JSONSchemaProps): RuleChecks {
  const { add, finish } = createRuleCosts()
  return { check: (schema, path, place) => ruleErrors(schema, path, place, add), finish, root }
}

function ruleErrors(
  schema: JSONSchemaProps,
  path: string,
  place: SchemaPlace,
  add: RuleCosts['add'],
): readonly FieldError[] {
  const errors: FieldError[] = []
  const structural = structuralOf(schema)
  const self = typeOfSchema(structural, place.root)
  if (self === undefined) {
    if (structural.rules.length > 0) errors.push(internal(`${path}.x-kubernetes-validations`, NO_TYPE))
    return errors
  }
  const cardinality = place.cardinality ?? maxCardinality(self)
  compiledRules(structural, place.root).forEach((one, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`
    if (one.program !== undefined)
      errors.push(...add(`${at}.rule`, 'estimated rule cost', one.program.maxCost * cardinality))
    if (one.error !== undefined) errors.push(invalid(`${at}.rule`, internalRule(one.rule), one.error))
    if (one.messageError !== undefined)
      errors.push(invalid(`${at}.messageExpression`, internalRule(one.rule), one.messageError))
    else if (one.message !== undefined)
      // Of a message, which is made once, only that counts.
      errors.push(...add(`${at}.messageExpression`, 'estimated messageExpression cost', one.message.maxCost))
    if (one.transition && place.uncorrelatable !== undefined)
      errors.push(
        invalid(
          `${at}.rule`,
          one.rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`,
        ),
      )
    if (!one.transition && one.rule.optionalOldSelf !== undefined)
      errors.push(
        invalid(`${at}.optionalOldSelf`, one.rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      )
  })
  return errors
}
