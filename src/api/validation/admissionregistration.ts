/** Rules of admissionregistration.k8s.io, but for what the CEL compiler has to say of expressions. */

import type { Fields, KubeObject } from '../object.ts'
import { type FieldError, forbiddenField, invalid, notSupported, required } from './errors.ts'
import { validateLabelSelector } from './labels.ts'
import { dns1035Label, dns1123Subdomain, qualifiedName } from './names.ts'
import { type PolicyExpressions, policyExpressions, validateConditionExpression } from './policy-expressions.ts'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
const FAILURE_POLICIES = ['Fail', 'Ignore']
const MATCH_POLICIES = ['Equivalent', 'Exact']
const REVIEWS = ['v1', 'v1beta1']
const URL_FORM = 'desired format: https://host[/path]'

function oneOf(value: string | undefined, path: string, known: readonly string[], errors: FieldError[]): void {
  if (value !== undefined && !known.includes(value)) errors.push(notSupported(path, value, known))
}

function nonEmpty(list: readonly string[], path: string, errors: FieldError[]): boolean {
  if (list.length === 0) errors.push(required(path))
  return list.length > 0
}

function starAlone(list: readonly string[], path: string, what: string, errors: FieldError[]): void {
  if (list.length > 1 && list.includes('*'))
    errors.push(invalid(path, list, `if '*' is present, must not specify other ${what}`))
}

function operationsRule(rule: Fields, path: string, subresources: boolean, errors: FieldError[]): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  nonEmpty(operations, `${path}.operations`, errors)
  starAlone(operations, `${path}.operations`, 'operations', errors)
  operations.forEach((operation: string, i: number) => {
    oneOf(operation, `${path}.operations[${i}]`, OPERATIONS, errors)
  })
  nonEmpty(apiGroups, `${path}.apiGroups`, errors)
  starAlone(apiGroups, `${path}.apiGroups`, 'API groups', errors)
  nonEmpty(apiVersions, `${path}.apiVersions`, errors)
  starAlone(apiVersions, `${path}.apiVersions`, 'API versions', errors)
  apiVersions.forEach((version: string, i: number) => {
    if (version === '') errors.push(required(`${path}.apiVersions[${i}]`))
  })
  ruleResources(resources, `${path}.resources`, subresources, errors)
  oneOf(scope, `${path}.scope`, SCOPES, errors)
}

function ruleResources(list: readonly string[], path: string, subresources: boolean, errors: FieldError[]): void {
  if (!nonEmpty(list, path, errors)) return
  const whole = new Set<string>()
  let all = false
  list.forEach((entry, i) => {
    if (entry === '') errors.push(required(`${path}[${i}]`))
    if (entry === '*/*') all = true
    if (entry.endsWith('/*')) whole.add(entry.slice(0, -2))
  })
  if (!subresources) return
  list.forEach((entry, i) => {
    const slash = entry.indexOf('/')
    if (slash < 0) return
    const parent = entry.slice(0, slash)
    if (parent !== '*' && entry !== `${parent}/*` && whole.has(parent))
      errors.push(invalid(`${path}[${i}]`, entry, `if '${parent}/*' is present, must not specify ${entry}`))
  })
  if (all && list.length > 1) errors.push(invalid(path, list, "if '*/*' is present, must not specify other resources"))
}

export function validateWebhookConfiguration(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  object['webhooks']?.forEach((hook: Fields, i: number) => {
    webhook(hook, `webhooks[${i}]`, errors)
    const name: string = hook['name'] ?? ''
    if (names.has(name) && name !== '')
      errors.push({
        type: 'FieldValueDuplicate',
        field: `webhooks[${i}].name`,
        message: `Duplicate value: ${JSON.stringify(name)}`,
      })
    names.add(name)
  })
  return errors
}

