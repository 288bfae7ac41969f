/** Bootstrap tokens of a running cluster: made, listed and taken away by its administrator. */
import type { ConfigMap, Secret } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, ResourceClient } from '../../client/client.ts'
import { StartError } from '../errors.ts'
import { type BootstrapToken, newToken, TOKEN_TYPE, tokenSecret } from './bootstrap-token.ts'
import { clusterInfo, clusterInfoText, JOINING_RULES } from './joining-rules.ts'

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const RBAC = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const RESOURCES: Readonly<Record<string, ReturnType<typeof RBAC>>> = {
  Role: RBAC('roles'),
  RoleBinding: RBAC('rolebindings'),
  ClusterRole: RBAC('clusterroles'),
  ClusterRoleBinding: RBAC('clusterrolebindings'),
}
/** The signer writes it a moment after the token was made. */
const SIGNED_WITHIN_MS = 10_000
const LOOK_AGAIN_MS = 50

export interface TokenWish {
  /** Milliseconds; undefined: it never expires. */
  readonly ttlMs: number | undefined
  readonly description?: string
}

/** Where the machines that join find the API server, and by which authority. */
export interface Meeting {
  /** A URL. */
  readonly server: string
  /** PEM. */
  readonly ca: string
}

/** Once it resolves, the token can be used: cluster-info says where the cluster is, and is signed with it. @throws StartError */
export async function createBootstrapToken(
  runtime: Runtime,
  client: Client,
  { server, ca }: Meeting,
  { ttlMs, description }: TokenWish,
): Promise<BootstrapToken> {
  for (const object of JOINING_RULES) await ensure(clientOf(client, object), object)
  const wanted = clusterInfo(clusterInfoText(server, ca))
  const infos = client.resource<ConfigMap>(CONFIG_MAPS).namespace('kube-public')
  const found = await ensure(infos, wanted)
  // The address may be another one since the last start.
  if (found.data?.['kubeconfig'] !== wanted.data?.['kubeconfig'])
    await infos.update({ ...found, data: { ...found.data, ...wanted.data } })
  const token = newToken(runtime.random)
  const expires = ttlMs === undefined ? undefined : runtime.clock.now() + ttlMs
  await client
    .resource(SECRETS)
    .namespace('kube-system')
    .create(tokenSecret(token, expires, description))
  const until = runtime.machineClock.monotonic() + SIGNED_WITHIN_MS
  while ((await infos.get(wanted.metadata.name ?? '')).data?.[`jws-kubeconfig-${token.id}`] === undefined) {
    if (runtime.machineClock.monotonic() > until)
      throw new StartError(
        `the token ${token.id} was made, but cluster-info is not signed with it: do the controllers run (skiff status)?`,
      )
    await sleep(runtime.machineClock, LOOK_AGAIN_MS)
  }
  return token
}

export interface ListedToken {
  readonly id: string
  /** metav1.Time; undefined: it never expires. */
  readonly expires: string | undefined
  readonly description: string
}

export async function listTokens(client: Client): Promise<readonly ListedToken[]> {
  const { items } = await client
    .resource<Secret>(SECRETS)
    .namespace('kube-system')
    .list({ fieldSelector: `type=${TOKEN_TYPE}` })
  return items.map(({ data = {} }) => {
    const text = (field: string) => Buffer.from(data[field] ?? '', 'base64').toString()
    return { id: text('token-id'), expires: text('expiration') || undefined, description: text('description') }
  })
}

/** @throws StartError where there is none of that id */
export async function deleteToken(client: Client, id: string): Promise<void> {
  try {
    await client.resource(SECRETS).namespace('kube-system').delete(`bootstrap-token-${id}`)
  } catch (error) {
    if (isNotFound(error)) throw new StartError(`there is no token ${id}: skiff token list names those that there are`)
    throw error
  }
}

function clientOf(client: Client, { kind = '', metadata }: KubeObject): ResourceClient {
  const resource = RESOURCES[kind]
  if (resource === undefined) throw new Error(`no rule is a ${kind}`)
  const all = client.resource(resource)
  return metadata.namespace === undefined ? all : all.namespace(metadata.namespace)
}

/** The object as it is; made where it is missing. What an administrator has changed stays. */
async function ensure<T extends KubeObject>(resource: ResourceClient<T>, object: T): Promise<T> {
  try {
    return await resource.create(object)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return resource.get(object.metadata.name ?? '')
  }
}
