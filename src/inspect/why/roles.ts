/** What roles and bindings let service accounts do, read as they stand, where the cluster's authorizers may not be asked. */
import type { ClusterRole, ClusterRoleBinding } from '../../api/generated/types.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import type { ClusterReader } from '../cluster-reader.ts'
import { COMMON_WORD } from './common-words.ts'
import { isKubernetes } from './failures.ts'
import type { ObjectRef } from './finding.ts'
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, itemsOf, ROLE_BINDINGS, ROLES } from './look.ts'

interface Grants {
  readonly bindings: readonly ClusterRoleBinding[]
  /** By kind, namespace and name. */
  readonly roles: ReadonlyMap<string, ClusterRole>
  readonly isWhole: boolean
}

const keyOf = (kind: string, namespace: string, name: string) => `${kind}/${kind === 'Role' ? namespace : ''}/${name}`

/** @param namespace '': all */
async function readGrants(reader: ClusterReader, namespace: string): Promise<Grants> {
  const inNamespace = namespace === '' ? {} : { namespace }
  const [clusterRoles, clusterBindings, roles, bindings] = await Promise.all([
    reader.list<ClusterRole>(CLUSTER_ROLES),
    reader.list<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS),
    reader.list<ClusterRole>(ROLES, inNamespace),
    reader.list<ClusterRoleBinding>(ROLE_BINDINGS, inNamespace),
  ])
  return {
    bindings: [...itemsOf(clusterBindings), ...itemsOf(bindings)],
    roles: new Map([
      ...itemsOf(clusterRoles).map((role) => [keyOf('ClusterRole', '', role.metadata.name ?? ''), role] as const),
      ...itemsOf(roles).map(
        (role) => [keyOf('Role', role.metadata.namespace ?? '', role.metadata.name ?? ''), role] as const,
      ),
    ]),
    isWhole: [clusterRoles, clusterBindings, roles, bindings].every(({ state }) => state === 'found'),
  }
}

const roleOf = ({ roles }: Grants, { roleRef, metadata }: ClusterRoleBinding) =>
  roles.get(keyOf(roleRef.kind, metadata.namespace ?? '', roleRef.name))

/** Whether a role lets write the resource; `byName`: only where it names the resource's group. */
const writes = ({ rules }: ClusterRole, { group, resource }: ObjectRef, byName: boolean): boolean =>
  (rules ?? []).some(
    ({ apiGroups = [], resources = [], resourceNames = [], verbs = [] }) =>
      (apiGroups.includes(group) || (!byName && apiGroups.includes('*'))) &&
      resources.some((one) => one === '*' || one === resource) &&
      resourceNames.length === 0 &&
      verbs.some((verb) => verb === '*' || verb === 'update' || verb === 'patch'),
  )

/**
 * Service accounts that a role lets write the object's resource by name of its group. `everywhere`: in
 * whichever namespace.
 */
export async function accountsOfGroup(reader: ClusterReader, ref: ObjectRef, everywhere = false): Promise<Accounts> {
  const { group, resource, namespace } = ref
  if (isKubernetes(group)) return new Map()
  const grants = await readGrants(reader, everywhere ? '' : namespace)
  const what = `${resource}.${group}`
  return accountsBy(grants, everywhere, false, (role) => (writes(role, ref, true) ? what : undefined))
}

/**
 * `prow` of prow.k8s.io and prow.x-k8s.io, `karpenter` of karpenter.sh and karpenter.k8s.aws. '' where that is a word of many (example.com,
 * cluster.x-k8s.io, services.k8s.aws), and where the domain is of a family (snapshot.storage.k8s.io), whose programs are told apart by more.
 */
function softwareOf(domain: string): string {
  const word = /^([a-z0-9-]{4,63})\.(?:(?:x-)?k8s\.(?:io|aws)|[a-z]{2,63})$/.exec(domain)?.[1] ?? ''
  return COMMON_WORD.test(word) || firstLabelsOfKubernetes().has(word) ? '' : word
}

const firstLabelsOfKubernetes = (): ReadonlySet<string> =>
  new Set(
    builtinScheme()
      .groups()
      .keys()
      .map((group) => group.split('.')[0] ?? ''),
  )

/**
 * The same of any resource of the group that a finalizer's name begins with: what serves that group has put it there. Where no role is for
 * it, of a group that is named alike.
 */
