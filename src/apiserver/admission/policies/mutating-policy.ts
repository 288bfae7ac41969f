/**
 * MutatingAdmissionPolicy (KEP-3962): changes to requests in CEL, as apply configurations or JSON patches, bound to where
 * they are made. Runs before the mutating webhooks, and again when something changed the object after it.
 */

import { REQUEST_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import { DYN } from '../../../api/cel/types.ts'
import { type Value, wrap } from '../../../api/cel/values.ts'
import type { MutatingAdmissionPolicySpec } from '../../../api/generated/types.ts'
import type { Json, KubeObject } from '../../../api/object.ts'
import { sameJson } from '../../../api/same.ts'
import { withoutGivenEmpty } from '../../../api/schema/canonical.ts'
import { forbidden, StatusError } from '../../../api/status.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { whenDecided } from '../../auth/decided.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPluginFactory } from '../plugin.ts'
import { mayRun, noteChange, ranReinvocable, runsOf } from '../reinvocation.ts'
import { reviewOf } from '../webhooks/admission-review.ts'
import { evaluateConditions, withoutNamespace } from './conditions.ts'
import { lazyVariables, requestVariables } from './expression.ts'
import { type PolicyMetrics, policyMetrics } from './metrics.ts'
import { MutationError } from './mutation-error.ts'
import { applyMutation, evaluateMutation, type Mutation, mutationsOf, mutationTargetOf, takeBack } from './mutations.ts'
import {
  type Definition,
  definitionsOf,
  type Invocation,
  invocationsOf,
  isExempt,
  type Shown,
  showing,
} from './policies-bindings-and-params.ts'

interface Policy extends Definition<MutatingAdmissionPolicySpec> {
  readonly mutations: readonly Mutation[]
  readonly ifNeeded: boolean
}

const policyOf = (definition: Definition<MutatingAdmissionPolicySpec>): Policy => ({
  ...definition,
  mutations: mutationsOf(definition.spec),
  ifNeeded: definition.spec.reinvocationPolicy === 'IfNeeded',
})

export const mutatingAdmissionPolicy =
  (runtime: Pick<Runtime, 'machineClock' | 'metrics'>): AdmissionPluginFactory =>
  (reads, host) => {
    const resources = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'] as const
    const current = definitionsOf(reads, host, resources, policyOf)
    const metrics = policyMetrics(runtime)
    return {
      name: 'MutatingAdmissionPolicy',
      handles: (operation) => operation !== 'DELETE',
      mutate(attributes) {
        const object = attributes.object as KubeObject
        if (isExempt(attributes)) return object
        const all = current()
        if (all.length === 0) return object
        return mutateAll({ reads, host, metrics }, all, attributes)
      },
    }
  }

interface Mutator {
  readonly reads: CacheReads
  readonly host: AdmissionHost
  readonly metrics: PolicyMetrics
}

/** Why a policy denies a request. */
interface Failure {
  readonly policy: Policy
  readonly message: string
  readonly reason: 'Forbidden' | 'Invalid'
}

const by = (policy: Policy, binding: string, message: string) =>
  `policy '${policy.name}' with binding '${binding}' denied request: ${message}`

