/**
 * The Deployment controller: rolls a template out over ReplicaSets, one for each revision. It never touches a pod. The
 * controller manager starts it; the steps of a sync are in recreate-and-rolling-update.ts, arithmetic in max-surge-max-unavailable.ts and proportional-scaling.ts, conditions in
 * status.ts.
 */

import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { isNamespaceTerminating } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { indexNamespace, namespaceIndex, objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { controllerOf, ownerIndex, ownerIndexName, podsResource } from '../pods/pod.ts'
import { createRollout } from './recreate-and-rolling-update.ts'

const deploymentsResource = { group: 'apps', version: 'v1', resource: 'deployments' }
const replicaSetsResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
const workers = 5
const maxRetries = 15

export function createDeploymentController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named('deployment-controller')
  const deployments = informers.informer<Deployment>(deploymentsResource)
  const sets = informers.informer<ReplicaSet>(replicaSetsResource)
  const pods = informers.informer<Pod>(podsResource)
  pods.addIndex(ownerIndexName, ownerIndex)
  sets.addIndex(ownerIndexName, ownerIndex)
  deployments.addIndex(namespaceIndex, indexNamespace)
  const queue = createWorkQueue<string>(runtime, 'deployment')
  const recorder = createEventRecorder(runtime, client, { component: 'deployment-controller' })
  const ownWrites = createOwnWrites()
  const rollout = createRollout({
    runtime,
    deployments: client.resource<Deployment>(deploymentsResource),
    sets: client.resource<ReplicaSet>(replicaSetsResource),
    recorder,
    log,
    ownWrites,
    setByKey: (key) => sets.store.get(key),
    requeue: (deployment, ms) =>
      ms === undefined ? queue.addRateLimited(objectKey(deployment)) : queue.addAfter(objectKey(deployment), ms),
  })

  function ownerOf(object: ReplicaSet): Deployment | undefined {
    const reference = controllerOf(object)
    if (reference?.kind !== 'Deployment') return undefined
    const owner = deployments.store.get(`${object.metadata.namespace}/${reference.name}`)
    return owner?.metadata.uid === reference.uid ? owner : undefined
  }

  function enqueueOwner(set: ReplicaSet) {
    if (controllerOf(set) !== undefined) {
      const owner = ownerOf(set)
      if (owner !== undefined) queue.add(objectKey(owner))
      return
    }
    for (const deployment of deployments.store.byIndex(namespaceIndex, set.metadata.namespace ?? '')) {
      if (labelSelectorOf(deployment.spec?.selector).matches(set.metadata.labels)) queue.add(objectKey(deployment))
    }
  }

  function podsOf(replicaSets: readonly ReplicaSet[]): ReadonlyMap<string, readonly Pod[]> {
    return new Map(
      replicaSets.map(({ metadata: { uid = '' } }) => [uid, pods.store.byIndex(ownerIndexName, uid)] as const),
    )
  }

  /** Recreate waits until the last old pod is gone. */
  function podDeleted(pod: Pod) {
    const reference = controllerOf(pod)
    if (reference?.kind !== 'ReplicaSet') return
    const set = sets.store.get(`${pod.metadata.namespace}/${reference.name}`)
    const deployment = set === undefined ? undefined : ownerOf(set)
    if (deployment?.spec?.strategy?.type !== 'Recreate') return
    const own = sets.store.byIndex(ownerIndexName, deployment.metadata.uid ?? '')
    if ([...podsOf(own).values()].every((list) => list.length === 0)) queue.add(objectKey(deployment))
  }

  async function sync(key: string): Promise<void> {
    const deployment = deployments.store.get(key)
    if (deployment === undefined) return ownWrites.forget(key)
    if (ownWrites.isBehind(key, deployment)) return
    const { namespace = '', name = '', uid = '' } = deployment.metadata
    const selector = labelSelectorOf(deployment.spec?.selector)
    if (selector.requirements.length === 0) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.'
      recorder.event(deployment, 'Warning', 'SelectingAll', message)
      await rollout.observeOnly(deployment)
      return
    }
    const candidates = [
      ...sets.store.byIndex(ownerIndexName, uid),
      ...sets.store.byIndex(ownerIndexName, `orphan ${namespace}`),
    ]
    const own = await claim(candidates, {
      controller: deployment,
      objects: client.resource<ReplicaSet>(replicaSetsResource).namespace(namespace),
      matches: (set) => selector.matches(set.metadata.labels),
      liveController: () => client.resource<Deployment>(deploymentsResource).namespace(namespace).get(name),
    })
    await rollout.sync(deployment, own, () => podsOf(own))
  }

  /** What fails fifteen times in a row waits for the next event. */
  async function reconcile(key: string): Promise<'retry' | undefined> {
    try {
      await sync(key)
      return undefined
    } catch (error) {
      if (signal.aborted || isNamespaceTerminating(error)) return undefined
      log.info(2, 'Error syncing deployment', { deployment: key, err: String(error) })
      return queue.retries(key) < maxRetries ? 'retry' : undefined
    }
  }

  return {
    name: 'deployment-controller',
    async start() {
      deployments.addHandlers({
        added: (object) => queue.add(objectKey(object)),
        updated: (_, object) => queue.add(objectKey(object)),
        deleted: (object) => queue.add(objectKey(object)),
      })
      sets.addHandlers({
        added: enqueueOwner,
        updated: (old, set) => {
          if (old === set) return
          const reowned = controllerOf(old)?.uid !== controllerOf(set)?.uid
          if (reowned && controllerOf(old) !== undefined) enqueueOwner(old)
          if (controllerOf(set) !== undefined || reowned || old.metadata.labels !== set.metadata.labels)
            enqueueOwner(set)
        },
        deleted: (set) => {
          if (controllerOf(set) !== undefined) enqueueOwner(set)
        },
      })
      pods.addHandlers({ deleted: podDeleted })
      await Promise.all([deployments, sets, pods].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, reconcile, signal)
    },
  }
}
