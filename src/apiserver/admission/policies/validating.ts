/**
 * ValidatingAdmissionPolicy (KEP-3488): rules in CEL that requests must satisfy, bound to where they count and to what
 * happens when they do not.
 */
import type { Budget } from '../../../api/cel/eval.ts'
import { DYN } from '../../../api/cel/types.ts'
import { type Value, wrap } from '../../../api/cel/values.ts'
import type { Fields, Json, KubeObject } from '../../../api/object.ts'
import { parseApiVersion } from '../../../api/object.ts'
import { labelSelectorOf } from '../../../api/objects/label-selector.ts'
import { forbidden, StatusError } from '../../../api/status.ts'
import { whenDecided } from '../../auth/decided.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPluginFactory, CacheReads } from '../plugin.ts'
import { reviewOf } from '../webhooks/call.ts'
import { configuresAdmission, type Matcher, matcherOf, matchingRow, selects } from '../webhooks/match.ts'
import { type Condition, conditionsOf, evaluateConditions } from './conditions.ts'
import {
  compile,
  type Expression,
  ExpressionError,
  lazyVariables,
  POLICY_BUDGET,
  requestVariables,
} from './expression.ts'

const GROUP = 'admissionregistration.k8s.io'
const RESOURCES = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map((resource) => ({
  group: GROUP,
  resource,
}))

interface Rule {
  readonly expression: Expression
  readonly source: string
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

interface Policy {
  readonly name: string
  readonly spec: Fields
  readonly matcher: Matcher
  readonly conditions: readonly Condition[]
  readonly variables: readonly { readonly name: string; readonly expression: Expression }[]
  readonly rules: readonly Rule[]
  readonly annotations: readonly { readonly key: string; readonly expression: Expression }[]
  readonly bindings: readonly Binding[]
}

interface Binding {
  readonly name: string
  readonly spec: Fields
  /** undefined: wherever the policy counts. */
  readonly matcher: Matcher | undefined
}

function policyOf(policy: KubeObject, bindings: readonly KubeObject[]): Policy {
  const spec: Fields = policy['spec'] ?? {}
  const constraints: Fields = spec['matchConstraints'] ?? {}
  return {
    name: policy.metadata.name ?? '',
    spec,
    matcher: matcherOf(constraints, constraints['resourceRules'] ?? []),
    conditions: conditionsOf(spec),
    variables: ((spec['variables'] ?? []) as readonly Fields[]).map(({ name, expression }) => ({
      name,
      expression: compile(expression),
    })),
    rules: ((spec['validations'] ?? []) as readonly Fields[]).map((rule) => ({
      source: (rule['expression'] ?? '').trim(),
      expression: compile(rule['expression'] ?? ''),
      message: (rule['message'] ?? '').trim(),
      messageExpression: rule['messageExpression'] ? compile(rule['messageExpression']) : undefined,
      reason: rule['reason'] ?? 'Invalid',
    })),
    annotations: ((spec['auditAnnotations'] ?? []) as readonly Fields[]).map(({ key, valueExpression }) => ({
      key,
      expression: compile(valueExpression),
    })),
    bindings: bindings
      .filter((binding) => binding['spec']?.policyName === policy.metadata.name)
      .map((binding) => ({
        name: binding.metadata.name ?? '',
        spec: binding['spec'],
        matcher: binding['spec'].matchResources && bindingMatcher(binding['spec'].matchResources),
      })),
  }
}

const ANYTHING = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'] }]

const bindingMatcher = (resources: Fields): Matcher =>
  matcherOf(resources, resources['resourceRules']?.length ? resources['resourceRules'] : ANYTHING)

export const validatingAdmissionPolicy: AdmissionPluginFactory = (reads, host) => {
  const generation = host.generationOf(RESOURCES)
  let seen = -1
  let policies: readonly Policy[] = []
  const current = (): readonly Policy[] => {
    const now = generation()
    if (now !== seen) {
      seen = now
      const bindings = reads.list(GROUP, 'validatingadmissionpolicybindings')
      policies = reads
        .list(GROUP, 'validatingadmissionpolicies')
        .map((policy) => policyOf(policy, bindings))
        .filter((policy) => policy.bindings.length > 0)
    }
    return policies
  }
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: () => true,
    validate(attributes) {
      const all = current()
      if (all.length === 0 || configuresAdmission(attributes)) return
      return judge(all, attributes, reads, host)
    },
  }
}

/** What was found wrong, by whom. */
interface Finding {
  readonly policy: Policy
  readonly binding: Binding
  readonly message: string
  readonly reason: string
}

