/**
 * Privilege escalation (API concept: RBAC, restrictions on role creation and binding): a user writes no role with rights that
 * user has not, and binds none, unless allowed to `escalate` or `bind` it. Asked before a role or binding is written.
 *
 * `bind` is asked in the binding's namespace, of cluster roles too; `escalate` by the name in the request's path, which a POST
 * has not.
 */
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { forbidden, notFound, StatusError } from '../../api/status.ts'
import type { Attributes, Authorizer } from '../auth/authorizer.ts'
import { grantedRules, type RoleReads } from '../auth/rbac.ts'
import { sameObject } from '../registry/same.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './plugin.ts'

/** As it came: judged before its strategy's rules are. */
type AnyRole = Given<Role & ClusterRole>
type AnyBinding = Given<RoleBinding | ClusterRoleBinding>

const GROUP = 'rbac.authorization.k8s.io'
const ALL: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

export function createEscalationGuard(authorizer: Authorizer, roles: RoleReads): AdmissionPlugin {
  const may = async (user: UserInfo, verb: string, resource: string, namespace: string, name: string) => {
    const attributes: Attributes = {
      user,
      verb,
      isResource: true,
      group: GROUP,
      version: 'v1',
      resource,
      subresource: '',
      namespace,
      name,
      path: '',
    }
    return (await authorizer.authorize(attributes)).verdict === 'allow'
  }
  const uncovered = (user: UserInfo, namespace: string, wanted: readonly PolicyRule[]) => {
    const held = grantedRules(roles, user, namespace).rules.map(({ rule }) => rule)
    return wanted.flatMap(simpleRules).filter((rule) => !held.some((owned) => covers(owned, rule)))
  }
  const checkRole = async (attributes: AdmissionAttributes, role: AnyRole, namespace: string) => {
    const { user, endpoint } = attributes
    const { row } = endpoint
    if (await may(user, 'escalate', row.resource, namespace, nameInPath(attributes))) return
    const gr = { group: GROUP, resource: row.resource }
    const name = role.metadata.name ?? ''
    const missing = uncovered(user, namespace, role.rules ?? [])
    if (missing.length > 0) throw forbidden(gr, name, escalationMessage(user, missing))
    // What gathers rules may gather any, and what gathered them has them still.
    if ((gathers(role) || gathers(attributes.oldObject)) && uncovered(user, '', ALL).length > 0)
      throw forbidden(gr, name, 'must have cluster-admin privileges to use the aggregationRule')
  }
  const checkBinding = async (attributes: AdmissionAttributes, binding: AnyBinding, namespace: string) => {
    const { user, endpoint } = attributes
    const { row } = endpoint
    const { kind = '', name: roleName = '', apiGroup = '' } = binding.roleRef ?? {}
    const cluster = kind === 'ClusterRole'
    if (await may(user, 'bind', cluster ? 'clusterroles' : 'roles', namespace, roleName)) return
    const gr = { group: GROUP, resource: row.resource }
    if (!cluster && kind !== 'Role')
      throw new StatusError(500, '', `unsupported role reference kind: ${JSON.stringify(kind)}`)
    const rules = roles.rulesOf({ apiGroup, kind, name: roleName }, namespace)
    if (rules === undefined) throw notFound(gr, roleName)
    const missing = uncovered(user, namespace, rules)
    if (missing.length > 0) throw forbidden(gr, binding.metadata.name ?? '', escalationMessage(user, missing))
  }
  return {
    name: 'RBACEscalation',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    mutate(attributes) {
      const { endpoint, object, oldObject, subresource, user } = attributes
      const { row } = endpoint
      if (row.group !== GROUP || object === undefined || subresource !== '') return object!
      // Superusers hold everything.
      if (user.groups.includes('system:masters') || isBookkeeping(object, oldObject)) return object
      const namespace = row.namespaced ? attributes.namespace : ''
      const check = row.resource.endsWith('bindings') ? checkBinding : checkRole
      return check(attributes, object, namespace).then(() => object)
    },
  }
}

