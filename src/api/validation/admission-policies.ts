/** Rules of admission policies and their bindings (KEP-3488, KEP-3962). */

import { isReserved } from '../cel/words.ts'
import { duplicate, type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  ExpressionWarning,
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicySpec,
  Mutation,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '../generated/types.ts'
import { dns1035Label, dns1123Subdomain, pathSegmentName, qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import {
  exactlyOneOf,
  FAILURE_POLICIES,
  MATCH_POLICIES,
  matchConditions,
  operationsRule,
} from './admissionregistration.ts'
import { validateConditions } from './conditions.ts'
import { jsonPathProblem } from './json-path.ts'
import { validateLabelSelector } from './labels.ts'
import { conditionCompiler, type PolicyExpressions, policyExpressions } from './policy-expressions.ts'

function matchResources(value: Fields, path: string, errors: FieldError[]): void {
  if (value['matchPolicy'] === undefined) errors.push(required(`${path}.matchPolicy`))
  else exactlyOneOf(value['matchPolicy'], `${path}.matchPolicy`, MATCH_POLICIES, errors)
  for (const field of ['namespaceSelector', 'objectSelector'])
    if (value[field] === undefined) errors.push(required(`${path}.${field}`))
    else validateLabelSelector(value[field], `${path}.${field}`, errors)
  for (const field of ['resourceRules', 'excludeResourceRules'])
    value[field]?.forEach((rule: Fields, i: number) => {
      const at = `${path}.${field}[${i}]`
      rule['resourceNames']?.forEach((name: string, j: number) => {
        for (const message of pathSegmentName(name)) errors.push(invalid(`${at}.resourceNames[${j}]`, name, message))
        if (rule['resourceNames'].indexOf(name) < j) errors.push(duplicate(`${at}.resourceNames[${j}]`, name))
      })
      operationsRule(rule, at, errors)
    })
}

function paramKind(value: Fields | undefined, errors: FieldError[]): void {
  if (value === undefined) return
  const { apiVersion = '', kind = '' } = value
  if (apiVersion === '') errors.push(required('spec.paramKind.apiVersion'))
  else {
    const parts = apiVersion.split('/')
    if (parts.length > 2)
      errors.push(invalid('spec.paramKind.apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
    else {
      if (parts.length === 2)
        for (const message of dns1123Subdomain(parts[0]))
          errors.push(invalid('spec.paramKind.apiVersion', parts[0], message))
      for (const message of dns1035Label(parts.at(-1)))
        errors.push(invalid('spec.paramKind.apiVersion', parts.at(-1), message))
    }
  }
  if (kind === '') errors.push(required('spec.paramKind.kind'))
  else
    for (const message of dns1035Label(kind.toLowerCase()))
      errors.push(invalid('spec.paramKind.kind', kind, `may have mixed case, but should otherwise match: ${message}`))
}

function matchConstraints(spec: Fields, errors: FieldError[]): void {
  const value: Fields | undefined = spec['matchConstraints']
  if (value === undefined) {
    errors.push(required('spec.matchConstraints'))
    return
  }
  matchResources(value, 'spec.matchConstraints', errors)
  if (!value['resourceRules']?.length) errors.push(required('spec.matchConstraints.resourceRules'))
}

/** What both kinds of policies say about when they are asked. */
function matching(spec: Fields, errors: FieldError[]): void {
  exactlyOneOf(spec['failurePolicy'], 'spec.failurePolicy', FAILURE_POLICIES, errors)
  paramKind(spec['paramKind'], errors)
  matchConstraints(spec, errors)
  const compiler = conditionCompiler(spec['paramKind'] !== undefined)
  matchConditions(spec['matchConditions'] ?? [], 'spec.matchConditions', errors, compiler)
}

export function validateValidatingAdmissionPolicy(object: ValidatingAdmissionPolicy): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: ValidatingAdmissionPolicySpec = object.spec ?? {}
  matching(spec, errors)
  const expressions = policyExpressions(spec, errors, (spec.variables ?? []).length > 0)
  variables(spec.variables ?? [], errors, expressions)
  const { validations = [], auditAnnotations = [] } = spec
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    errors.push(required('spec.validations', detail), required('spec.auditAnnotations', detail))
    return errors
  }
  validations.forEach((validation, i) => {
    policyValidation(validation, `spec.validations[${i}]`, errors, expressions)
  })
  const name = object.metadata.name ?? ''
  const keys = new Set<string>()
  auditAnnotations.forEach(({ key = '', valueExpression = '' }, i) => {
    const path = `spec.auditAnnotations[${i}]`
    // The annotation that is written has the policy's name before it.
    if (name === '') errors.push(invalid(`${path}.key`, key, 'requires metadata.name be non-empty'))
    else
      for (const message of qualifiedName(`${name}/${key}`))
        errors.push(invalid(`${path}.key`, `${name}/${key}`, message))
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key))
    keys.add(key)
    if (valueExpression.trim() === '')
      errors.push(required(`${path}.valueExpression`, 'valueExpression is not specified'))
    else expressions.audit(valueExpression, `${path}.valueExpression`)
  })
  return errors
}