async function judge(
  policies: readonly Policy[],
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): Promise<void> {
  const denials: Finding[] = []
  const failures: Fields[] = []
  for (const policy of policies) {
    if (!selects(policy.matcher, attributes, reads)) continue
    const row = matchingRow(policy.matcher, attributes, host.scheme)
    if (row === undefined) continue
    const shown = async (object: KubeObject | undefined) => object && (await host.convert(object, row))
    const object = await shown(attributes.object)
    const oldObject = await shown(attributes.oldObject)
    const { request } = reviewOf(attributes, { row, object, oldObject }, '') as { request: Fields }
    for (const binding of policy.bindings) {
      if (binding.matcher !== undefined) {
        if (!selects(binding.matcher, attributes, reads)) continue
        if (matchingRow(binding.matcher, attributes, host.scheme) === undefined) continue
      }
      const findings = await whenDecided(host.authorizer, (authorizer) => {
        const variables = requestVariables(attributes, { object, oldObject, request }, reads, authorizer)
        return findingsOf(policy, binding, variables, attributes, reads, host)
      })
      const actions: readonly string[] = binding.spec['validationActions'] ?? []
      for (const finding of findings) {
        if (actions.includes('Deny')) denials.push(finding)
        if (actions.includes('Warn'))
          attributes.warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${finding.message}`,
          )
        if (actions.includes('Audit'))
          failures.push({
            message: finding.message,
            policy: policy.name,
            binding: binding.name,
            expressionIndex: 0,
            validationActions: actions,
          })
      }
    }
  }
  if (failures.length > 0)
    attributes.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify(failures))
  const [first] = denials
  if (first !== undefined) throw refusal(attributes, first)
}

const CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Finding): StatusError {
  const { row, name } = attributes
  const text = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
  const base = forbidden({ group: row.group, resource: row.resource }, name, text)
  return new StatusError(CODES[reason] ?? 422, reason, base.message, {
    ...base.details,
    causes: [{ message: text }],
  })
}

function findingsOf(
  policy: Policy,
  binding: Binding,
  variables: Map<string, Value>,
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): readonly Finding[] {
  const fails = policy.spec['failurePolicy'] !== 'Ignore'
  const finding = (message: string, reason = 'Invalid'): Finding => ({ policy, binding, message, reason })
  const params = paramsOf(policy, binding, attributes, reads, host)
  if ('error' in params) return fails ? [finding(`failed to configure binding: ${params.error}`)] : []
  const findings: Finding[] = []
  for (const param of params.found) {
    const budget: Budget = { used: 0, limit: POLICY_BUDGET }
    const all = new Map(variables).set('params', wrap((param ?? null) as Json, DYN))
    const outcome = evaluateConditions(policy.conditions, all, budget)
    if ('error' in outcome) {
      if (fails) findings.push(finding(outcome.error))
      continue
    }
    if (!outcome.matches) continue
    all.set('variables', lazyVariables(policy.variables, all, budget))
    for (const rule of policy.rules) {
      try {
        if (rule.expression.run(all, budget) === true) continue
        findings.push(finding(messageOf(rule, all, budget), rule.reason))
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
        if (fails) findings.push(finding(`expression '${rule.source}' resulted in error: ${error.message}`))
      }
    }
    annotate(policy, all, budget, attributes)
  }
  return findings
}

/** The rule's own words, made or written, or the rule itself. */
function messageOf(rule: Rule, variables: ReadonlyMap<string, Value>, budget: Budget): string {
  if (rule.messageExpression !== undefined) {
    try {
      const made = rule.messageExpression.run(variables, budget)
      if (typeof made === 'string') {
        const text = made.trim()
        if (text !== '' && !text.includes('\n') && text.length <= 5 * 1024) return text
      }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
    }
  }
  return rule.message === '' ? `failed expression: ${rule.source}` : rule.message
}

function annotate(
  policy: Policy,
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
  attributes: AdmissionAttributes,
): void {
  for (const { key, expression } of policy.annotations) {
    try {
      const value = expression.run(variables, budget)
      if (typeof value === 'string' && value.trim() !== '') attributes.annotate?.(`${policy.name}/${key}`, value.trim())
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
    }
  }
}

type Params = { readonly found: readonly (KubeObject | undefined)[] } | { readonly error: string }

function paramsOf(
  { spec }: Policy,
  binding: Binding,
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): Params {
  const kind: Fields | undefined = spec['paramKind']
  const ref: Fields | undefined = binding.spec['paramRef']
  if (kind === undefined || ref === undefined) return { found: [undefined] }
  const { group, version } = parseApiVersion(kind['apiVersion'] ?? '')
  const row = host.scheme.findKind(group, version, kind['kind'] ?? '')
  if (row === undefined)
    return { error: `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind['kind']}'` }
  const namespace: string = ref['namespace'] ?? (row.namespaced ? attributes.namespace : '')
  if (row.namespaced && namespace === '')
    return { error: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' }
  const found = ref['name']
    ? [reads.get(row.group, row.resource, namespace, ref['name'])].filter((object) => object !== undefined)
    : reads
        .list(row.group, row.resource, namespace)
        .filter((object) => labelSelectorOf(ref['selector']).matches(object.metadata.labels ?? {}))
  if (found.length > 0) return { found: found.map((object) => host.convertNow(object, row)) }
  if ((ref['parameterNotFoundAction'] ?? 'Deny') === 'Allow') return { found: [] }
  return { error: 'no params found for policy binding with `Deny` parameterNotFoundAction' }
}