/** One after the other, each with what those before it made. */
async function mutateAll(
  { reads, host, metrics }: Mutator,
  policies: readonly Policy[],
  attributes: AdmissionAttributes,
): Promise<KubeObject> {
  const again = attributes.reinvocation
  const runs = runsOf(again, 'policies', attributes.object)
  const failures: Failure[] = []
  const invocations: Invocation<Policy>[] = []
  for (const found of invocationsOf(policies, attributes, reads, host)) {
    if (!('wrong' in found)) {
      invocations.push(found)
      continue
    }
    const { definition, binding, wrong } = found
    const message =
      binding === undefined
        ? `policy ${JSON.stringify(definition.name)} denied request: ${wrong}`
        : by(definition, binding.name, wrong)
    failures.push({ policy: definition, message, reason: 'Forbidden' })
  }
  let current = attributes
  let ran = false
  for (const invocation of invocations) {
    const { definition, binding, row, param } = invocation
    const key = JSON.stringify([definition.name, binding.name, param?.metadata.namespace, param?.metadata.name])
    const fail = (error: MutationError) =>
      failures.push({ policy: definition, message: by(definition, binding.name, error.message), reason: 'Invalid' })
    const shown = await showing(current, host)(row)
    const evaluated = evaluation(invocation, attributes, reads, host)
    if (!(await conditionsHold(invocation, shown, evaluated, fail))) continue
    if (!mayRun(again, runs, key)) continue
    let object = shown.object
    for (const mutation of definition.mutations) {
      if (object === undefined) continue
      const began = metrics.now()
      try {
        const made = await evaluated({ ...shown, object }, (variables) =>
          evaluateMutation(mutation, variables, { used: 0, limit: REQUEST_COST_LIMIT }),
        )
        const next = applyMutation(
          mutation,
          made,
          object,
          mutationTargetOf(host.endpointOf(row), attributes.subresource),
        )
        takeBack(host.endpointOf(row), attributes.endpoint.row)
        object = next
        ran = true
        metrics.mutated({ policy: definition.name, binding: binding.name }, 'no_error', began)
      } catch (error) {
        metrics.mutated({ policy: definition.name, binding: binding.name }, 'invalid_error', began)
        if (!(error instanceof MutationError)) throw error
        fail(error)
      }
    }
    if (object !== undefined && object !== shown.object && !sameJson(object as never, shown.object as never)) {
      current = { ...current, object: await host.endpointOf(row).worked.admitted(object) }
      noteChange(again, runs)
    }
    if (definition.ifNeeded) ranReinvocable(runs, key)
  }
  // Even those that ran last are told of what they changed themselves.
  if (ran) {
    noteChange(again, runs)
    current = { ...current, object: withoutGivenEmpty(current.object) }
  }
  refuse(failures, attributes)
  if (runs !== undefined) runs.last = current.object
  return current.object as KubeObject
}

type Evaluated = <T>(shown: Shown, body: (variables: Map<string, Value>) => T) => T | Promise<T>

/** Evaluates with the variables of an invocation; again, where the authorizer has to be waited for. */
function evaluation(
  { definition, param }: Invocation<Policy>,
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): Evaluated {
  return (shown, body) =>
    whenDecided(host.authorizer, (authorizer) => {
      const { request } = reviewOf(attributes, shown, '')
      const variables = requestVariables(attributes, { ...shown, request }, reads, authorizer)
      variables.set('params', wrap((param ?? null) as Json, DYN))
      variables.set('variables', lazyVariables(definition.variables, variables, { used: 0, limit: REQUEST_COST_LIMIT }))
      return body(variables)
    })
}

async function conditionsHold(
  { definition: { conditions } }: Invocation<Policy>,
  shown: Shown,
  evaluated: Evaluated,
  fail: (error: MutationError) => void,
): Promise<boolean> {
  if (conditions.length === 0) return true
  const outcome = await evaluated(shown, (variables) =>
    evaluateConditions(conditions, withoutNamespace(variables), { used: 0, limit: REQUEST_COST_LIMIT }),
  )
  if (!('error' in outcome)) return outcome.matches
  fail(new MutationError(outcome.error))
  return false
}

/** @throws StatusError 403 when a policy failed that must not */
function refuse(failures: readonly Failure[], { endpoint, name }: AdmissionAttributes): void {
  const { row } = endpoint
  const denying = failures.filter(({ policy }) => policy.spec.failurePolicy !== 'Ignore')
  const [first] = denying
  if (first === undefined) return
  const { details } = forbidden({ group: row.group, resource: row.resource }, name, '')
  throw new StatusError(403, first.reason, first.message, {
    ...details,
    causes: denying.map(({ message }) => ({ message })),
  })
}
