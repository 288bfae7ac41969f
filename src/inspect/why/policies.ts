/** ValidatingAdmissionPolicies judged without asking the server: by their rules, bindings, parameters and expressions. */

import type { Variables } from '../../api/cel/eval-within-cost-limit.ts'
import { DYN } from '../../api/cel/types.ts'
import { wrap } from '../../api/cel/values.ts'
import type {
  ValidatingAdmissionPolicyBinding as Binding,
  ParamRef,
  ValidatingAdmissionPolicy as Policy,
} from '../../api/generated/types.ts'
import { asJson, type KubeObject } from '../../api/object.ts'
import { formatLabelSelector, labelSelectorOf } from '../../api/objects/label-selector.ts'
import { asksUser, conditionsOf, evaluated, isWhole, variablesOf, withVariables } from './expressions.ts'
import { type Link, lastLink } from './finding.ts'
import { itemsOf, type Look, VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS } from './look.ts'
import { isMatched, isSelected, type MatchResources, namespaceObjectOf, type WriteRequest } from './rules.ts'

export type Judged = { readonly says: 'accepts' | 'unknown' } | { readonly says: 'refuses'; readonly message: string }
const ACCEPTS = { says: 'accepts' } as const
const UNKNOWN = { says: 'unknown' } as const

/** What policies say, or may say, of a write. All of it is inferred. `wanted`: of which policies; absent: of all. */
export async function policyLinks(
  look: Look,
  write: WriteRequest,
  wanted: (policy: Policy) => boolean = () => true,
): Promise<readonly Link[]> {
  const { operation } = write
  const links: Link[] = []
  for (const { policy, judged } of await judgements(look, write)) {
    const { name = '' } = policy.metadata
    if (judged.says === 'accepts' || !wanted(policy)) continue
    if (judged.says === 'refuses') {
      const { message } = judged
      const cause = { kind: 'admission-refuses', by: 'policy', name, operation, message } as const
      links.push(lastLink('refused', cause, true))
      continue
    }
    const what = `whether ValidatingAdmissionPolicy ${name} accepts ${operation === 'DELETE' ? 'the delete' : 'that a finalizer is taken off'}`
    links.push(lastLink('slow', { kind: 'unseen', what, why: 'it was not tried, for want of a dry run' }, true))
  }
  return links
}

/** Whether what a policy says may be another thing for another user. */
export function asksForUser({ spec }: Policy): boolean {
  const { matchConditions = [], variables = [], validations = [] } = spec ?? {}
  return [...matchConditions, ...variables, ...validations].some(({ expression = '' }) => asksUser(expression))
}

/** In the version that is served: servers before v1.30 have it in v1beta1 alone, in the same form. */
const servedAs = ({ kinds }: Look, gvr: typeof VALIDATING_POLICIES) => kinds.ofResource(gvr.group, gvr.resource) ?? gvr

export async function policyAsksForUser(look: Look, name: string): Promise<boolean> {
  const policies = await look.reader.list<Policy>(servedAs(look, VALIDATING_POLICIES))
  const policy = itemsOf(policies).find(({ metadata }) => metadata.name === name)
  return policy !== undefined && asksForUser(policy)
}

async function judgements(look: Look, write: WriteRequest) {
  const { reader } = look
  const [policies, bindings] = await Promise.all([
    reader.list<Policy>(servedAs(look, VALIDATING_POLICIES)),
    reader.list<Binding>(servedAs(look, VALIDATING_POLICY_BINDINGS)),
  ])
  const denying = itemsOf(bindings).filter(({ spec }) => spec?.validationActions?.includes('Deny') === true)
  const found: { readonly policy: Policy; readonly judged: Judged }[] = []
  for (const policy of itemsOf(policies)) {
    const { name = '' } = policy.metadata
    if (!(await isMatched(look, policy.spec?.matchConstraints ?? {}, write))) continue
    for (const { spec } of denying.filter((one) => one.spec?.policyName === name)) {
      const within = (spec?.matchResources ?? {}) as MatchResources
      const isBound = within.resourceRules === undefined || (await isMatched(look, within, write))
      if (!isBound || !(await isSelected(look, within, write))) continue
      found.push({ policy, judged: await judgeBound(look, policy, spec?.paramRef, write) })
    }
  }
  return found
}

