/**
 * The ephemeral volume controller: makes the claims of generic ephemeral volumes, which go with their pods (KEP-1698). The
 * controller manager starts it. What becomes of a claim is the volume binder's business.
 */
import type { ObjectMeta, PersistentVolumeClaim, Pod, Volume } from '../../api/generated/types.ts'
import { claimIndex, claimsOf } from '../../api/objects/pod-claims.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { controllerOf, controllerReference, isTerminated, podsResource } from '../pods/pod.ts'

const name = 'ephemeral-volume-controller'
const claimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const workers = 1

export function createEphemeralVolumeController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const pods = informers.informer<Pod>(podsResource)
  const claims = informers.informer<PersistentVolumeClaim>(claimsResource)
  const queue = createWorkQueue<string>(runtime, 'ephemeral_volume')
  const recorder = createEventRecorder(runtime, client, { component: 'ephemeral_volume' })

  const created = (name: string, help: string) =>
    runtime.metrics?.counter(`ephemeral_volume_controller_${name}_total`, help).child()
  const creates = created('create', 'Claims that were to be made.')
  const failures = created('create_failures', 'Claims that could not be made.')

  const look = (pod: Pod) => {
    if (isTerminated(pod) || pod.metadata.deletionTimestamp !== undefined) return
    if (ephemeralVolumes(pod).length > 0) queue.add(objectKey(pod))
  }

  async function sync(key: string): Promise<void> {
    const pod = pods.store.get(key)
    if (pod === undefined || isTerminated(pod) || pod.metadata.deletionTimestamp !== undefined) return
    for (const volume of ephemeralVolumes(pod)) await provide(pod, volume)
  }

  async function provide(pod: Pod, volume: Volume): Promise<void> {
    const { namespace = '', name: podName } = pod.metadata
    const claimName = `${podName}-${volume.name}`
    const present = claims.store.get(`${namespace}/${claimName}`)
    if (present === undefined) {
      creates?.add()
      const resource = client.resource<PersistentVolumeClaim>(claimsResource).namespace(namespace)
      await resource.create(claimOf(pod, claimName, volume)).catch((error) => {
        failures?.add()
        throw error
      })
      return
    }
    if (controllerOf(present)?.uid === pod.metadata.uid) return
    const why = `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`
    recorder.event(pod, 'Warning', 'FailedBinding', `ephemeral volume ${volume.name}: ${why}`)
    throw new Error(why)
  }

  return {
    name,
    async start() {
      pods.addIndex(claimIndex, claimsOf)
      pods.addHandlers({ added: look })
      // Another's claim of that name was in the way.
      claims.addHandlers({
        deleted: (claim) => {
          for (const pod of pods.store.byIndex(claimIndex, objectKey(claim))) look(pod)
        },
      })
      await Promise.all([pods.whenSynced(signal), claims.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

const ephemeralVolumes = (pod: Pod): readonly Volume[] =>
  (pod.spec?.volumes ?? []).filter((volume) => volume.ephemeral !== undefined)

function claimOf(pod: Pod, claimName: string, volume: Volume): PersistentVolumeClaim {
  const { metadata = {}, spec } = volume.ephemeral!.volumeClaimTemplate!
  const { labels, annotations } = metadata as ObjectMeta
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ownerReferences: [controllerReference(pod)],
    },
    spec,
  }
}
