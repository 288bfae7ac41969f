/**
 * The ReplicaSet and ReplicationController controllers: exactly N pods of a template, adopted, created or deleted. One
 * implementation; replicaset-and-replicationcontroller.ts has the differences. The controller manager starts it; it knows nothing
 * of Deployments but that ReplicaSets of one controller are related.
 */
import type { Pod, ReplicaSetStatus } from '../../api/generated/types.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { indexNamespace, namespaceIndex, objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { createCreationPace } from '../pods/creation-pace.ts'
import { createExpectations } from '../pods/expectations.ts'
import { minReadySecondsOf, nextAvailableAt } from '../pods/min-ready-seconds.ts'
import { podHandlers } from '../pods/owned-pods.ts'
import {
  controllerOf,
  isActive,
  isTerminating,
  orphanIndexValue,
  ownerIndex,
  ownerIndexName,
  podFromTemplate,
  podsResource,
} from '../pods/pod.ts'
import { createPodControl } from '../pods/pod-control.ts'
import { podsToDelete } from '../pods/scale-down-order.ts'
import { createPace } from '../pods/sync-pace.ts'
import type { ReplicaFlavor, ReplicaOwner } from './replicaset-and-replicationcontroller.ts'
import { replicaStatus, sameReplicaStatus } from './status.ts'

/** No sync creates or deletes more than this. */
const burstReplicas = 500
const workers = 5

export function createReplicaController(context: ControllerContext, flavor: ReplicaFlavor): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named(flavor.name)
  const owners = informers.informer<ReplicaOwner>(flavor.resource)
  const pods = informers.informer<Pod>(podsResource)
  pods.addIndex(ownerIndexName, ownerIndex)
  owners.addIndex(ownerIndexName, ownerIndex)
  const queue = createWorkQueue<string>(runtime, flavor.queue)
  const expectations = createExpectations(runtime.clock)
  const ownWrites = createOwnWrites()
  const pace = createPace(runtime.clock)
  const creationPace = createCreationPace(runtime.clock)
  const recorder = createEventRecorder(runtime, client, { component: flavor.name })
  const control = createPodControl(client, recorder, expectations)
  const podClient = client.resource<Pod>(podsResource)
  const ownerClient = client.resource<ReplicaOwner>(flavor.resource)

  async function sync(key: string): Promise<void> {
    const object = owners.store.get(key)
    if (object === undefined) {
      ownWrites.forget(key)
      pace.forget(key)
      creationPace.forget(key)
      return
    }
    if (ownWrites.isBehind(key, object)) return
    const pause = pace.wait(key)
    if (pause > 0) return queue.addAfter(key, pause)
    const { namespace } = splitKey(key)
    const needsSync = expectations.satisfied(object)
    const selector = flavor.selectorOf(object)
    const candidates = [
      ...pods.store.byIndex(ownerIndexName, object.metadata.uid ?? ''),
      ...pods.store.byIndex(ownerIndexName, orphanIndexValue(namespace)).filter(isActive),
    ]
    const claimed = await claim(candidates, {
      controller: object,
      objects: podClient.namespace(namespace),
      matches: (pod) => selector.matches(pod.metadata.labels),
      liveController: () => ownerClient.namespace(namespace).get(object.metadata.name ?? ''),
    })
    const active = claimed.filter(isActive)
    const terminating = flavor.countsTerminating ? claimed.filter(isTerminating).length : 0
    const missing = (object.spec?.replicas ?? 1) - active.length
    let failure: { error: unknown; creating: boolean } | undefined
    if (needsSync && object.metadata.deletionTimestamp === undefined) {
      try {
        await manage(key, object, active, missing)
      } catch (error) {
        failure = { error, creating: missing > 0 }
      }
    }
    const now = runtime.clock.now()
    const status = replicaStatus(flavor, object, active, terminating, failure, now)
    pace.synced(key, claimed.length)
    await updateStatus(object, status)
    if (failure !== undefined) throw failure.error
    const next = nextAvailableAt(active, minReadySecondsOf(object), now)
    if (next !== undefined) queue.addAfter(key, next - runtime.clock.now())
  }

  async function manage(key: string, object: ReplicaOwner, active: readonly Pod[], missing: number) {
    if (missing > 0) {
      const pause = creationPace.wait(key)
      if (pause > 0) queue.addAfter(key, pause)
      else await createPods(key, object, Math.min(missing, burstReplicas))
    } else if (missing < 0) await deletePods(key, object, active, Math.min(-missing, burstReplicas))
  }

  async function createPods(key: string, object: ReplicaOwner, count: number): Promise<void> {
    log.info(2, 'Too few replicas', { [flavor.kind]: key, creating: count })
    expectations.expectCreations(object, count)
    const pod = podFromTemplate(object.spec?.template ?? {}, object)
    await control.create(object, new Array<Pod>(count).fill(pod))
    creationPace.made(key, object.spec?.replicas ?? 1, count)
  }

  async function deletePods(key: string, object: ReplicaOwner, active: readonly Pod[], count: number): Promise<void> {
    log.info(2, 'Too many replicas', { [flavor.kind]: key, deleting: count })
    const chosen = podsToDelete(active, relatedPods(object), count, runtime.clock.now())
    expectations.expectDeletions(object, chosen.map(objectKey))
    await control.delete(object, chosen)
  }

  /** Pods of all that the same controller (a Deployment) owns. */
  function relatedPods(object: ReplicaOwner): readonly Pod[] {
    const controller = controllerOf(object)
    const siblings = controller === undefined ? [object] : owners.store.byIndex(ownerIndexName, controller.uid)
    return siblings.flatMap((sibling) => pods.store.byIndex(ownerIndexName, sibling.metadata.uid ?? ''))
  }

  /** Writes the status when it differs; a conflict is tried once more on what is there now. */
  async function updateStatus(object: ReplicaOwner, status: ReplicaSetStatus): Promise<void> {
    if (sameReplicaStatus(object.status ?? {}, status)) return
    const resource = ownerClient.namespace(object.metadata.namespace ?? '')
    const write = async (current: ReplicaOwner) => {
      const written = await resource.update({ ...current, status }, { subresource: 'status' })
      ownWrites.wrote(objectKey(written), written)
    }
    try {
      await write(object)
    } catch (error) {
      const latest = await resource.get(object.metadata.name ?? '').catch(() => {
        throw error
      })
      await write(latest)
    }
  }

  return {
    name: flavor.name,
    async start() {
      owners.addIndex(namespaceIndex, indexNamespace)
      owners.addHandlers({
        added: (object) => queue.add(objectKey(object)),
        updated: (old, object) => {
          if (old.metadata.uid !== object.metadata.uid) expectations.forget(old)
          queue.add(objectKey(object))
        },
        deleted: (object) => {
          expectations.forget(object)
          queue.add(objectKey(object))
        },
      })
      pods.addHandlers(
        podHandlers({
          kind: flavor.kind,
          store: owners.store,
          selects: (owner, pod) => flavor.selectorOf(owner).matches(pod.metadata.labels),
          changed: (owner) => queue.add(objectKey(owner)),
          created: (owner) => expectations.creationObserved(owner),
          goes: (owner, pod) => expectations.deletionObserved(owner, objectKey(pod)),
        }),
      )
      await Promise.all([owners.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
