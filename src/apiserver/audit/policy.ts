/**
 * audit: which user did what (API concept: auditing; audit.k8s.io/v1). A policy says how much is told of which request, a log takes
 * the events. Called by the audit filter; knows no handlers.
 */
import { parse } from 'yaml'
import type { Json, JsonObject } from '../../api/object.ts'
import type { RequestInfo, UserInfo } from '../../api/request.ts'
import { asList, asObject } from '../../api/unchecked.ts'
import { dns1123Subdomain } from '../../api/validation/names.ts'

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

/** A policy file's text (YAML or JSON). @throws PolicyError in one line, saying which rule is wrong */
export function parsePolicy(text: string): AuditPolicy {
  let document: unknown
  try {
    document = parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw new PolicyError(`the audit policy is not YAML: ${(error as Error).message.split('\n')[0]}`)
  }
  const policy = asObject(document)
  if (policy['kind'] !== 'Policy' || policy['apiVersion'] !== 'audit.k8s.io/v1')
    throw new PolicyError('the audit policy must be of kind Policy, apiVersion audit.k8s.io/v1')
  const given = asList(policy['rules'])
  if (given.length === 0) throw new PolicyError('the audit policy has no rules: it must have at least one')
  const everywhere = stagesOf(policy['omitStages'], 'omitStages')
  const rules = given.map((rule, i) =>
    ruleOf(asObject(rule), `rules[${i}]`, everywhere, policy['omitManagedFields'] === true),
  )
  return {
    verdict: (user, info) => rules.find((rule) => rule.matches(user, info))?.verdict ?? silent,
  }
}

function stagesOf(value: Json | undefined, where: string): readonly AuditStage[] {
  const stages = (value ?? []) as readonly AuditStage[]
  if (!Array.isArray(stages)) throw new PolicyError(`${where} must be a list of stages`)
  for (const stage of stages)
    if (!STAGES.includes(stage)) throw new PolicyError(`${where}: ${stage} is no stage: use ${STAGES.join(', ')}`)
  return stages
}

/** @throws PolicyError when it is anything else */
function stringsIn(from: JsonObject, field: string, where: string): readonly string[] {
  const value = from[field] ?? []
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
    throw new PolicyError(`${where}.${field} must be a list of strings`)
  return value
}

function ruleOf(rule: JsonObject, where: string, everywhere: readonly AuditStage[], omitManagedFields: boolean): Rule {
  const level = rule['level'] as AuditLevel
  if (!LEVELS.includes(level)) throw new PolicyError(`${where}.level: ${level} is no level: use ${LEVELS.join(', ')}`)
  const strings = (field: string): readonly string[] => stringsIn(rule, field, where)
  const [users, groups, verbs] = [strings('users'), strings('userGroups'), strings('verbs')]
  const [namespaces, urls] = [strings('namespaces'), strings('nonResourceURLs')]
  const named = rule['resources'] ?? []
  if (!Array.isArray(named)) throw new PolicyError(`${where}.resources must be a list`)
  const resources = named.map((wanted, i) => groupResourcesOf(asObject(wanted), `${where}.resources[${i}]`))
  for (const [i, url] of urls.entries()) checkUrl(url, `${where}.nonResourceURLs[${i}]`)
  if (urls.length > 0 && (resources.length > 0 || namespaces.length > 0))
    throw new PolicyError(`${where}: rules are about resources or about nonResourceURLs, not both`)
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
      level,
      omitStages: new Set([...everywhere, ...stagesOf(rule['omitStages'], `${where}.omitStages`)]),
      omitManagedFields: (rule['omitManagedFields'] ?? omitManagedFields) === true,
    },
  }
}

/** A pattern that could never match is a mistake. */
function checkUrl(url: string, where: string): void {
  if (url === '*') return
  if (!url.startsWith('/')) throw new PolicyError(`${where}: ${url}: non-resource URLs must begin with a '/'`)
  if (url.slice(0, -1).includes('*')) throw new PolicyError(`${where}: ${url}: a '*' must be the final character`)
}

/** audit.k8s.io's GroupResources: none of its resources means all of its group. */
interface GroupResources {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

function groupResourcesOf(given: JsonObject, where: string): GroupResources {
  const group = String(given['group'] ?? '')
  const resources = stringsIn(given, 'resources', where)
  const resourceNames = stringsIn(given, 'resourceNames', where)
  if (group !== '' && dns1123Subdomain(group).length > 0)
    throw new PolicyError(`${where}.group: ${group} is no API group`)
  if (resourceNames.length > 0 && resources.length === 0)
    throw new PolicyError(`${where}.resourceNames: names need at least one resource whose names they are`)
  return { group, resources, resourceNames }
}

const POLICY_FIELDS = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']
const RULE_FIELDS = [
  ...['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs', 'omitStages'],
  'omitManagedFields',
]
const RESOURCE_FIELDS = ['group', 'resources', 'resourceNames']

/** Fields of a policy file that mean nothing, by their paths: mostly misspelt ones, whose rule is then wider than was meant. */
export function unknownFields(text: string): readonly string[] {
  const others = (value: JsonObject, known: readonly string[], where: string) =>
    Object.keys(value).flatMap((name) => (known.includes(name) ? [] : [`${where}${name}`]))
  const policy = asObject(parse(text, { maxAliasCount: 100 }))
  const rules = asList(policy['rules']).map(asObject)
  return [
    ...others(policy, POLICY_FIELDS, ''),
    ...rules.flatMap((rule, i) => [
      ...others(rule, RULE_FIELDS, `rules[${i}].`),
      ...asList(rule['resources'])
        .map(asObject)
        .flatMap((wanted, j) => others(wanted, RESOURCE_FIELDS, `rules[${i}].resources[${j}].`)),
    ]),
  ]
}

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
