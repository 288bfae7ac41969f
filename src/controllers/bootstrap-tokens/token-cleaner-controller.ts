/** The token cleaner: deletes the Secrets of bootstrap tokens once they have expired. The controller manager starts it. */
import type { Secret } from '../../api/generated/types.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { expirationOf, secretsResource, tokenSelector } from './token-secret.ts'

const workers = 10

export function createTokenCleaner({ runtime, client, informers, signal }: ControllerContext): Controller {
  const secrets = informers.informer<Secret>(secretsResource, tokenSelector)
  const queue = createWorkQueue<string>(runtime, 'token_cleaner')

  async function sync(key: string): Promise<void> {
    const secret = secrets.store.get(key)
    if (secret === undefined) return
    const left = expirationOf(secret) - runtime.clock.now()
    if (left > 0) {
      if (left < Number.POSITIVE_INFINITY) queue.addAfter(key, left)
      return
    }
    const { namespace = '', name = '', uid = '' } = secret.metadata
    try {
      await client.resource<Secret>(secretsResource).namespace(namespace).delete(name, { preconditions: { uid } })
    } catch (error) {
      // Another with its name is not the one that has expired.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  return {
    name: 'token-cleaner',
    async start() {
      const enqueue = (secret: Secret) => queue.add(objectKey(secret))
      secrets.addHandlers({ added: enqueue, updated: (_, secret) => enqueue(secret) })
      await secrets.whenSynced(signal)
      runWorkers(runtime, queue, workers, sync, signal)
    },
  }
}
