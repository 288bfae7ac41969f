/** Rules of webhook configurations, and what admission policies have in common with them. */

import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../errors/field-errors.ts'
import type { AdmissionregistrationV1ServiceReference } from '../generated/types.ts'
import { dns1035Label, dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import type { Fields, KubeObject } from '../object.ts'
import { parseUrl, UrlError } from '../objects/url.ts'
import { goQuote } from '../quote.ts'
import { starAlone } from './common.ts'
import { validateLabelSelector } from './labels.ts'
import { validateWebhookCondition } from './policy-expressions.ts'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
export const FAILURE_POLICIES = ['Fail', 'Ignore']
export const MATCH_POLICIES = ['Equivalent', 'Exact']
const REVIEWS = ['v1', 'v1beta1']
const URL_FORM = 'desired format: https://host[/path]'

export function exactlyOneOf(
  value: string | undefined,
  path: string,
  known: readonly string[],
  errors: FieldError[],
): void {
  if (value !== undefined && !known.includes(value)) errors.push(notSupported(path, value, known))
}

function nonEmpty(list: readonly string[], path: string, errors: FieldError[]): boolean {
  if (list.length === 0) errors.push(required(path))
  return list.length > 0
}

export function operationsRule(rule: Fields, path: string, errors: FieldError[]): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  nonEmpty(operations, `${path}.operations`, errors)
  starAlone(operations, `${path}.operations`, 'operations', errors)
  operations.forEach((operation: string, i: number) => {
    exactlyOneOf(operation, `${path}.operations[${i}]`, OPERATIONS, errors)
  })
  nonEmpty(apiGroups, `${path}.apiGroups`, errors)
  starAlone(apiGroups, `${path}.apiGroups`, 'API groups', errors)
  nonEmpty(apiVersions, `${path}.apiVersions`, errors)
  starAlone(apiVersions, `${path}.apiVersions`, 'API versions', errors)
  apiVersions.forEach((version: string, i: number) => {
    if (version === '') errors.push(required(`${path}.apiVersions[${i}]`))
  })
  ruleResources(resources, `${path}.resources`, errors)
  exactlyOneOf(scope, `${path}.scope`, SCOPES, errors)
}

/** An entry is compared with those before it only, and of the entries without a subresource the last one counts. */
function ruleResources(list: readonly string[], path: string, errors: FieldError[]): void {
  if (!nonEmpty(list, path, errors)) return
  const allOfResource = new Set<string>()
  const ofAllResources = new Set<string>()
  let wholeResource = false
  list.forEach((entry, i) => {
    if (entry === '') {
      errors.push(required(`${path}[${i}]`))
      return
    }
    const slash = entry.indexOf('/')
    if (slash < 0) {
      wholeResource = entry !== '*'
      return
    }
    const parent = entry.slice(0, slash)
    const sub = entry.slice(slash + 1)
    const refuse = (present: string) =>
      errors.push(invalid(`${path}[${i}]`, entry, `if '${present}' is present, must not specify ${entry}`))
    if (allOfResource.has(parent)) refuse(`${parent}/*`)
    if (ofAllResources.has(sub)) refuse(`*/${sub}`)
    if (sub === '*') allOfResource.add(parent)
    if (parent === '*') ofAllResources.add(sub)
  })
  if (list.length > 1 && list.includes('*/*'))
    errors.push(invalid(path, list, "if '*/*' is present, must not specify other resources"))
  if (wholeResource && list.includes('*'))
    errors.push(invalid(path, list, "if '*' is present, must not specify other resources without subresources"))
}

export function validateWebhookConfiguration(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  object['webhooks']?.forEach((hook: Fields, i: number) => {
    webhook(hook, `webhooks[${i}]`, errors)
    const name: string = hook['name'] ?? ''
    if (names.has(name) && name !== '') errors.push(duplicate(`webhooks[${i}].name`, name))
    names.add(name)
  })
  return errors
}

function webhook(hook: Fields, path: string, errors: FieldError[]): void {
  fullyQualifiedName(hook['name'] ?? '', `${path}.name`, errors)
  hook['rules']?.forEach((rule: Fields, i: number) => {
    operationsRule(rule, `${path}.rules[${i}]`, errors)
  })
  exactlyOneOf(hook['failurePolicy'], `${path}.failurePolicy`, FAILURE_POLICIES, errors)
  exactlyOneOf(hook['matchPolicy'], `${path}.matchPolicy`, MATCH_POLICIES, errors)
  if (hook['sideEffects'] === undefined || hook['sideEffects'] === null)
    errors.push(required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
  else exactlyOneOf(hook['sideEffects'], `${path}.sideEffects`, ['None', 'NoneOnDryRun'], errors)
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
  exactlyOneOf(hook['reinvocationPolicy'], `${path}.reinvocationPolicy`, ['IfNeeded', 'Never'], errors)
  matchConditions(hook['matchConditions'] ?? [], `${path}.matchConditions`, errors)
  reviewVersions(hook['admissionReviewVersions'] ?? [], `${path}.admissionReviewVersions`, errors)
}

function fullyQualifiedName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  const messages = dns1123Subdomain(name)
  if (messages.length > 0) errors.push(invalid(path, name, messages.join(',')))
  else if (name.split('.').length < 3)
    errors.push(invalid(path, name, 'should be a domain with at least three segments separated by dots'))
}

export function webhookURL(text: string, path: string, errors: FieldError[]): void {
  try {
    parseUrl(text.split('#', 1)[0] ?? '', false)
  } catch (error) {
    if (!(error instanceof UrlError)) throw error
    errors.push(required(path, `url must be a valid URL: parse ${goQuote(text)}: ${error.message}; ${URL_FORM}`))
    return
  }
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

export function webhookService(
  service: Partial<AdmissionregistrationV1ServiceReference>,
  path: string,
  errors: FieldError[],
): void {
  const { name = '', namespace = '', path: urlPath, port = 443 } = service
  // Kubernetes takes the one for the other here.
  if (namespace === '') errors.push(required(`${path}.name`))
  if (name === '') errors.push(required(`${path}.namespace`))
  if (port < 1 || port > 65535)
    errors.push(invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  if (!urlPath || urlPath === '/') return
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

export function matchConditions(
  list: readonly Fields[],
  path: string,
  errors: FieldError[],
  compiles: (expression: string, path: string, errors: FieldError[]) => void = validateWebhookCondition,
): void {
  if (list.length > 64) errors.push(tooMany(path, list.length, 64))
  const names = new Set<string>()
  list.forEach(({ name = '', expression = '' }, i) => {
    const at = `${path}[${i}]`
    if (expression.trim() === '') errors.push(required(`${at}.expression`))
    else compiles(expression, `${at}.expression`, errors)
    if (name === '') errors.push(required(`${at}.name`))
    else for (const message of qualifiedName(name)) errors.push(invalid(`${at}.name`, name, message))
    if (name !== '' && names.has(name)) errors.push(duplicate(`${at}.name`, name))
    names.add(name)
  })
}
