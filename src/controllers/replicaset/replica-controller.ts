/**
 * The ReplicaSet and ReplicationController controllers: exactly N pods of a template, adopted, created or deleted. One
 * implementation; flavors.ts has the differences. The controller manager starts it; it knows nothing of Deployments but
 * that ReplicaSets of one controller are related.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { createWorkQueue, runWorkers } from '../../client/queue.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/claim.ts'
import { createExpectations } from '../pods/expectations.ts'
import { createPace } from '../pods/pace.ts'
import {
  controllerOf,
  isActive,
  isReady,
  isTerminating,
  orphanIndexValue,
  ownerIndex,
  ownerIndexName,
  podFromTemplate,
  podsResource,
} from '../pods/pod.ts'
import { podsToDelete } from '../pods/ranking.ts'
import type { ReplicaFlavor } from './flavors.ts'
import { isNamespaceTerminating, replicaSetsIndex } from './shared.ts'
import { replicaStatus, sameReplicaStatus } from './status.ts'

/** No sync creates or deletes more than this. */
const burstReplicas = 500
const workers = 5

export function createReplicaController(context: ControllerContext, flavor: ReplicaFlavor): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named(flavor.name)
  const owners = informers.informer(flavor.resource)
  const pods = informers.informer(podsResource)
  pods.addIndex(ownerIndexName, ownerIndex)
  owners.addIndex(replicaSetsIndex, ownerIndex)
  const queue = createWorkQueue<string>(runtime, flavor.kind.toLowerCase())
  const expectations = createExpectations(runtime.clock)
  const ownWrites = createOwnWrites()
  const pace = createPace(runtime.clock)
  const recorder = createEventRecorder(runtime, client, { component: flavor.name })
  const podClient = client.resource(podsResource)
  const ownerClient = client.resource(flavor.resource)

  /** The pod's controller, when it is one of ours and still the same object. */
  function ownerOf(pod: KubeObject): KubeObject | undefined {
    const reference = controllerOf(pod)
    if (reference === undefined || reference.kind !== flavor.kind) return undefined
    const owner = owners.store.get(`${pod.metadata.namespace}/${reference.name}`)
    return owner?.metadata.uid === reference.uid ? owner : undefined
  }

  function enqueueMatching(pod: KubeObject) {
    for (const owner of owners.store.byIndex(namespaceIndex, pod.metadata.namespace ?? '')) {
      if (flavor.selectorOf(owner).matches(pod.metadata.labels)) queue.add(objectKey(owner))
    }
  }

  const podAdded = (pod: KubeObject) => {
    if (pod.metadata.deletionTimestamp !== undefined) return podDeleted(pod)
    if (controllerOf(pod) === undefined) return enqueueMatching(pod)
    const owner = ownerOf(pod)
    if (owner === undefined) return
    expectations.creationObserved(objectKey(owner))
    queue.add(objectKey(owner))
  }

  const podUpdated = (old: KubeObject, pod: KubeObject) => {
    if (old === pod) return
    if (old.metadata.uid !== pod.metadata.uid) {
      podDeleted(old)
      return podAdded(pod)
    }
    const relabeled = !sameLabels(old, pod)
    // Deletion has begun: it counts as gone, although its node may take its time.
    if (pod.metadata.deletionTimestamp !== undefined) {
      podDeleted(pod)
      if (relabeled) podDeleted(old)
      return
    }
    const reowned = controllerOf(old)?.uid !== controllerOf(pod)?.uid
    if (reowned) {
      const former = ownerOf(old)
      if (former !== undefined) queue.add(objectKey(former))
    }
    if (controllerOf(pod) === undefined) {
      if (relabeled || reowned) enqueueMatching(pod)
      return
    }
    const owner = ownerOf(pod)
    if (owner === undefined) return
    queue.add(objectKey(owner))
    const minReadySeconds: number = owner['spec'].minReadySeconds ?? 0
    if (minReadySeconds > 0 && !isReady(old) && isReady(pod))
      queue.addAfter(objectKey(owner), (minReadySeconds + 1) * 1000)
  }

  const podDeleted = (pod: KubeObject) => {
    const owner = ownerOf(pod)
    if (owner === undefined) return
    expectations.deletionObserved(objectKey(owner), objectKey(pod))
    queue.add(objectKey(owner))
  }

  async function sync(key: string): Promise<void> {
    const object = owners.store.get(key)
    if (object === undefined) {
      expectations.forget(key)
      ownWrites.forget(key)
      pace.forget(key)
      return
    }
    if (ownWrites.isBehind(key, object)) return
    const pause = pace.wait(key)
    if (pause > 0) return queue.addAfter(key, pause)
    const { namespace } = splitKey(key)
    const needsSync = expectations.satisfied(key)
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
    const missing = (object['spec'].replicas ?? 1) - active.length
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
    const updated = await updateStatus(object, status)
    if (failure !== undefined) throw failure.error
    const { minReadySeconds = 0, replicas = 1 } = updated['spec']
    if (
      minReadySeconds > 0 &&
      (updated['status']?.readyReplicas ?? 0) === replicas &&
      (updated['status']?.availableReplicas ?? 0) !== replicas
    ) {
      queue.addAfter(key, minReadySeconds * 1000)
    }
  }

  async function manage(key: string, object: KubeObject, active: readonly KubeObject[], missing: number) {
    if (missing > 0) await createPods(key, object, Math.min(missing, burstReplicas))
    else if (missing < 0) await deletePods(key, object, active, Math.min(-missing, burstReplicas))
  }

  async function createPods(key: string, object: KubeObject, count: number): Promise<void> {
    log.info(2, 'Too few replicas', { [flavor.kind]: key, creating: count })
    expectations.expectCreations(key, count)
    const pod = podFromTemplate(object['spec'].template, object)
    const resource = podClient.namespace(object.metadata.namespace ?? '')
    // Slow start: when the first one is refused, the others would be too.
    let left = count
    for (let batch = 1; left > 0; batch *= 2) {
      const size = Math.min(batch, left)
      const outcomes = await Promise.allSettled(Array.from({ length: size }, () => createOne()))
      left -= size
      const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
      if (failed.length === 0) continue
      for (let skipped = 0; skipped < left; skipped++) expectations.creationObserved(key)
      throw (failed[0] as PromiseRejectedResult).reason
    }

    async function createOne(): Promise<void> {
      try {
        const created = await resource.create(pod)
        recorder.event(object, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
      } catch (error) {
        // Still expected: until that times out, no more is tried in a namespace that goes.
        if (isNamespaceTerminating(error)) return
        expectations.creationObserved(key)
        const message = error instanceof Error ? error.message : String(error)
        recorder.event(object, 'Warning', 'FailedCreate', `Error creating: ${message}`)
        throw error
      }
    }
  }

  async function deletePods(
    key: string,
    object: KubeObject,
    active: readonly KubeObject[],
    count: number,
  ): Promise<void> {
    log.info(2, 'Too many replicas', { [flavor.kind]: key, deleting: count })
    const chosen = podsToDelete(active, relatedPods(object), count, runtime.clock.now())
    expectations.expectDeletions(key, chosen.map(objectKey))
    const resource = podClient.namespace(object.metadata.namespace ?? '')
    const outcomes = await Promise.allSettled(
      chosen.map(async (pod) => {
        try {
          await resource.delete(pod.metadata.name ?? '')
          recorder.event(object, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
        } catch (error) {
          expectations.deletionObserved(key, objectKey(pod))
          if (isNotFound(error)) return
          recorder.event(object, 'Warning', 'FailedDelete', `Error deleting: ${String(error)}`)
          throw error
        }
      }),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  /** Pods of all that the same controller (a Deployment) owns. */
  function relatedPods(object: KubeObject): readonly KubeObject[] {
    const controller = controllerOf(object)
    const siblings = controller === undefined ? [object] : owners.store.byIndex(replicaSetsIndex, controller.uid)
    return siblings.flatMap((sibling) => pods.store.byIndex(ownerIndexName, sibling.metadata.uid ?? ''))
  }

  /** Writes the status when it differs; a conflict is tried once more on what is there now. */
  async function updateStatus(object: KubeObject, status: Fields): Promise<KubeObject> {
    if (sameReplicaStatus(object['status'] ?? {}, status)) return object
    const resource = ownerClient.namespace(object.metadata.namespace ?? '')
    const write = async (current: KubeObject) => {
      const written = await resource.update({ ...current, status }, { subresource: 'status' })
      ownWrites.wrote(objectKey(written), written)
      return written
    }
    try {
      return await write(object)
    } catch (error) {
      const latest = await resource.get(object.metadata.name ?? '').catch(() => {
        throw error
      })
      return write(latest)
    }
  }

  return {
    name: flavor.name,
    async start() {
      owners.addIndex(namespaceIndex, (object) => [object.metadata.namespace ?? ''])
      owners.addHandlers({
        added: (object) => queue.add(objectKey(object)),
        updated: (old, object) => {
          if (old.metadata.uid !== object.metadata.uid) expectations.forget(objectKey(old))
          queue.add(objectKey(object))
        },
        deleted: (object) => {
          expectations.forget(objectKey(object))
          queue.add(objectKey(object))
        },
      })
      pods.addHandlers({ added: podAdded, updated: podUpdated, deleted: podDeleted })
      await Promise.all([owners.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, workers, sync, signal)
    },
  }
}

const namespaceIndex = 'namespace'

function sameLabels(a: KubeObject, b: KubeObject): boolean {
  return (
    a.metadata.labels === b.metadata.labels || JSON.stringify(a.metadata.labels) === JSON.stringify(b.metadata.labels)
  )
}
