/** The ServiceAccount controller: every active namespace has the account `default`. */
import type { Namespace, ServiceAccount } from '../../api/generated/types.ts'
import { isAlreadyExists, isNamespaceTerminating } from '../../api/status.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const namespacesResource = { group: '', version: 'v1', resource: 'namespaces' }
const accountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const accountName = 'default'

export function createServiceAccountController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const namespaces = informers.informer<Namespace>(namespacesResource)
  const accounts = informers.informer<ServiceAccount>(accountsResource)
  const queue = createWorkQueue<string>(runtime, 'serviceaccount')

  async function sync(name: string): Promise<void> {
    const namespace = namespaces.store.get(name)
    if (namespace?.status?.phase !== 'Active') return
    if (accounts.store.get(`${name}/${accountName}`) !== undefined) return
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: accountName, namespace: name } }
    try {
      await client.resource<ServiceAccount>(accountsResource).namespace(name).create(account)
    } catch (error) {
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error
    }
  }

  return {
    name: 'service-account-controller',
    async start() {
      const enqueue = (namespace: Namespace) => queue.add(namespace.metadata.name ?? '')
      namespaces.addHandlers({ added: enqueue, updated: (_, namespace) => enqueue(namespace) })
      accounts.addHandlers({
        deleted: (account) => {
          if (account.metadata.name === accountName) queue.add(account.metadata.namespace ?? '')
        },
      })
      await Promise.all([namespaces.whenSynced(signal), accounts.whenSynced(signal)])
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
