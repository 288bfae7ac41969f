/** The PV protection controller: a volume that is deleted stays while it is bound. The controller manager starts it. */
import type { PersistentVolume } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { isNotFound } from '../../api/status.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { withFinalizer, withoutFinalizer } from './protection-finalizers.ts'

const volumesResource = { group: '', version: 'v1', resource: 'persistentvolumes' }
const finalizer = 'kubernetes.io/pv-protection'

export function createPvProtectionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const volumes = informers.informer<PersistentVolume>(volumesResource)
  const queue = createWorkQueue<string>(runtime, 'pvprotection')
  const resource = client.resource<PersistentVolume>(volumesResource)

  async function sync(key: string): Promise<void> {
    const volume = volumes.store.get(key)
    if (volume === undefined) return
    const held = hasFinalizer(volume, finalizer)
    try {
      if (volume.metadata.deletionTimestamp === undefined) {
        if (!held) await resource.update(withFinalizer(volume, finalizer))
      } else if (held && volume.status?.phase !== 'Bound') await resource.update(withoutFinalizer(volume, finalizer))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  return {
    name: 'pv-protection-controller',
    async start() {
      const enqueue = (volume: PersistentVolume) => queue.add(objectKey(volume))
      volumes.addHandlers({ added: enqueue, updated: (_, volume) => enqueue(volume) })
      await volumes.whenSynced(signal)
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
