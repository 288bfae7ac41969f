/** What a definition's schema says against a custom resource: values, embedded resources, list types and rules in CEL. */
import { type FieldError, invalid } from '../errors/field-errors.ts'
import { asJson, type KubeObject } from '../object.ts'
import { validateListTypes } from '../schema/structural/list-types.ts'
import { isSurelyValid } from '../schema/structural/quick-validate.ts'
import type { Structural } from '../schema/structural/structural.ts'
import { validateValue } from '../schema/structural/validate-value.ts'
import { validateEmbedded } from './embedded.ts'
import { type RuleErrors, rulesBelow, validateRules } from './x-kubernetes-validations.ts'

/** Values against the schema; of an update only what it changes (KEP-4008, ratcheting). */
export function valueProblems(
  object: KubeObject,
  old: KubeObject | undefined,
  { props }: Structural,
): readonly FieldError[] {
  const value = asJson(object)
  if (isSurelyValid(value, props)) return []
  return validateValue(value, props, '', old === undefined ? undefined : { value: asJson(old) })
}

/**
 * What is wrong beyond values: embedded resources, list types, and, where nothing hinders it, rules in CEL. `failed` begins with what was
 * found before.
 */
export function invariantProblems(
  object: KubeObject,
  old: KubeObject | undefined,
  structural: Structural,
  before: readonly FieldError[],
  isStatus = false,
): RuleErrors {
  const errors = [...before]
  // A write of the status does not judge what is embedded; every other does, also what it does not change.
  if (!isStatus) errors.push(...validateEmbedded(asJson(object), structural))
  const wrong = validateListTypes(asJson(object), structural)
  // Lists that were wrong already may stay so.
  if (wrong.length > 0 && (old === undefined || validateListTypes(asJson(old), structural).length === 0))
    errors.push(...wrong)
  if (!rulesBelow(structural)) return { failed: errors, tolerated: [] }
  const hinders = errors.some(({ type }) => BLOCKING.has(type)) || hasBlockingMeta(object)
  if (hinders) return { failed: [...errors, NOT_CHECKED], tolerated: [] }
  const { failed, tolerated } = validateRules(object, old, structural)
  return { failed: [...errors, ...failed], tolerated }
}

const BLOCKING = new Set([
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
])

/** Metadata is judged by the store, but what it lacks hinders rules as any missing field does. */
function hasBlockingMeta({ metadata: { name, ownerReferences = [] } }: KubeObject): boolean {
  return !name || ownerReferences.some((owner) => !owner.apiVersion || !owner.kind || !owner.name || !owner.uid)
}

const NOT_CHECKED = invalid(
  '',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

/** All of it. */
export function customProblems(object: KubeObject, old: KubeObject | undefined, structural: Structural) {
  return invariantProblems(object, old, structural, valueProblems(object, old, structural)).failed
}
