/**
 * audit: which user did what (API concept: auditing; audit.k8s.io/v1). A policy says how much is told of which request, a log takes
 * the events. Called by the audit filter; knows no handlers.
 */
import { configurationIn, MissingKindError, unknownIn } from '../../api/configuration/decode.ts'
import type { Struct } from '../../api/configuration/shape.ts'
import { dns1123Subdomain } from '../../api/names/name-formats.ts'
import type { RequestInfo, UserInfo } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'

export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof LEVELS)[number]

const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof STAGES)[number]

export interface AuditVerdict {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

export interface AuditPolicy {
  /** What the first rule that matches says; level None when none does. */
  verdict(user: UserInfo | undefined, info: RequestInfo): AuditVerdict
}

export class PolicyError extends Error {}

interface Rule {
  readonly matches: (user: UserInfo | undefined, info: RequestInfo) => boolean
  readonly verdict: AuditVerdict
}

const silent: AuditVerdict = { level: 'None', omitStages: new Set(), omitManagedFields: false }

const GROUP_RESOURCES: Struct = {
  type: 'GroupResources',
  fields: { group: 'string', resources: ['string'], resourceNames: ['string'] },
}
const POLICY_RULE: Struct = {
  type: 'PolicyRule',
  fields: {
    level: 'string',
    users: ['string'],
    userGroups: ['string'],
    verbs: ['string'],
    resources: [GROUP_RESOURCES],
    namespaces: ['string'],
    nonResourceURLs: ['string'],
    omitStages: ['string'],
    omitManagedFields: 'bool',
  },
}
const POLICY: Struct = {
  type: 'Policy',
  fields: {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'any',
    rules: [POLICY_RULE],
    omitStages: ['string'],
    omitManagedFields: 'bool',
  },
}

interface GivenRule {
  readonly level?: string | null
  readonly users?: readonly string[] | null
  readonly userGroups?: readonly string[] | null
  readonly verbs?: readonly string[] | null
  readonly resources?: readonly (Partial<GroupResources> | null)[] | null
  readonly namespaces?: readonly string[] | null
  readonly nonResourceURLs?: readonly string[] | null
  readonly omitStages?: readonly string[] | null
  readonly omitManagedFields?: boolean | null
}

interface GivenPolicy {
  readonly rules?: readonly (GivenRule | null)[] | null
  readonly omitStages?: readonly string[] | null
  readonly omitManagedFields?: boolean | null
}

/** `unknown`: fields of it that mean nothing, by their paths. @throws PolicyError in kube-apiserver's words */
function policyIn(text: string): { readonly policy: GivenPolicy; readonly unknown: readonly string[] } {
  try {
    const { value } = configurationIn(text, { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' })
    return { policy: value as GivenPolicy, unknown: unknownIn(POLICY, value) }
  } catch (cause) {
    // Without a kind it is taken for one of no version.
    if (cause instanceof MissingKindError)
      throw new PolicyError('unknown group version field audit.k8s.io/__internal, Kind=Policy in policy', { cause })
    throw new PolicyError(`failed decoding: ${messageOf(cause)}`, { cause })
  }
}

/** A policy file's text (YAML or JSON). @throws PolicyError with all that is wrong, in kube-apiserver's words */
export function parsePolicy(text: string): AuditPolicy {
  const { policy } = policyIn(text)
  const given = (policy.rules ?? []).map((rule) => rule ?? {})
  const problems = [
    ...stageProblems(policy.omitStages, 'omitStages'),
    ...given.flatMap((rule, i) => ruleProblems(rule, `rules[${i}]`)),
  ]
  if (problems.length > 0) throw new PolicyError(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
  if (given.length === 0) throw new PolicyError('loaded illegal policy with 0 rules')
  const rules = given.map((rule) => ruleOf(rule, policy))
  return {
    verdict: (user, info) => rules.find((rule) => rule.matches(user, info))?.verdict ?? silent,
  }
}

const invalid = (path: string, value: unknown, why: string) =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${why}`

function stageProblems(stages: readonly string[] | null | undefined, path: string): readonly string[] {
  return (stages ?? []).flatMap((stage, i) =>
    (STAGES as readonly string[]).includes(stage)
      ? []
      : [invalid(`${path}[${i}]`, stage, `allowed stages are ${STAGES.join(',')}`)],
  )
}

function ruleProblems(rule: GivenRule, path: string): readonly string[] {
  const { level, nonResourceURLs, resources, namespaces, omitStages } = rule
  const urls = nonResourceURLs ?? []
  const isBoth = urls.length > 0 && ((resources ?? []).length > 0 || (namespaces ?? []).length > 0)
  return [
    ...(level ? [] : [`${path}.level: Required value`]),
    ...(level && !(LEVELS as readonly string[]).includes(level)
      ? [
          `${path}.level: Unsupported value: ${JSON.stringify(level)}: supported values: ${LEVELS.map((one) => JSON.stringify(one)).join(', ')}`,
        ]
      : []),
    ...urls.flatMap((url, i) => urlProblems(url, `${path}.nonResourceURLs[${i}]`)),
    ...(resources ?? []).flatMap((wanted) => resourceProblems(wanted ?? {}, `${path}.resources`)),
    ...stageProblems(omitStages, `${path}.omitStages`),
    ...(isBoth
      ? [invalid(`${path}.nonResourceURLs`, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
      : []),
  ]
}

function ruleOf(rule: GivenRule, everywhere: GivenPolicy): Rule {
  const [users, groups, verbs] = [rule.users ?? [], rule.userGroups ?? [], rule.verbs ?? []]
  const [namespaces, urls] = [rule.namespaces ?? [], rule.nonResourceURLs ?? []]
  const resources = (rule.resources ?? []).map(
    (wanted): GroupResources => ({
      group: wanted?.group ?? '',
      resources: wanted?.resources ?? [],
      resourceNames: wanted?.resourceNames ?? [],
    }),
  )
  const any = (list: readonly string[], value: string) => list.length === 0 || list.includes(value)
  return {
    matches: (user, info) => {
      if (!any(users, user?.name ?? '')) return false
      if (groups.length > 0 && !groups.some((group) => user?.groups.includes(group))) return false
      if (!any(verbs, info.verb)) return false
      if (info.isResource) {
        if (urls.length > 0) return false
        if (!any(namespaces, info.namespace)) return false
        return resources.length === 0 || resources.some((wanted) => resourceMatches(wanted, info))
      }
      if (resources.length > 0 || namespaces.length > 0) return false
      return urls.length === 0 || urls.some((url) => urlMatches(url, info.path))
    },
    verdict: {
      level: rule.level as AuditLevel,
      omitStages: new Set([...(everywhere.omitStages ?? []), ...(rule.omitStages ?? [])] as readonly AuditStage[]),
      omitManagedFields: (rule.omitManagedFields ?? everywhere.omitManagedFields) === true,
    },
  }
}

/** A pattern that could never match is a mistake. */
function urlProblems(url: string, path: string): readonly string[] {
  if (url === '*') return []
  if (!url.startsWith('/')) return [invalid(path, url, "non-resource URL rules must begin with a '/' character")]
  return url.slice(0, -1).includes('*')
    ? [invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule")]
    : []
}

/** audit.k8s.io's GroupResources: none of its resources means all of its group. */
interface GroupResources {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

function resourceProblems(given: Partial<GroupResources>, path: string): readonly string[] {
  const { group, resources, resourceNames } = given
  const [why] = group ? dns1123Subdomain(group) : []
  return [
    ...(why === undefined ? [] : [invalid(`${path}.group`, group, why)]),
    ...((resourceNames ?? []).length > 0 && (resources ?? []).length === 0
      ? [invalid(`${path}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')]
      : []),
  ]
}

/** Fields of a policy file that mean nothing, by their paths: mostly misspelt ones, whose rule is then wider than was meant. */
export const unknownFields = (text: string): readonly string[] => policyIn(text).unknown

function resourceMatches({ group, resources, resourceNames }: GroupResources, info: RequestInfo): boolean {
  if (group !== info.group) return false
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false
  if (resources.length === 0) return true
  const combined = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  return resources.some(
    (resource) =>
      resource === combined ||
      resource === '*' ||
      (info.subresource !== '' && (resource === `${info.resource}/*` || resource === `*/${info.subresource}`)),
  )
}

const urlMatches = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)))
