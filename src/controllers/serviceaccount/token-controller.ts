/**
 * The token controller: Secrets of type kubernetes.io/service-account-token get a token of the account that they name, and go
 * with it; an account that lists one that has gone lists it no longer. The controller manager starts it with what holds the key.
 */
import type { Secret, ServiceAccount } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

export type SignToken = (claims: Readonly<Record<string, string>>) => string

const secretsResource = { group: '', version: 'v1', resource: 'secrets' }
const accountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const fieldSelector = 'type=kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'
const claim = 'kubernetes.io/serviceaccount'
const accountIndex = 'service account'
const workers = 5

export function createTokenController(context: ControllerContext, rootCa: string, signToken: SignToken): Controller {
  const { runtime, client, informers, signal } = context
  const secrets = informers.informer<Secret>(secretsResource, { fieldSelector })
  const accounts = informers.informer<ServiceAccount>(accountsResource)
  const queue = createWorkQueue<string>(runtime, 'serviceaccount_tokens_service')
  const accountKeyOf = ({ metadata }: KubeObject) =>
    `${metadata.namespace}/${metadata.annotations?.[nameAnnotation] ?? ''}`
  const clientOf = (resource: typeof secretsResource, { metadata }: KubeObject) =>
    client.resource(resource).namespace(metadata.namespace ?? '')

  /** Secrets that have gone, as they were, until their accounts list them no longer. */
  const gone = new Map<string, Secret>()

  async function sync(key: string): Promise<void> {
    const last = gone.get(key)
    if (last !== undefined) {
      await unlist(last)
      if (gone.get(key) === last) gone.delete(key)
    }
    const secret = secrets.store.get(key)
    if (secret === undefined || !secret.metadata.annotations?.[nameAnnotation]) return
    const account = await accountOf(secret)
    const meant: string | undefined = secret.metadata.annotations[uidAnnotation]
    if (account === undefined || (meant !== undefined && meant !== account.metadata.uid)) return remove(secret)
    const next = filled(secret, account)
    if (next === undefined) return
    await clientOf(secretsResource, secret)
      .update(next)
      .catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }

  /** A conflict is tried again by the queue. */
  async function unlist(secret: Secret): Promise<void> {
    const { name, annotations } = secret.metadata
    if (accounts.store.get(accountKeyOf(secret)) === undefined) return
    const own = client.resource<ServiceAccount>(accountsResource).namespace(secret.metadata.namespace ?? '')
    try {
      const account = await own.get(annotations?.[nameAnnotation] ?? '')
      const meant = annotations?.[uidAnnotation]
      const { secrets: listed = [], ...rest } = account
      const kept = listed.filter((one) => one.name !== name)
      if (kept.length === listed.length || (meant !== undefined && meant !== account.metadata.uid)) return
      await own.update({ ...rest, ...(kept.length > 0 ? { secrets: kept } : {}) })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** The informer may not have heard of it yet. */
  async function accountOf(secret: Secret): Promise<KubeObject | undefined> {
    const known = accounts.store.get(accountKeyOf(secret))
    if (known !== undefined) return known
    return clientOf(accountsResource, secret)
      .get(secret.metadata.annotations?.[nameAnnotation] ?? '')
      .catch((error) => {
        if (isNotFound(error)) return undefined
        throw error
      })
  }

  async function remove(secret: Secret): Promise<void> {
    const { name = '', uid = '' } = secret.metadata
    await clientOf(secretsResource, secret)
      .delete(name, { preconditions: { uid } })
      .catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }

  /** undefined when no data is missing: the account's uid is annotated beside what was missing, and not restored by itself. */
  function filled(secret: Secret, account: KubeObject): KubeObject | undefined {
    const { namespace = '', name = '', annotations } = secret.metadata
    const { name: accountName = '', uid = '' } = account.metadata
    const data: Readonly<Record<string, string>> = secret.data ?? {}
    const encode = (text: string) => Buffer.from(text).toString('base64')
    const ca = encode(rootCa)
    if (data['token'] && data['namespace'] && data['ca.crt'] === ca) return undefined
    const token = () =>
      signToken({
        iss: 'kubernetes/serviceaccount',
        [`${claim}/namespace`]: namespace,
        [`${claim}/secret.name`]: name,
        [`${claim}/service-account.name`]: accountName,
        [`${claim}/service-account.uid`]: uid,
        sub: `system:serviceaccount:${namespace}:${accountName}`,
      })
    return {
      ...secret,
      metadata: { ...secret.metadata, annotations: { ...annotations, [uidAnnotation]: uid } },
      data: { ...data, 'ca.crt': ca, namespace: encode(namespace), token: data['token'] ?? encode(token()) },
    }
  }

  return {
    name: 'serviceaccount-token-controller',
    async start() {
      secrets.addIndex(accountIndex, (secret) => [accountKeyOf(secret)])
      const enqueue = (secret: Secret) => queue.add(objectKey(secret))
      secrets.addHandlers({
        added: enqueue,
        updated: (_, secret) => enqueue(secret),
        deleted: (secret) => {
          gone.set(objectKey(secret), secret)
          enqueue(secret)
        },
      })
      // One that is made brings nothing: a Secret that names an account of another uid is looked at when it changes itself.
      const enqueueOf = (account: KubeObject) => {
        for (const secret of secrets.store.byIndex(accountIndex, objectKey(account))) enqueue(secret)
      }
      accounts.addHandlers({ deleted: enqueueOf })
      await Promise.all([secrets.whenSynced(signal), accounts.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
