/** Users of this process: what they may do stands in ClusterRoles. */
import type { ClusterRole, ClusterRoleBinding } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { UserInfo } from '../api/request.ts'
import { sameJson } from '../api/same.ts'
import { isAlreadyExists, isNotFound } from '../api/status.ts'
import type { Client, ResourceClient } from '../client/client.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** `client`: an administrator's; `resources`: by their groups. @throws StatusError */
export async function ensureReader(
  client: Client,
  name: string,
  resources: Readonly<Record<string, readonly string[]>>,
): Promise<UserInfo> {
  const rules = Object.entries(resources).map(([group, these]) => ({
    apiGroups: [group],
    resources: these,
    verbs: ['list', 'watch'],
  }))
  await ensureRole(client, name, name, rules)
  return { name, groups: ['system:authenticated'] }
}

/** A ClusterRole of this name, and a ClusterRoleBinding that gives it to the user. `client`: an administrator's. @throws StatusError */
export async function ensureRole(
  client: Client,
  name: string,
  user: string,
  rules: NonNullable<ClusterRole['rules']>,
): Promise<void> {
  const shared = { apiVersion: `${RBAC}/v1`, metadata: { name } }
  const roles = client.resource<ClusterRole>({ group: RBAC, version: 'v1', resource: 'clusterroles' })
  const bindings = client.resource<ClusterRoleBinding>({ group: RBAC, version: 'v1', resource: 'clusterrolebindings' })
  await ensure(roles, { ...shared, kind: 'ClusterRole', rules })
  await ensure(bindings, {
    ...shared,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  })
}

/** Of several that make it at once one does. @throws StatusError */
export async function createUnlessThere<T extends KubeObject>(client: ResourceClient<T>, wanted: T): Promise<void> {
  try {
    await client.create(wanted)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

async function ensure<T extends KubeObject>(client: ResourceClient<T>, wanted: T): Promise<void> {
  const { apiVersion, kind, metadata, ...fields } = wanted
  let existing: T
  try {
    existing = await client.get(metadata.name ?? '')
  } catch (error) {
    if (!isNotFound(error)) throw error
    return createUnlessThere(client, wanted)
  }
  if (Object.entries(fields).every(([field, value]) => sameJson(existing[field], value))) return
  await client.update({ ...existing, ...fields })
}
