/**
 * The ephemeral volume controller: makes the claims of generic ephemeral volumes, which go with their pods (KEP-1698). The
 * controller manager starts it. What becomes of a claim is the volume binder's business.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
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
  const pods = informers.informer(podsResource)
  const claims = informers.informer(claimsResource)
  const queue = createWorkQueue<string>(runtime, 'ephemeral_volume')
  const recorder = createEventRecorder(runtime, client, { component: 'ephemeral_volume' })

  const look = (pod: KubeObject) => {
    if (isTerminated(pod) || pod.metadata.deletionTimestamp !== undefined) return
    if (ephemeralVolumes(pod).length > 0) queue.add(objectKey(pod))
  }

  async function sync(key: string): Promise<void> {
    const pod = pods.store.get(key)
    if (pod === undefined || isTerminated(pod) || pod.metadata.deletionTimestamp !== undefined) return
    for (const volume of ephemeralVolumes(pod)) await provide(pod, volume)
  }

  async function provide(pod: KubeObject, volume: Fields): Promise<void> {
    const { namespace = '', name: podName } = pod.metadata
    const claimName = `${podName}-${volume['name']}`
    const present = claims.store.get(`${namespace}/${claimName}`)
    if (present === undefined) {
      await client
        .resource(claimsResource)
        .namespace(namespace)
        .create(claimOf(pod, claimName, volume))
      return
    }
    if (controllerOf(present)?.uid === pod.metadata.uid) return
    const why = `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`
    recorder.event(pod, 'Warning', 'FailedBinding', `ephemeral volume ${volume['name']}: ${why}`)
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
      runWorkers(runtime, queue, workers, sync, signal)
    },
  }
}

const ephemeralVolumes = (pod: KubeObject): readonly Fields[] =>
  ((pod['spec'].volumes ?? []) as readonly Fields[]).filter((volume) => volume['ephemeral'] !== undefined)

function claimOf(pod: KubeObject, claimName: string, volume: Fields): KubeObject {
  const { metadata = {}, spec } = volume['ephemeral'].volumeClaimTemplate as Fields
  const { labels, annotations } = metadata as Fields
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