/** With each of the objects that a binding gives it as parameters. */
async function judgeBound(
  look: Look,
  policy: Policy,
  paramRef: ParamRef | undefined,
  write: WriteRequest,
): Promise<Judged> {
  const namespaceObject = await namespaceObjectOf(look, write)
  const users = write.users.length === 0 ? [undefined] : write.users
  const judged = await Promise.all(
    users.map((user) => judgeFor(look, policy, paramRef, write, variablesOf(write, namespaceObject, user))),
  )
  const [first = UNKNOWN] = judged
  return judged.every(({ says }) => says === first.says) ? first : UNKNOWN
}

async function judgeFor(
  look: Look,
  policy: Policy,
  paramRef: ParamRef | undefined,
  write: WriteRequest,
  given: Variables,
): Promise<Judged> {
  if (policy.spec?.paramKind === undefined || paramRef === undefined) return judge(policy, given, isWhole(write))
  const params = await paramsOf(look, policy.spec.paramKind, paramRef, write)
  if (!Array.isArray(params)) return params as Judged
  const judged = params.map((param: KubeObject) =>
    judge(policy, new Map(given).set('params', wrap(asJson(param), DYN)), isWhole(write)),
  )
  return judged.find(({ says }) => says === 'refuses') ?? judged.find(({ says }) => says === 'unknown') ?? ACCEPTS
}

async function paramsOf(
  { reader, kinds }: Look,
  { apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string },
  { name, namespace = '', selector, parameterNotFoundAction }: ParamRef,
  { ref }: WriteRequest,
): Promise<readonly KubeObject[] | Judged> {
  const resource = kinds.ofKind(apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '', kind)
  if (resource === undefined) return UNKNOWN
  const within = resource.namespaced ? namespace || ref.namespace : ''
  const read =
    name === undefined
      ? await reader.list(resource, {
          namespace: within,
          labelSelector: formatLabelSelector(labelSelectorOf(selector)),
        })
      : await reader.get(resource, within, name)
  const found = read.state === 'found' ? [read.value].flat() : []
  if (read.state !== 'found' && read.state !== 'missing') return UNKNOWN
  if (found.length > 0) return found
  if (parameterNotFoundAction !== 'Deny') return ACCEPTS
  return {
    says: 'refuses',
    message: `failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
  }
}

function judge({ spec }: Policy, given: Variables, whole: boolean): Judged {
  const conditions = conditionsOf(spec ?? {}, given, whole)
  if (conditions !== 'asked') return conditions === 'unknown' ? UNKNOWN : ACCEPTS
  const { variables, isKnown } = withVariables(spec?.variables ?? [], given, whole)
  let isUnknown = false
  for (const { expression, message, messageExpression } of spec?.validations ?? []) {
    const found = isKnown(expression) ? evaluated(expression, variables, whole) : UNKNOWN
    if ('says' in found || found.is === 'unknown') {
      isUnknown = true
      continue
    }
    if (found.is === 'failed') {
      // An expression that fails refuses, unless its policy says that failures are to be ignored.
      if (spec?.failurePolicy !== 'Ignore') return { says: 'refuses', message: found.message }
      continue
    }
    if (found.value === true) continue
    const made = messageExpression === undefined ? undefined : evaluated(messageExpression, variables, whole)
    const isMade = made?.is === 'value' && typeof made.value === 'string'
    return {
      says: 'refuses',
      message: isMade ? String(made.value) : (message ?? `failed expression: ${expression}`),
    }
  }
  return isUnknown ? UNKNOWN : ACCEPTS
}
