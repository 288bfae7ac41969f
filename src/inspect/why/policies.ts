/**
 * ValidatingAdmissionPolicies judged without asking the server: their expressions are evaluated over the object as it is and as it
 * would be without a finalizer. What hangs on the user, on params or on an authorizer stays unknown.
 */

import { typeCheck } from '../../api/cel/check.ts'
import { evaluateExpression } from '../../api/cel/eval-within-cost-limit.ts'
import { CALL_COST_LIMIT } from '../../api/cel/limits.ts'
import { parse } from '../../api/cel/parse.ts'
import { DYN } from '../../api/cel/types.ts'
import { MapValue, mapKeyOf, type Value, wrap } from '../../api/cel/values.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../api/generated/types.ts'
import { asJson, type JsonObject, type KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { policyFunctions, policyVariables } from '../../api/validation/policy-expressions.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'
import { foundOf, itemsOf, type Look, NAMESPACES, VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS } from './look.ts'
import { ruleMatches } from './rules.ts'

/** What policies say, or may say, of an update that takes the finalizer off. All of it is inferred. */
export async function policyLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
): Promise<readonly Link[]> {
  const { reader } = look
  const [policies, bindings, space] = await Promise.all([
    reader.list<ValidatingAdmissionPolicy>(VALIDATING_POLICIES),
    reader.list<ValidatingAdmissionPolicyBinding>(VALIDATING_POLICY_BINDINGS),
    ref.namespace === '' ? undefined : reader.get(NAMESPACES, '', ref.namespace),
  ])
  const namespaceObject = space === undefined ? undefined : foundOf(space)
  const denying = new Set(
    itemsOf(bindings)
      .filter(({ spec }) => spec?.validationActions?.includes('Deny') === true)
      .map(({ spec }) => spec?.policyName),
  )
  const variables = requestVariables(ref, object, finalizer, namespaceObject)
  return itemsOf(policies).flatMap((policy): readonly Link[] => {
    const { metadata, spec } = policy
    const { resourceRules = [], namespaceSelector, objectSelector } = spec?.matchConstraints ?? {}
    const isAsked =
      denying.has(metadata.name) &&
      ruleMatches(resourceRules, ref, 'UPDATE') &&
      labelSelectorOf(objectSelector ?? {}).matches(object.metadata.labels) &&
      (ref.namespace === '' || labelSelectorOf(namespaceSelector ?? {}).matches(namespaceObject?.metadata.labels))
    if (!isAsked) return []
    const name = metadata.name ?? ''
    const judged = judge(policy, variables)
    if (judged.says === 'accepts') return []
    if (judged.says === 'refuses') {
      const { message } = judged
      const cause = { kind: 'admission-refuses', by: 'policy', name, operation: 'UPDATE', message } as const
      return [lastLink('refused', cause, true)]
    }
    const what = `whether ValidatingAdmissionPolicy ${name} accepts that a finalizer is taken off`
    return [lastLink('slow', { kind: 'unseen', what, why: 'it was not tried, for want of a dry run' }, true)]
  })
}

type Judged = { readonly says: 'accepts' | 'unknown' } | { readonly says: 'refuses'; readonly message: string }

function judge({ spec }: ValidatingAdmissionPolicy, given: ReadonlyMap<string, Value>): Judged {
  try {
    const variables = new Map(given)
    for (const { expression } of spec?.matchConditions ?? [])
      if (run(expression, variables) === false) return { says: 'accepts' }
    const named = new Map<string, readonly [Value, Value]>()
    for (const { name, expression } of spec?.variables ?? []) {
      named.set(mapKeyOf(name), [name, run(expression, variables)])
      variables.set('variables', new MapValue(new Map(named)))
    }
    for (const { expression, message, messageExpression } of spec?.validations ?? []) {
      if (run(expression, variables) === true) continue
      const made = messageExpression === undefined ? undefined : run(messageExpression, variables)
      return {
        says: 'refuses',
        message: typeof made === 'string' ? made : (message ?? `failed expression: ${expression}`),
      }
    }
    return { says: 'accepts' }
  } catch {
    // It reads what is not known here, or does not compile.
    return { says: 'unknown' }
  }
}

/** @throws Error for what reads params, an authorizer or the user that asks */
function run(expression: string, variables: ReadonlyMap<string, Value>): Value {
  const checked = typeCheck(parse(expression), {
    variables: policyVariables,
    mixed: true,
    functions: policyFunctions(),
  })
  if (checked.issues.length > 0) throw new Error('it does not compile')
  for (const name of checked.reads) if (!variables.has(name)) throw new Error(`${name} is not known`)
  return evaluateExpression(checked, variables, { used: 0, limit: CALL_COST_LIMIT })
}

function requestVariables(
  { group, version, kind, resource, namespace, name }: ObjectRef,
  object: KubeObject,
  finalizer: string,
  namespaceObject: KubeObject | undefined,
): ReadonlyMap<string, Value> {
  const finalizers = object.metadata.finalizers?.filter((one) => one !== finalizer) ?? []
  const { finalizers: _, ...metadata } = object.metadata
  const after: KubeObject = { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } }
  const request: JsonObject = {
    operation: 'UPDATE',
    name,
    namespace,
    kind: { group, version, kind },
    resource: { group, version, resource },
    subResource: '',
  }
  return new Map([
    ['object', wrap(asJson(after), DYN)],
    ['oldObject', wrap(asJson(object), DYN)],
    ['request', wrap(request, DYN)],
    ['namespaceObject', namespaceObject === undefined ? null : wrap(asJson(namespaceObject), DYN)],
  ])
}
