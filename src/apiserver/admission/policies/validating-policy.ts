/**
 * ValidatingAdmissionPolicy (KEP-3488): rules in CEL that requests must satisfy, bound to where they count and to what
 * happens when they do not.
 */

import { REQUEST_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import type { Budget } from '../../../api/cel/eval-within-cost-limit.ts'
import { DYN } from '../../../api/cel/types.ts'
import { type Value, wrap } from '../../../api/cel/values.ts'
import type { ValidatingAdmissionPolicySpec } from '../../../api/generated/types.ts'
import type { Fields, Json } from '../../../api/object.ts'
import { forbidden, StatusError } from '../../../api/status.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { whenDecided } from '../../auth/decided.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPluginFactory } from '../plugin.ts'
import { reviewOf } from '../webhooks/admission-review.ts'
import { evaluateConditions, withoutNamespace } from './conditions.ts'
import {
  BudgetSpent,
  compile,
  ExpressionError,
  lazyVariables,
  type PolicyExpression,
  requestVariables,
} from './expression.ts'
import { type PolicyMetrics, policyMetrics } from './metrics.ts'
import {
  type Binding,
  type Definition,
  definitionsOf,
  type Invocation,
  invocationsOf,
  isExempt,
  showing,
} from './policies-bindings-and-params.ts'

interface Rule {
  readonly expression: PolicyExpression
  readonly source: string
  readonly message: string
  readonly messageExpression: PolicyExpression | undefined
  readonly reason: string
}

interface Policy extends Definition<ValidatingAdmissionPolicySpec> {
  readonly rules: readonly Rule[]
  readonly annotations: readonly { readonly key: string; readonly expression: PolicyExpression }[]
}

const policyOf = (definition: Definition<ValidatingAdmissionPolicySpec>): Policy => ({
  ...definition,
  rules: (definition.spec.validations ?? []).map((rule) => ({
    source: rule.expression.trim(),
    expression: compile(rule.expression),
    message: (rule.message ?? '').trim(),
    messageExpression: rule.messageExpression ? compile(rule.messageExpression) : undefined,
    reason: rule.reason ?? 'Invalid',
  })),
  annotations: (definition.spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
    key,
    expression: compile(valueExpression),
  })),
})

export const validatingAdmissionPolicy =
  (runtime: Pick<Runtime, 'machineClock' | 'metrics'>): AdmissionPluginFactory =>
  (reads, host) => {
    const resources = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const
    const current = definitionsOf(reads, host, resources, policyOf)
    const metrics = policyMetrics(runtime)
    return {
      name: 'ValidatingAdmissionPolicy',
      handles: () => true,
      validate(attributes) {
        if (isExempt(attributes)) return
        const all = current()
        if (all.length === 0) return
        return judge(all, attributes, reads, host, metrics)
      },
    }
  }

/** What was found wrong. */
interface Finding {
  readonly message: string
  readonly reason: string
  /** Which of the policy's rules it was. */
  readonly index: number
  /** The policy's expressions cost too much together. */
  readonly spent?: boolean
}

interface Denial extends Finding {
  readonly policy: string
  readonly binding: string | undefined
}

interface Outcome {
  readonly findings: readonly Finding[]
  /** For the audit event, by key. */
  readonly notes: ReadonlyMap<string, string>
}

async function judge(
  policies: readonly Policy[],
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
  metrics: PolicyMetrics,
): Promise<void> {
  const denials: Denial[] = []
  const failures: Fields[] = []
  const show = showing(attributes, host)
  for (const found of invocationsOf(policies, attributes, reads, host)) {
    const { definition, binding } = found
    const fails = definition.spec.failurePolicy !== 'Ignore'
    if ('wrong' in found) {
      // What would have been found is unknown: the binding's actions do not count.
      const finding = { message: found.wrong, reason: 'Invalid', index: 0 }
      if (fails) denials.push({ ...finding, policy: definition.name, binding: binding?.name })
      continue
    }
    const began = metrics.now()
    const shown = await show(found.row)
    const { request } = reviewOf(attributes, shown, '')
    const outcome = await whenDecided(host.authorizer, (authorizer) =>
      evaluate(found, requestVariables(attributes, { ...shown, request }, reads, authorizer), fails),
    )
    for (const [key, value] of outcome.notes) attributes.annotate?.(key, value)
    for (const finding of outcome.findings) {
      act(finding, definition, found.binding, attributes, denials, failures)
      for (const action of found.binding.spec.validationActions ?? [])
        metrics.judged(
          { policy: definition.name, binding: found.binding.name },
          action.toLowerCase() as 'deny' | 'warn' | 'audit',
          finding.spent ? 'out_of_budget' : 'invalid_error',
          began,
        )
    }
  }
  if (failures.length > 0)
    attributes.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify(failures))
  const [first] = denials
  if (first !== undefined) throw refusal(attributes, first)
}

