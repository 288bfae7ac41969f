/**
 * The RBAC authorizer (API concept: role-based access control): rules of the roles that bindings give to the user, its
 * groups, or its service account. What bindings say is looked up by subject in an index that is rebuilt when a role or a
 * binding changes, so that a request costs a few map look-ups.
 */

import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacV1Subject,
  Role,
  RoleBinding,
  RoleRef,
} from '../../api/generated/types.ts'
import type { UserInfo } from '../../api/request.ts'
import type { CacheReads } from '../reads.ts'
import { type Attributes, type Authorizer, type Decision, noOpinion } from './authorizer.ts'

const GROUP = 'rbac.authorization.k8s.io'

type AnyBinding = ClusterRoleBinding | RoleBinding

/** One binding as seen from one of its subjects. */
interface Grant {
  readonly binding: AnyBinding
  readonly subject: RbacV1Subject
}

export interface RoleReads {
  /** Rises with every change to roles and bindings. */
  version(): number
  /** The rules a binding's roleRef names; undefined when the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined
  /** Cluster-wide grants to this subject key, in the bindings' key order. */
  clusterGrants(subject: string): readonly Grant[]
  grants(namespace: string, subject: string): readonly Grant[]
  /** What was found for a user (as authentication keeps it); it holds until a role or a binding changes. */
  readonly found: WeakMap<UserInfo, KnownRules>
}

/** `changed` lets the index notice changes: it must rise with every change to roles and bindings. */
export function createRoleReads(reads: CacheReads, changed: () => number): RoleReads {
  let builtAt = -1
  let cluster = new Map<string, Grant[]>()
  let namespaced = new Map<string, Map<string, Grant[]>>()
  const index = (into: Map<string, Grant[]>, binding: AnyBinding) => {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, binding.metadata.namespace ?? '')
      if (key === undefined) continue
      const list = into.get(key)
      if (list) list.push({ binding, subject })
      else into.set(key, [{ binding, subject }])
    }
  }
  const refresh = () => {
    const now = changed()
    if (now === builtAt) return
    builtAt = now
    cluster = new Map()
    namespaced = new Map()
    for (const binding of reads.list<ClusterRoleBinding>(GROUP, 'clusterrolebindings')) index(cluster, binding)
    for (const binding of reads.list<RoleBinding>(GROUP, 'rolebindings')) {
      const namespace = binding.metadata.namespace ?? ''
      let inNamespace = namespaced.get(namespace)
      if (!inNamespace) {
        inNamespace = new Map()
        namespaced.set(namespace, inNamespace)
      }
      index(inNamespace, binding)
    }
  }
  return {
    version: changed,
    found: new WeakMap(),
    rulesOf: (roleRef, namespace) => {
      const role =
        roleRef.kind === 'ClusterRole'
          ? reads.get<ClusterRole>(GROUP, 'clusterroles', '', roleRef.name)
          : reads.get<Role>(GROUP, 'roles', namespace, roleRef.name)
      return role && (role.rules ?? [])
    },
    clusterGrants: (subject) => {
      refresh()
      return cluster.get(subject) ?? []
    },
    grants: (namespace, subject) => {
      refresh()
      return namespaced.get(namespace)?.get(subject) ?? []
    },
  }
}

/** A subject as a key of the index. A ServiceAccount subject without a namespace means the binding's own. */
function subjectKey(subject: RbacV1Subject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case 'User':
      return `u:${subject.name}`
    case 'Group':
      return `g:${subject.name}`
    case 'ServiceAccount':
      return `u:system:serviceaccount:${subject.namespace || bindingNamespace}:${subject.name}`
    default:
      return undefined
  }
}

function subjectKeys(user: UserInfo): readonly string[] {
  return [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)]
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(value))

function resourceMatches(rule: PolicyRule, resource: string, subresource: string): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return (rule.resources ?? []).some(
    (named) => named === '*' || named === combined || (subresource !== '' && named === `*/${subresource}`),
  )
}

