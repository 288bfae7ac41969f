/**
 * The PVC protection controller: a claim that is deleted stays until no scheduled pod uses it. It also says on bound claims
 * whether a pod refers to them. The controller manager starts it.
 */
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { claimIndex, claimsOf, isShutDown, keepsClaim, mountsClaim } from '../../api/objects/pod-claims.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isTerminated, podsResource } from '../pods/pod.ts'
import { withFinalizer, withoutFinalizer } from './protection-finalizers.ts'

const claimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const finalizer = 'kubernetes.io/pvc-protection'

const hasEnded = (pod: Pod): boolean => isTerminated(pod) || isShutDown(pod)

export function createPvcProtectionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named('pvc-protection-controller')
  const claims = informers.informer<PersistentVolumeClaim>(claimsResource)
  const pods = informers.informer<Pod>(podsResource)
  const queue = createWorkQueue<string>(runtime, 'pvcprotection')

  async function sync(key: string): Promise<void> {
    const claim = claims.store.get(key)
    if (claim === undefined) return
    const { namespace } = splitKey(key)
    const resource = client.resource<PersistentVolumeClaim>(claimsResource).namespace(namespace)
    try {
      if (claim.metadata.deletionTimestamp === undefined) {
        if (!hasFinalizer(claim, finalizer)) await resource.update(withFinalizer(claim, finalizer))
        else await tellUse(claim)
      } else if (hasFinalizer(claim, finalizer)) {
        if (await isUsed(claim)) log.info(2, 'Keeping PVC because it is being used', { PVC: key })
        else await resource.update(withoutFinalizer(claim, finalizer))
      }
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async function tellUse(claim: PersistentVolumeClaim): Promise<void> {
    if (claim.status?.phase !== 'Bound') return
    const used = pods.store
      .byIndex(claimIndex, objectKey(claim))
      .some((pod) => !hasEnded(pod) && mountsClaim(pod, claim) !== undefined)
    const old = claim.status.conditions ?? []
    const known = old.find((condition) => condition.type === 'Unused')
    const status = used ? 'False' : 'True'
    if (known?.status === status) return
    const condition = {
      type: 'Unused',
      status,
      lastProbeTime: null,
      lastTransitionTime: formatTime(runtime.clock.now()),
      reason: used ? 'PodUsingPVC' : 'NoPodsUsingPVC',
      message: used ? 'A pod is currently referencing this PVC' : 'No pods are currently referencing this PVC',
    }
    const conditions = known === undefined ? [...old, condition] : old.map((one) => (one === known ? condition : one))
    // A time that is null is none of the type, but is what the field holds.
    const updated: KubeObject = { ...claim, status: { ...claim.status, conditions } }
    await client
      .resource<PersistentVolumeClaim>(claimsResource)
      .namespace(claim.metadata.namespace ?? '')
      .update(updated, { subresource: 'status' })
  }

  /** The informer may not have heard of a pod yet: before a claim goes, the API server is asked. */
  async function isUsed(claim: PersistentVolumeClaim): Promise<boolean> {
    const keeps = (pod: Pod) => keepsClaim(pod, claim)
    if (pods.store.byIndex(claimIndex, objectKey(claim)).some(keeps)) return true
    const { namespace = '' } = claim.metadata
    const { items } = await client.resource<Pod>(podsResource).namespace(namespace).list()
    return items.some(keeps)
  }

  return {
    name: 'pvc-protection-controller',
    async start() {
      pods.addIndex(claimIndex, claimsOf)
      const enqueue = (claim: PersistentVolumeClaim) => queue.add(objectKey(claim))
      const enqueueClaims = (pod: Pod) => {
        for (const key of claimsOf(pod)) queue.add(key)
      }
      claims.addHandlers({ added: enqueue, updated: (_, claim) => enqueue(claim) })
      pods.addHandlers({
        added: enqueueClaims,
        updated: (old, pod) => {
          const sameUse = hasEnded(old) === hasEnded(pod) && old.spec?.nodeName === pod.spec?.nodeName
          if (!sameUse || old.metadata.uid !== pod.metadata.uid) enqueueClaims(pod)
        },
        deleted: enqueueClaims,
      })
      await Promise.all([claims.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
