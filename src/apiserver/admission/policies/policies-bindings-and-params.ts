/**
 * What validating and mutating admission policies have in common: policies with their bindings as they were last written,
 * compiled once, and which of them a request comes under, with which params.
 */

import type {
  MatchResources,
  MutatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { parseApiVersion } from '../../../api/object.ts'
import { labelSelectorOf } from '../../../api/objects/label-selector.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { getOrInsertComputed } from '../../../base/get-or-insert.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../plugin.ts'
import { type Matcher, matchingRow, selectsObject, webhookMatcher } from '../webhooks/match.ts'
import { type MatchCondition, matchConditionsOf } from './conditions.ts'
import { compile, type PolicyExpression } from './expression.ts'

const GROUP = 'admissionregistration.k8s.io'

export type PolicySpec = ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec

type PolicyObject<S extends PolicySpec> = KubeObject & { readonly spec?: S }

export interface Definition<S extends PolicySpec = PolicySpec> {
  readonly name: string
  readonly spec: S
  readonly matcher: Matcher
  readonly conditions: readonly MatchCondition[]
  readonly variables: readonly { readonly name: string; readonly expression: PolicyExpression }[]
  readonly bindings: readonly Binding[]
}

export interface Binding {
  readonly name: string
  readonly spec: ValidatingAdmissionPolicyBindingSpec
  /** undefined: wherever the policy counts. */
  readonly matcher: Matcher | undefined
}

/** A policy that a request comes under: by a binding, and with one of the params that the binding names. */
export interface Invocation<D extends Definition> {
  readonly definition: D
  readonly binding: Binding
  /** The resource in the version that the policy's rules name. */
  readonly row: ResourceRow
  readonly param: KubeObject | undefined
}

/** A policy that cannot be judged by: something it refers to is not there. */
export interface Misconfiguration<D extends Definition> {
  readonly definition: D
  /** undefined when it is the policy itself. */
  readonly binding: Binding | undefined
  readonly wrong: string
}

/** Policies without bindings count nowhere and are left out. Compiled again when one of them, or a binding, changes. */
export function definitionsOf<S extends PolicySpec, D extends Definition<S>>(
  reads: CacheReads,
  host: AdmissionHost,
  [policies, bindings]: readonly [policies: string, bindings: string],
  finish: (definition: Definition<S>) => D,
): () => readonly D[] {
  const generation = host.generationOf([policies, bindings].map((resource) => ({ group: GROUP, resource })))
  let seen = -1
  let compiled: readonly D[] = []
  return () => {
    const now = generation()
    if (now === seen) return compiled
    const all = reads.list<ValidatingAdmissionPolicyBinding>(GROUP, bindings)
    compiled = reads.list<PolicyObject<S>>(GROUP, policies).flatMap((policy) => {
      const own = all.filter((binding) => binding.spec?.policyName === policy.metadata.name)
      return own.length === 0 ? [] : [finish(definitionOf(policy, own))]
    })
    // Only now: a list that throws is tried again by the next request, which must not go by what was there before.
    seen = now
    return compiled
  }
}

function definitionOf<S extends PolicySpec>(
  policy: PolicyObject<S>,
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): Definition<S> {
  const spec = policy.spec ?? ({} as S)
  const constraints: MatchResources = spec.matchConstraints ?? {}
  return {
    name: policy.metadata.name ?? '',
    spec,
    matcher: webhookMatcher(constraints, constraints.resourceRules ?? []),
    conditions: matchConditionsOf(spec),
    variables: (spec.variables ?? []).map(({ name, expression }) => ({
      name,
      expression: compile(expression),
    })),
    bindings: bindings.map((binding) => ({
      name: binding.metadata.name ?? '',
      spec: binding.spec ?? {},
      matcher: binding.spec?.matchResources && bindingMatcher(binding.spec.matchResources),
    })),
  }
}

const ANYTHING = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'] }]

const bindingMatcher = (resources: MatchResources): Matcher =>
  webhookMatcher(resources, resources.resourceRules?.length ? resources.resourceRules : ANYTHING)

/** Reviews, which are asked of the server and change nothing: to judge them could lock every user out. */
const REVIEWS = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

const POLICIES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

/** What no policy is about: policies, which could not be mended any more, and reviews. */
export const isExempt = ({
  endpoint: {
    row: { group, resource },
  },
}: AdmissionAttributes): boolean => (group === GROUP ? POLICIES.has(resource) : REVIEWS.has(`${group}/${resource}`))

/** Everything that a request comes under, found before any of it is evaluated, in the order of names. */
export function invocationsOf<D extends Definition>(
  definitions: readonly D[],
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): readonly (Invocation<D> | Misconfiguration<D>)[] {
  const found: (Invocation<D> | Misconfiguration<D>)[] = []
  for (const definition of definitions) {
    if (!selectsObject(definition.matcher, attributes, reads)) continue
    const row = matchingRow(definition.matcher, attributes, host.scheme)
    if (row === undefined) continue
    const kind = paramRowOf(definition, host)
    if (typeof kind === 'string') {
      found.push({ definition, binding: undefined, wrong: `failed to configure policy: ${kind}` })
      continue
    }
    for (const binding of definition.bindings) {
      if (binding.matcher !== undefined) {
        if (!selectsObject(binding.matcher, attributes, reads)) continue
        if (matchingRow(binding.matcher, attributes, host.scheme) === undefined) continue
      }
      const params = paramsOf(kind, binding, attributes, reads, host)
      if (typeof params === 'string')
        found.push({ definition, binding, wrong: `failed to configure binding: ${params}` })
      else for (const param of params) found.push({ definition, binding, row, param })
    }
  }
  return found
}

/** The resource of the policy's params; undefined when it has none; what is wrong when there is no such resource. */
function paramRowOf({ spec }: Definition, { scheme }: AdmissionHost): ResourceRow | undefined | string {
  const kind = spec.paramKind
  if (kind === undefined) return undefined
  const { group, version } = parseApiVersion(kind.apiVersion ?? '')
  const row = scheme.findKind(group, version, kind.kind ?? '')
  return row ?? `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind.kind}'`
}

/** The params that a binding names, each of which the request is judged with; or why it cannot be. */
function paramsOf(
  row: ResourceRow | undefined,
  binding: Binding,
  attributes: AdmissionAttributes,
  reads: CacheReads,
  host: AdmissionHost,
): readonly (KubeObject | undefined)[] | string {
  const ref = binding.spec.paramRef
  if (row === undefined || ref === undefined) return [undefined]
  if (!row.namespaced && ref.namespace)
    return 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`'
  const namespace: string = !row.namespaced ? '' : ref.namespace || namespaceOf(attributes)
  if (row.namespaced && namespace === '')
    return 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources'
  const selector = ref.name ? undefined : labelSelectorOf(ref.selector)
  const found =
    selector === undefined
      ? [reads.get(row.group, row.resource, namespace, ref.name ?? '')].filter((object) => object !== undefined)
      : reads
          .list(row.group, row.resource, namespace)
          .filter((object) => selector.matches(object.metadata.labels ?? {}))
  if (found.length > 0) return found.map((object) => host.endpointOf(row).served.now(object))
  return (ref.parameterNotFoundAction ?? 'Deny') === 'Allow'
    ? []
    : 'no params found for policy binding with `Deny` parameterNotFoundAction'
}

/** A Namespace is in itself. */
const namespaceOf = ({ endpoint: { row }, namespace, name }: AdmissionAttributes): string =>
  row.isOwnNamespace ? name : namespace

/** A request as a policy sees it: in the version that its rules name. */
export interface Shown {
  readonly row: ResourceRow
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

/** Shows a request in one version after the other, each converted once. */
export function showing(
  { object, oldObject }: AdmissionAttributes,
  host: AdmissionHost,
): (row: ResourceRow) => Promise<Shown> {
  const known = new Map<ResourceRow, Promise<Shown>>()
  const show = async (row: ResourceRow): Promise<Shown> => ({
    row,
    object: object && (await host.endpointOf(row).served.object(object)),
    oldObject: oldObject && (await host.endpointOf(row).served.object(oldObject)),
  })
  return (row) => {
    return getOrInsertComputed(known, row, show)
  }
}