function webhook(hook: Fields, path: string, errors: FieldError[]): void {
  fullyQualifiedName(hook['name'] ?? '', `${path}.name`, errors)
  hook['rules']?.forEach((rule: Fields, i: number) => {
    operationsRule(rule, `${path}.rules[${i}]`, true, errors)
  })
  oneOf(hook['failurePolicy'], `${path}.failurePolicy`, FAILURE_POLICIES, errors)
  oneOf(hook['matchPolicy'], `${path}.matchPolicy`, MATCH_POLICIES, errors)
  if (hook['sideEffects'] === undefined || hook['sideEffects'] === null)
    errors.push(required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
  else oneOf(hook['sideEffects'], `${path}.sideEffects`, ['None', 'NoneOnDryRun'], errors)
  const seconds: number | undefined = hook['timeoutSeconds']
  if (seconds !== undefined && (seconds > 30 || seconds < 1))
    errors.push(invalid(`${path}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'))
  validateLabelSelector(hook['namespaceSelector'], `${path}.namespaceSelector`, errors)
  validateLabelSelector(hook['objectSelector'], `${path}.objectSelector`, errors)
  const { url, service } = (hook['clientConfig'] ?? {}) as Fields
  const at = `${path}.clientConfig`
  if ((url === undefined) === (service === undefined))
    errors.push(required(at, 'exactly one of url or service is required'))
  else if (url !== undefined) webhookURL(url, `${at}.url`, errors)
  else webhookService(service, `${at}.service`, errors)
  reviewVersions(hook['admissionReviewVersions'] ?? [], `${path}.admissionReviewVersions`, errors)
  oneOf(hook['reinvocationPolicy'], `${path}.reinvocationPolicy`, ['IfNeeded', 'Never'], errors)
  matchConditions(hook['matchConditions'] ?? [], `${path}.matchConditions`, errors)
}

function fullyQualifiedName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  const messages = dns1123Subdomain(name)
  for (const message of messages) errors.push(invalid(path, name, message))
  if (messages.length === 0 && name.split('.').length < 3)
    errors.push(invalid(path, name, 'should be a domain with at least three segments separated by dots'))
}

export function webhookURL(text: string, path: string, errors: FieldError[]): void {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text)
  if (!match) {
    errors.push(required(path, `url must be a valid URL: parse ${JSON.stringify(text)}; ${URL_FORM}`))
    return
  }
  const [, scheme = '', authority = '', , query = '', fragment = ''] = match
  const at = authority.lastIndexOf('@')
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme; ${URL_FORM}`))
  if (authority.slice(at + 1) === '') errors.push(invalid(path, '', `host must be specified; ${URL_FORM}`))
  if (at >= 0) errors.push(invalid(path, authority.slice(0, at), 'user information is not permitted in the URL'))
  if (fragment.length > 1) errors.push(invalid(path, fragment.slice(1), 'fragments are not permitted in the URL'))
  if (query.length > 1) errors.push(invalid(path, query.slice(1), 'query parameters are not permitted in the URL'))
}

export function webhookService(service: Fields, path: string, errors: FieldError[]): void {
  const { name = '', namespace = '', path: urlPath, port = 443 } = service
  // Kubernetes takes the one for the other here.
  if (namespace === '') errors.push(required(`${path}.name`))
  if (name === '') errors.push(required(`${path}.namespace`))
  if (port < 1 || port > 65535)
    errors.push(invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  if (urlPath === undefined || urlPath === '/') return
  if (!urlPath.startsWith('/')) errors.push(invalid(`${path}.path`, urlPath, "must start with a '/'"))
  const steps: readonly string[] = urlPath.slice(1).split('/')
  if (urlPath.endsWith('//'))
    errors.push(invalid(`${path}.path`, urlPath, `segment[${steps.length - 2}] may not be empty`))
  steps.forEach((step, i) => {
    if (step === '' && i < steps.length - 1)
      errors.push(invalid(`${path}.path`, urlPath, `segment[${i}] may not be empty`))
    else if (step !== '')
      for (const message of dns1123Subdomain(step))
        errors.push(invalid(`${path}.path`, urlPath, `segment[${i}]: ${message}`))
  })
}

function reviewVersions(list: readonly string[], path: string, errors: FieldError[]): void {
  if (list.length === 0) {
    errors.push(required(path, `must specify one of ${REVIEWS.join(', ')}`))
    return
  }
  list.forEach((version, i) => {
    if (list.indexOf(version) < i) errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'))
    else for (const message of dns1035Label(version)) errors.push(invalid(`${path}[${i}]`, version, message))
  })
  if (!list.some((version) => REVIEWS.includes(version)))
    errors.push(invalid(path, list, `must include at least one of ${REVIEWS.join(', ')}`))
}

function matchConditions(list: readonly Fields[], path: string, errors: FieldError[], hasParams = false): void {
  if (list.length > 64)
    errors.push({
      type: 'FieldValueTooMany',
      field: path,
      message: `Too many: ${list.length}: must have at most 64 items`,
    })
  const names = new Set<string>()
  list.forEach(({ name = '', expression = '' }, i) => {
    const at = `${path}[${i}]`
    if (expression.trim() === '') errors.push(required(`${at}.expression`))
    else validateConditionExpression(expression, hasParams, `${at}.expression`, errors)
    if (name === '') errors.push(required(`${at}.name`))
    else for (const message of qualifiedName(name)) errors.push(invalid(`${at}.name`, name, message))
    if (name !== '' && names.has(name))
      errors.push({
        type: 'FieldValueDuplicate',
        field: `${at}.name`,
        message: `Duplicate value: ${JSON.stringify(name)}`,
      })
    names.add(name)
  })
}

function matchResources(value: Fields, path: string, errors: FieldError[]): void {
  if (value['matchPolicy'] === undefined) errors.push(required(`${path}.matchPolicy`))
  else oneOf(value['matchPolicy'], `${path}.matchPolicy`, MATCH_POLICIES, errors)
  for (const field of ['namespaceSelector', 'objectSelector'])
    if (value[field] === undefined) errors.push(required(`${path}.${field}`))
    else validateLabelSelector(value[field], `${path}.${field}`, errors)
  for (const field of ['resourceRules', 'excludeResourceRules'])
    value[field]?.forEach((rule: Fields, i: number) => {
      const at = `${path}.${field}[${i}]`
      operationsRule(rule, at, false, errors)
      rule['resourceNames']?.forEach((name: string, j: number) => {
        if (rule['resourceNames'].indexOf(name) < j)
          errors.push({
            type: 'FieldValueDuplicate',
            field: `${at}.resourceNames[${j}]`,
            message: `Duplicate value: ${JSON.stringify(name)}`,
          })
      })
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
    else
      for (const message of dns1035Label(parts.at(-1)))
        errors.push(invalid('spec.paramKind.apiVersion', parts.at(-1), message))
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

export function validateValidatingAdmissionPolicy(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  oneOf(spec['failurePolicy'], 'spec.failurePolicy', FAILURE_POLICIES, errors)
  paramKind(spec['paramKind'], errors)
  matchConstraints(spec, errors)
  matchConditions(spec['matchConditions'] ?? [], 'spec.matchConditions', errors, spec['paramKind'] !== undefined)
  const expressions = policyExpressions(spec, errors)
  variables(spec['variables'] ?? [], errors, expressions)
  const { validations = [], auditAnnotations = [] } = spec
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    errors.push(required('spec.validations', detail), required('spec.auditAnnotations', detail))
    return errors
  }
  validations.forEach((validation: Fields, i: number) => {
    policyValidation(validation, `spec.validations[${i}]`, errors, expressions)
  })
  auditAnnotations.forEach(({ key = '', valueExpression = '' }: Fields, i: number) => {
    const path = `spec.auditAnnotations[${i}]`
    if (key === '') errors.push(required(`${path}.key`))
    if (valueExpression.trim() === '')
      errors.push(required(`${path}.valueExpression`, 'valueExpression is not specified'))
    else expressions.audit(valueExpression, `${path}.valueExpression`)
  })
  return errors
}

function variables(list: readonly Fields[], errors: FieldError[], expressions?: PolicyExpressions): void {
  const names = new Set<string>()
  list.forEach(({ name = '', expression = '' }, i) => {
    const path = `spec.variables[${i}]`
    if (name === '' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      if (name === '') errors.push(required(`${path}.name`, 'name is not specified'))
      else errors.push(invalid(`${path}.name`, name, 'name is not a valid CEL identifier'))
    } else if (names.has(name))
      errors.push({
        type: 'FieldValueDuplicate',
        field: `${path}.name`,
        message: `Duplicate value: ${JSON.stringify(name)}`,
      })
    names.add(name)
    if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'))
    else expressions?.variable(expression, name, `${path}.expression`)
  })
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function policyValidation(
  validation: Fields,
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
    errors.push(invalid(`${path}.message`, message, 'message must not contain line breaks'))
  else if (expression.includes('\n') && message === '')
    errors.push(required(`${path}.message`, 'message must be specified if expression contains line breaks'))
  oneOf(reason, `${path}.reason`, REASONS, errors)
}

export function validateMutatingAdmissionPolicy(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  oneOf(spec['failurePolicy'], 'spec.failurePolicy', FAILURE_POLICIES, errors)
  paramKind(spec['paramKind'], errors)
  matchConstraints(spec, errors)
  matchConditions(spec['matchConditions'] ?? [], 'spec.matchConditions', errors, spec['paramKind'] !== undefined)
  variables(spec['variables'] ?? [], errors)
  const mutations: readonly Fields[] = spec['mutations'] ?? []
  if (mutations.length === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  mutations.forEach((mutation, i) => {
    policyMutation(mutation, `spec.mutations[${i}]`, errors)
  })
  if (!spec['reinvocationPolicy']) errors.push(required('spec.reinvocationPolicy'))
  else oneOf(spec['reinvocationPolicy'], 'spec.reinvocationPolicy', ['IfNeeded', 'Never'], errors)
  return errors
}

function policyMutation(mutation: Fields, path: string, errors: FieldError[]): void {
  const type: string = mutation['patchType'] ?? ''
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
  for (const field of Object.values(fields))
    if (field !== own && mutation[field] !== undefined)
      errors.push(forbiddenField(`${path}.${field}`, `may not be specified when patchType is ${type}`))
  if (mutation[own] === undefined)
    errors.push(required(`${path}.${own}`, `must be specified when patchType is ${type}`))
  else if (!mutation[own].expression?.trim()) errors.push(required(`${path}.${own}.expression`))
}

export function validatePolicyBinding(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const last: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  const name: string = spec['policyName'] ?? ''
  const mutating = object.kind === 'MutatingAdmissionPolicyBinding'
  if (name === '') last.push(required('spec.policyName'))
  else for (const message of dns1123Subdomain(name)) errors.push(invalid('spec.policyName', name, message))
  if (spec['paramRef'] !== undefined) paramRef(spec['paramRef'], errors)
  if (spec['matchResources'] !== undefined) matchResources(spec['matchResources'], 'spec.matchResources', errors)
  if (!mutating) actions(spec['validationActions'] ?? [], errors, last)
  return [...errors, ...last]
}

function actions(list: readonly string[], errors: FieldError[], last: FieldError[]): void {
  if (list.length === 0) last.push(required('spec.validationActions'))
  list.forEach((action, i) => {
    oneOf(action, `spec.validationActions[${i}]`, ['Audit', 'Deny', 'Warn'], errors)
    if (list.indexOf(action) < i)
      errors.push({
        type: 'FieldValueDuplicate',
        field: `spec.validationActions[${i}]`,
        message: `Duplicate value: ${JSON.stringify(action)}`,
      })
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

function paramRef({ name, selector, parameterNotFoundAction: action }: Fields, errors: FieldError[]): void {
  const path = 'spec.paramRef'
  if (name) {
    for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
    if (selector !== undefined) errors.push(forbiddenField(`${path}.name`, 'name and selector are mutually exclusive'))
  } else if (selector !== undefined) validateLabelSelector(selector, `${path}.selector`, errors)
  else errors.push(required(path, 'one of name or selector must be specified'))
  if (action === undefined) errors.push(required(`${path}.parameterNotFoundAction`))
  else if (action !== 'Allow' && action !== 'Deny')
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, ['Deny', 'Allow']))
}