function urlMatches(rule: PolicyRule, path: string): boolean {
  return (rule.nonResourceURLs ?? []).some(
    (url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
  )
}

/** Whether one rule allows the request. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false
  if (!attributes.isResource) return urlMatches(rule, attributes.path)
  return (
    has(rule.apiGroups, attributes.group) &&
    resourceMatches(rule, attributes.resource, attributes.subresource) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(attributes.name))
  )
}

function describe(grant: Grant): string {
  const { binding, subject } = grant
  const of = `of ${binding.roleRef.kind} "${binding.roleRef.name}"`
  const bindingNamespace = binding.metadata.namespace
  const what =
    bindingNamespace === undefined
      ? `ClusterRoleBinding "${binding.metadata.name}"`
      : `RoleBinding "${binding.metadata.name}/${bindingNamespace}"`
  const to =
    subject.kind === 'ServiceAccount'
      ? `ServiceAccount "${subject.name}/${subject.namespace || (bindingNamespace ?? '')}"`
      : `${subject.kind} "${subject.name}"`
  return `RBAC: allowed by ${what} ${of} to ${to}`
}

export interface GrantedRule {
  readonly rule: PolicyRule
  readonly describe: () => string
}

/** The rules that a user is granted, and a sentence for each granted role that does not exist. */
export interface Granted {
  readonly rules: readonly GrantedRule[]
  readonly missing: readonly string[]
}

export interface KnownRules {
  readonly version: number
  readonly byNamespace: Map<string, Granted>
}

const NAMESPACES = 256
const LONGEST_NAMESPACE = 63

/** Every rule that holds for a user in a namespace ('' for cluster-wide alone), with the binding it comes from. */
export function grantedRules(roles: RoleReads, user: UserInfo, namespace: string): Granted {
  const version = roles.version()
  let ofUser = roles.found.get(user)
  if (ofUser === undefined || ofUser.version !== version || ofUser.byNamespace.size > NAMESPACES) {
    ofUser = { version, byNamespace: new Map() }
    roles.found.set(user, ofUser)
  }
  let granted = ofUser.byNamespace.get(namespace)
  if (granted === undefined) {
    granted = findRules(roles, user, namespace)
    // Longer ones are no namespaces, and must not fill the memory.
    if (namespace.length <= LONGEST_NAMESPACE) ofUser.byNamespace.set(namespace, granted)
  }
  return granted
}

/** A binding grants once, by the first of its subjects that a user is. */
function oncePerBinding(grants: readonly Grant[]): readonly Grant[] {
  const first = new Map<AnyBinding, Grant>()
  const placeOf = ({ binding, subject }: Grant) => binding.subjects?.indexOf(subject) ?? 0
  for (const grant of grants) {
    const known = first.get(grant.binding)
    if (known === undefined || placeOf(grant) < placeOf(known)) first.set(grant.binding, grant)
  }
  return [...first.values()]
}

function findRules(roles: RoleReads, user: UserInfo, namespace: string): Granted {
  const keys = subjectKeys(user)
  const found: GrantedRule[] = []
  const missing: string[] = []
  const add = (grants: readonly Grant[], roleNamespace: string) => {
    const inOrder = oncePerBinding(grants).toSorted((a, b) =>
      (a.binding.metadata.name ?? '') < (b.binding.metadata.name ?? '') ? -1 : 1,
    )
    for (const grant of inOrder) {
      let text: string | undefined
      const described = () => {
        text ??= describe(grant)
        return text
      }
      const { roleRef } = grant.binding
      const rules = roles.rulesOf(roleRef, roleNamespace)
      if (rules === undefined)
        missing.push(`${roleRef.kind.toLowerCase()}.${GROUP} ${JSON.stringify(roleRef.name)} not found`)
      else for (const rule of rules) found.push({ rule, describe: described })
    }
  }
  add(
    keys.flatMap((key) => roles.clusterGrants(key)),
    '',
  )
  if (namespace !== '')
    add(
      keys.flatMap((key) => roles.grants(namespace, key)),
      namespace,
    )
  return { rules: found, missing }
}

/** Several problems as Go prints them together. */
export const together = (problems: readonly string[]): string =>
  problems.length === 1 ? `${problems[0]}` : `[${problems.join(', ')}]`

export function createRbacAuthorizer(roles: RoleReads): Authorizer {
  return {
    authorize: (attributes): Decision => {
      const { rules, missing } = grantedRules(roles, attributes.user, attributes.namespace)
      for (const { rule, describe } of rules)
        if (ruleAllows(rule, attributes)) return { verdict: 'allow', reason: describe() }
      return missing.length === 0 ? noOpinion : { verdict: 'no opinion', reason: `RBAC: ${together(missing)}` }
    },
  }
}