function variables(list: readonly Variable[], errors: FieldError[], expressions?: PolicyExpressions): void {
  list.forEach(({ name = '', expression = '' }, i) => {
    const path = `spec.variables[${i}]`
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || isReserved(name)) {
      if (name === '') errors.push(required(`${path}.name`, 'name is not specified'))
      else errors.push(invalid(`${path}.name`, name, 'must be a valid CEL identifier'))
    }
    if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'))
    else expressions?.variable(expression, name, `${path}.expression`)
  })
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function policyValidation(
  validation: Validation,
  path: string,
  errors: FieldError[],
  expressions: PolicyExpressions,
): void {
  const { expression = '', message = '', messageExpression = '', reason } = validation
  if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'))
  else expressions.rule(expression, `${path}.expression`)
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(invalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'))
  else expressions.message(messageExpression, `${path}.messageExpression`)
  if (message !== '' && message.trim() === '')
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'))
  else if (/[\n\r]/.test(message.trim()))
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
  exactlyOneOf(reason, `${path}.reason`, REASONS, errors)
}

export function validateMutatingAdmissionPolicy(object: MutatingAdmissionPolicy): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: MutatingAdmissionPolicySpec = object.spec ?? {}
  matching(spec, errors)
  mutatingOperations(spec.matchConstraints ?? {}, 'spec.matchConstraints', errors)
  const expressions = policyExpressions(spec, errors, true)
  variables(spec.variables ?? [], errors, expressions)
  const mutations: readonly Mutation[] = spec.mutations ?? []
  if (mutations.length === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  mutations.forEach((mutation, i) => {
    policyMutation(mutation, `spec.mutations[${i}]`, errors, expressions)
  })
  if (!spec.reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'))
  else exactlyOneOf(spec.reinvocationPolicy, 'spec.reinvocationPolicy', ['IfNeeded', 'Never'], errors)
  return errors
}

const CHANGING = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** What is deleted cannot be changed. */
function mutatingOperations({ resourceRules = [] }: MatchResources, path: string, errors: FieldError[]): void {
  for (const rule of resourceRules)
    for (const operation of (rule.operations ?? []) as readonly string[])
      if (!CHANGING.includes(operation))
        errors.push(notSupported(`${path}.resourceRules.operations`, operation, CHANGING))
}

function policyMutation(mutation: Mutation, path: string, errors: FieldError[], expressions: PolicyExpressions): void {
  const type: string = mutation.patchType ?? ''
  if (type === '') {
    errors.push(required(`${path}.patchType`))
    return
  }
  const fields: { readonly [type: string]: string } = {
    ApplyConfiguration: 'applyConfiguration',
    JSONPatch: 'jsonPatch',
  }
  if (!Object.hasOwn(fields, type)) {
    errors.push(notSupported(`${path}.patchType`, type, Object.keys(fields)))
    return
  }
  const own = fields[type]!
  const others = Object.values(fields).filter((field) => field !== own && (mutation as Fields)[field] !== undefined)
  if ((mutation as Fields)[own] === undefined)
    errors.push(required(`${path}.${own}`, `must be specified when patchType is ${type}`))
  else if (!(mutation as Fields)[own].expression?.trim()) errors.push(required(`${path}.${own}.expression`))
  else if (own === 'jsonPatch') expressions.patch((mutation as Fields)[own].expression, `${path}.${own}.expression`)
  else expressions.configuration((mutation as Fields)[own].expression, `${path}.${own}.expression`)
  for (const field of others)
    errors.push(invalid(`${path}.${field}`, `{${field}}`, `must not be specified when patchType is ${type}`))
}

export function validatePolicyBinding(object: ValidatingAdmissionPolicyBinding): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: ValidatingAdmissionPolicyBindingSpec = object.spec ?? {}
  const name: string = spec.policyName ?? ''
  const mutating = object.kind === 'MutatingAdmissionPolicyBinding'
  if (mutating && name === '') errors.push(required('spec.policyName'))
  if (name !== '') for (const message of dns1123Subdomain(name)) errors.push(invalid('spec.policyName', name, message))
  if (spec.paramRef !== undefined) paramRef(spec.paramRef, errors)
  if (spec.matchResources !== undefined) {
    matchResources(spec.matchResources, 'spec.matchResources', errors)
    if (mutating) mutatingOperations(spec.matchResources, 'spec.matchResources', errors)
  }
  if (!mutating) actions(spec.validationActions ?? [], errors)
  return errors
}

function actions(list: readonly string[], errors: FieldError[]): void {
  list.forEach((action, i) => {
    exactlyOneOf(action, `spec.validationActions[${i}]`, ['Audit', 'Deny', 'Warn'], errors)
    if (list.indexOf(action) < i) errors.push(duplicate(`spec.validationActions[${i}]`, action))
  })
  if (list.includes('Deny') && list.includes('Warn'))
    errors.push(
      invalid(
        'spec.validationActions',
        list,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
}

function paramRef({ name, selector, parameterNotFoundAction: action }: ParamRef, errors: FieldError[]): void {
  const path = 'spec.paramRef'
  if (name) {
    for (const message of pathSegmentName(name)) errors.push(invalid(`${path}.name`, name, message))
    if (selector !== undefined) {
      errors.push(forbiddenField(`${path}.name`, 'name and selector are mutually exclusive'))
      validateLabelSelector(selector, `${path}.selector`, errors)
      errors.push(forbiddenField(`${path}.selector`, 'name and selector are mutually exclusive'))
    }
  } else if (selector !== undefined) validateLabelSelector(selector, `${path}.selector`, errors)
  else errors.push(required(path, 'one of name or selector must be specified'))
  if (!action) errors.push(required(`${path}.parameterNotFoundAction`))
  else if (action !== 'Allow' && action !== 'Deny')
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, ['Deny', 'Allow']))
}

export function validatePolicyStatus(object: ValidatingAdmissionPolicy): readonly FieldError[] {
  const errors: FieldError[] = []
  const warnings: readonly ExpressionWarning[] = object.status?.typeChecking?.expressionWarnings ?? []
  warnings.forEach(({ warning = '', fieldRef = '' }, i) => {
    const path = `status.typeChecking.expressionWarnings[${i}]`
    if (warning === '') errors.push(required(`${path}.warning`))
    if (fieldRef === '') errors.push(required(`${path}.fieldRef`))
    else {
      const problem = jsonPathProblem(fieldRef)
      if (problem !== undefined) errors.push(invalid(`${path}.fieldRef`, fieldRef, `invalid JSONPath: ${problem}`))
    }
  })
  validateConditions(object.status?.conditions ?? [], 'status.conditions', errors)
  return errors
}