const gathers = (role: AnyRole | undefined): boolean => (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0

const nameInPath = ({ options, name }: AdmissionAttributes): string => (options['kind'] === 'CreateOptions' ? '' : name)

/** Metadata that the garbage collector changes, or the server itself: a write that changes nothing else grants nothing. */
const BOOKKEEPING = new Set(['finalizers', 'ownerReferences', 'managedFields', 'resourceVersion', 'generation'])

function isBookkeeping(object: KubeObject, old: KubeObject | undefined): boolean {
  if (old === undefined) return false
  const rest = (of: KubeObject): KubeObject => ({
    ...of,
    metadata: Object.fromEntries(Object.entries(of.metadata).filter(([field]) => !BOOKKEEPING.has(field))),
  })
  return sameObject(rest(object), rest(old))
}

/** One verb on one resource of one group, by one name at most: what can be held or not as a whole. */
function simpleRules(rule: PolicyRule): readonly PolicyRule[] {
  const verbs = rule.verbs ?? []
  const urls = (rule.nonResourceURLs ?? []).flatMap((url) =>
    verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })),
  )
  const names = rule.resourceNames?.length ? rule.resourceNames.map((name) => [name]) : [undefined]
  const resources = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      names.flatMap((resourceNames) =>
        verbs.map((verb) => ({
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          ...(resourceNames ? { resourceNames } : {}),
        })),
      ),
    ),
  )
  return [...resources, ...urls]
}

const holds = (list: readonly string[] | undefined, value: string) =>
  list !== undefined && (list.includes('*') || list.includes(value))

function covers(owned: PolicyRule, simple: PolicyRule): boolean {
  if (!holds(owned.verbs, simple.verbs?.[0] ?? '')) return false
  const url = simple.nonResourceURLs?.[0]
  if (url !== undefined)
    return (owned.nonResourceURLs ?? []).some(
      (own) => own === '*' || own === url || (own.endsWith('*') && url.startsWith(own.slice(0, -1))),
    )
  const resource = simple.resources?.[0] ?? ''
  const slash = resource.indexOf('/')
  const resourceHeld =
    holds(owned.resources, resource) || (slash >= 0 && (owned.resources ?? []).includes(`*${resource.slice(slash)}`))
  return (
    resourceHeld &&
    holds(owned.apiGroups, simple.apiGroups?.[0] ?? '') &&
    (!owned.resourceNames?.length ||
      (simple.resourceNames?.length === 1 && owned.resourceNames.includes(simple.resourceNames[0] ?? '')))
  )
}

function escalationMessage(user: UserInfo, missing: readonly PolicyRule[]): string {
  const groups = user.groups.map((group) => JSON.stringify(group)).join(' ')
  return `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${compact(missing).join('\n')}`
}

/** Verbs of the same thing in one rule, the rules' texts sorted. */
function compact(rules: readonly PolicyRule[]): readonly string[] {
  const byTarget = new Map<string, string[]>()
  for (const rule of rules) {
    const target = [
      list('APIGroups', rule.apiGroups),
      list('Resources', rule.resources),
      list('ResourceNames', rule.resourceNames),
      list('NonResourceURLs', rule.nonResourceURLs),
    ]
      .filter((part) => part !== '')
      .join(', ')
    const verbs = byTarget.get(target)
    const verb = rule.verbs?.[0] ?? ''
    if (verbs === undefined) byTarget.set(target, [verb])
    else if (!verbs.includes(verb)) verbs.push(verb)
  }
  return [...byTarget].map(([target, verbs]) => `{${target}, ${list('Verbs', verbs)}}`).sort()
}

const list = (name: string, values: readonly string[] | undefined): string =>
  values?.length ? `${name}:[${values.map((value) => JSON.stringify(value)).join(' ')}]` : ''
