/**
 * Attribute-based access control (authorization mode ABAC): each line of a policy file allows what it describes, and nothing else is
 * allowed.
 */
import type { UserInfo } from '../../api/request.ts'
import { type Attributes, type Authorizer, type Decision, noOpinion } from './authorizer.ts'

/** A line of kind Policy (abac.authorization.kubernetes.io/v1beta1). What is not said is the empty text, which matches itself alone. */
export interface Policy {
  readonly user?: string
  readonly group?: string
  /** Allows but to get, list and watch. */
  readonly readonly?: boolean
  readonly apiGroup?: string
  readonly resource?: string
  readonly namespace?: string
  readonly nonResourcePath?: string
}

const ALL = '*'
const allowed: Decision = { verdict: 'allow', reason: '' }
const refused: Decision = { ...noOpinion, reason: 'No policy matched.' }

export function createPolicyAuthorizer(policies: readonly Policy[]): Authorizer {
  return {
    authorize: (attributes) =>
      policies.some((policy) => isSubject(policy, attributes.user) && isRequest(policy, attributes))
        ? allowed
        : refused,
  }
}

/** A part of what a policy lets a user do, as SelfSubjectRulesReview lists it. */
export type PolicyRule =
  | { readonly verbs: readonly string[]; readonly apiGroups: readonly string[]; readonly resources: readonly string[] }
  | { readonly verbs: readonly string[]; readonly nonResourceURLs: readonly string[] }

/** Paths too are listed of policies for this namespace alone, though they are allowed by all. */
export function rulesOfPolicies(policies: readonly Policy[], user: UserInfo, namespace: string): readonly PolicyRule[] {
  return policies
    .filter((policy) => isSubject(policy, user) && isAmong(policy.namespace, namespace))
    .flatMap(({ readonly = false, apiGroup = '', resource = '', nonResourcePath = '' }) => {
      const verbs = readonly ? READS : [ALL]
      return [
        ...(resource === '' ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
        ...(nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
      ]
    })
}

const isAmong = (wanted = '', value: string): boolean => wanted === ALL || wanted === value

/** What a policy names of user and group must both be so; one that names neither is about no user. */
function isSubject({ user = '', group = '' }: Policy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false
  if (user !== '' && user !== ALL && user !== name) return false
  return group === '' || group === ALL || groups.includes(group)
}

const READS = ['get', 'list', 'watch']

function isRequest(policy: Policy, attributes: Attributes): boolean {
  const { readonly = false, apiGroup, resource, namespace, nonResourcePath = '' } = policy
  if (readonly && !READS.includes(attributes.verb)) return false
  if (attributes.isResource)
    return (
      isAmong(namespace, attributes.namespace) &&
      isAmong(resource, attributes.resource) &&
      isAmong(apiGroup, attributes.group)
    )
  return nonResourcePath.endsWith(ALL)
    ? attributes.path.startsWith(nonResourcePath.slice(0, -1))
    : nonResourcePath === attributes.path
}