/** Does what the binding asks for when something is found. */
function act(
  finding: Finding,
  policy: Policy,
  binding: Binding,
  attributes: AdmissionAttributes,
  denials: Denial[],
  failures: Fields[],
): void {
  const { message } = finding
  const actions = binding.spec.validationActions ?? []
  if (actions.includes('Deny')) denials.push({ ...finding, policy: policy.name, binding: binding.name })
  if (actions.includes('Warn'))
    attributes.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
    )
  if (actions.includes('Audit'))
    failures.push({
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: finding.index,
      validationActions: actions,
    })
}

const CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const { endpoint, name } = attributes
  const { row } = endpoint
  const by = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? '' : ` with binding '${binding}'`}`
  const text = `${by} denied request: ${message}`
  // A delete of a collection names none.
  const base = forbidden({ group: row.group, resource: row.resource }, name || 'Unknown', text)
  return new StatusError(CODES[reason] ?? 422, reason, base.message, {
    ...base.details,
    causes: [{ message: text }],
  })
}

/** Changes nothing: it may be run again when the authorizer has to be waited for. */
function evaluate({ definition, param }: Invocation<Policy>, variables: Map<string, Value>, fails: boolean): Outcome {
  const findings: Finding[] = []
  const notes = new Map<string, string>()
  const budget: Budget = { used: 0, limit: REQUEST_COST_LIMIT }
  variables.set('params', wrap((param ?? null) as Json, DYN))
  const matched = evaluateConditions(definition.conditions, withoutNamespace(variables), budget)
  if ('error' in matched) {
    if (fails) findings.push({ message: matched.error, reason: 'Invalid', index: 0 })
    return { findings, notes }
  }
  if (!matched.matches) return { findings, notes }
  variables.set('variables', lazyVariables(definition.variables, variables, budget))
  let told: ReadonlyMap<string, Value> | undefined
  for (const [index, rule] of definition.rules.entries()) {
    try {
      if (rule.expression.run(variables, budget) === true) continue
      told ??= withoutAuthorizer(definition, variables, budget)
      findings.push({ message: messageOf(rule, told, budget), reason: rule.reason, index })
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      const spent = error instanceof BudgetSpent
      const message = spent ? error.message : `expression '${rule.source}' resulted in error: ${error.message}`
      // What was found before does not count once the budget is spent.
      if (spent) findings.length = 0
      if (fails) findings.push({ message, reason: 'Invalid', index: spent ? 0 : index, spent })
      if (spent) return { findings, notes }
    }
  }
  for (const { key, expression } of definition.annotations) {
    const value = textOf(expression, variables, budget)
    if (value !== undefined && value !== '') notes.set(`${definition.name}/${key}`, value)
  }
  return { findings, notes }
}

/** What messages are made of: variables are evaluated anew for them, and those that ask the authorizer fail. */
function withoutAuthorizer(definition: Policy, variables: ReadonlyMap<string, Value>, budget: Budget) {
  const left = new Map([...variables].filter(([name]) => !name.startsWith('authorizer')))
  return left.set('variables', lazyVariables(definition.variables, left, budget))
}

/** The rule's own words, made or written, or the rule itself. */
function messageOf(rule: Rule, variables: ReadonlyMap<string, Value>, budget: Budget): string {
  if (rule.messageExpression !== undefined) {
    const text = textOf(rule.messageExpression, variables, budget)
    if (text !== undefined && text !== '' && !text.includes('\n') && text.length <= 5 * 1024) return text
  }
  return rule.message === '' ? `failed expression: ${rule.source}` : rule.message
}

/** undefined for what is no text, or could not be evaluated. */
function textOf(
  expression: PolicyExpression,
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
): string | undefined {
  try {
    const made = expression.run(variables, budget)
    return typeof made === 'string' ? made.trim() : undefined
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return undefined
  }
}