export async function accountsOfDomain(
  reader: ClusterReader,
  domain: string,
  namespace: string,
  everywhere = false,
): Promise<Accounts> {
  if (isKubernetes(domain)) return new Map()
  const grants = await readGrants(reader, everywhere ? '' : namespace)
  const writesOf = (isMeant: (group: string) => boolean) => (role: ClusterRole) => {
    const group = groupsWritten(role).find(isMeant)
    return group === undefined ? undefined : `objects of ${group}`
  }
  const exact = accountsBy(
    grants,
    everywhere,
    false,
    writesOf((group) => group === domain),
  )
  const software = softwareOf(domain)
  if (exact.size > 0 || software === '') return exact
  const isAlike = (group: string) => !isKubernetes(group) && softwareOf(group) === software
  return accountsBy(grants, everywhere, true, writesOf(isAlike))
}

const groupsWritten = ({ rules }: ClusterRole): readonly string[] =>
  (rules ?? []).flatMap(({ apiGroups = [], verbs = [] }) =>
    verbs.some((verb) => verb === '*' || verb === 'update' || verb === 'patch') ? apiGroups : [],
  )

/** Service accounts by `namespace/name`, each with why. `isAlike`: what it may write is of a group that is only named alike. */
export type Accounts = ReadonlyMap<string, { readonly evidence: string; readonly isAlike: boolean }>

/** @param whatOf what the role lets write of what is meant, in words */
function accountsBy(
  grants: Grants,
  everywhere: boolean,
  isAlike: boolean,
  whatOf: (role: ClusterRole) => string | undefined,
): Accounts {
  const accounts = new Map<string, { readonly evidence: string; readonly isAlike: boolean }>()
  for (const binding of grants.bindings) {
    const role = roleOf(grants, binding)
    const what = role === undefined ? undefined : whatOf(role)
    if (what === undefined) continue
    for (const subject of binding.subjects ?? []) {
      if (subject.kind !== 'ServiceAccount') continue
      const account = `${subject.namespace ?? binding.metadata.namespace ?? ''}/${subject.name}`
      const { kind, name } = binding.roleRef
      const { namespace: within = '' } = binding.metadata
      const where = everywhere && within !== '' ? ` in namespace ${within}` : ''
      accounts.set(account, {
        evidence: `its account ${account} may write ${what}${where} by ${kind} ${name}`,
        isAlike,
      })
    }
  }
  return accounts
}

export interface Account {
  readonly user: string
  readonly groups: readonly string[]
  readonly account: { readonly namespace: string; readonly name: string }
}

const isSubject = ({ subjects, metadata }: ClusterRoleBinding, { user, groups, account }: Account): boolean =>
  (subjects ?? []).some(({ kind, name, namespace = '' }) =>
    kind === 'ServiceAccount'
      ? name === account.name && (namespace || metadata.namespace) === account.namespace
      : kind === 'Group'
        ? groups.includes(name)
        : name === user,
  )

/**
 * Whether that account has all the roles that it is bound to, and they are for operators' kinds of other groups: what runs as it is
 * another program, not one whose role went.
 */
export async function servesOtherGroups(reader: ClusterReader, account: Account, { namespace, group }: ObjectRef) {
  const grants = await readGrants(reader, namespace)
  const roles = grants.bindings.filter((binding) => isSubject(binding, account)).map((one) => roleOf(grants, one))
  if (!grants.isWhole || roles.includes(undefined)) return false
  const groups = roles.flatMap((role) => (role?.rules ?? []).flatMap(({ apiGroups = [] }) => apiGroups))
  return !groups.includes('*') && !groups.includes(group) && groups.some((one) => !isKubernetes(one))
}

/** Whether a role lets that account write the object's resource; undefined when roles and bindings may not be seen. */
export async function isGranted(reader: ClusterReader, account: Account, ref: ObjectRef): Promise<boolean | undefined> {
  const grants = await readGrants(reader, ref.namespace)
  const isGrant = grants.bindings.some((binding) => {
    const role = isSubject(binding, account) ? roleOf(grants, binding) : undefined
    return role !== undefined && writes(role, ref, false)
  })
  return isGrant ? true : grants.isWhole ? false : undefined
}
