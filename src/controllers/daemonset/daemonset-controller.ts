/**
 * The DaemonSet controller: a pod on every node that wants one. The controller manager starts it. Which nodes want one is
 * in eligible-nodes-and-tolerations.ts, what to make and delete in rolling-update.ts; the scheduler binds the pods.
 */
import type { ControllerRevision, DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { createExpectations } from '../pods/expectations.ts'
import { minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { orphanIndexValue, ownerIndexName, podsResource } from '../pods/pod.ts'
import { createPodControl } from '../pods/pod-control.ts'
import { watchSetsOfPods } from '../pods/set-handlers.ts'
import { revisionsResource } from '../revisions/controller-revision.ts'
import { createOwnedRevisions } from '../revisions/owned-revisions.ts'
import { placementOn, podFor, revisionHashLabel } from './eligible-nodes-and-tolerations.ts'
import { createFailedPodBackoff } from './failed-pod-backoff.ts'
import { type DaemonSetPlan, type DaemonSetPlanInput, planManage } from './pods-per-node.ts'
import { currentRevision, HashCollision, surplusRevisions } from './revision-history.ts'
import { planRoll } from './rolling-update.ts'
import { daemonStatus } from './status.ts'

const setsResource = { group: 'apps', version: 'v1', resource: 'daemonsets' }
const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const workers = 2
/** No sync makes or deletes more than this. */
const burstReplicas = 250

export function createDaemonSetController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const sets = informers.informer<DaemonSet>(setsResource)
  const pods = informers.informer<Pod>(podsResource)
  const nodes = informers.informer<Node>(nodesResource)
  const revisionInformer = informers.informer<ControllerRevision>(revisionsResource)
  const revisions = createOwnedRevisions(client, revisionInformer)
  const queue = createWorkQueue<string>(runtime, 'daemonset')
  const expectations = createExpectations(runtime.clock)
  const ownWrites = createOwnWrites()
  const recorder = createEventRecorder(runtime, client, { component: 'daemonset-controller' })
  const control = createPodControl(client, recorder, expectations)
  const backoff = createFailedPodBackoff(runtime.clock)
  const resourceOf = ({ metadata }: KubeObject) =>
    client.resource<DaemonSet>(setsResource).namespace(metadata.namespace ?? '')
  const selects = (set: DaemonSet, pod: Pod): boolean =>
    labelSelectorOf(set.spec?.selector).matches(pod.metadata.labels)
  const enqueue = (set: DaemonSet) => queue.add(objectKey(set))

  async function sync(key: string): Promise<void> {
    const set = sets.store.get(key)
    if (set === undefined) return ownWrites.forget(key)
    if (ownWrites.isBehind(key, set)) return
    if (labelSelectorOf(set.spec?.selector).requirements.length === 0) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
      recorder.event(set, 'Warning', 'SelectingAll', message)
      return
    }
    if (set.metadata.deletionTimestamp !== undefined) return
    const liveSet = () => resourceOf(set).get(set.metadata.name ?? '')
    await revisions.adopt(set, liveSet)
    const current = await currentRevision(revisions, set).catch(async (error) => {
      if (error instanceof HashCollision) await countCollision(set)
      throw error
    })
    const hash = current.metadata.labels?.[revisionHashLabel] ?? ''
    const look = async (): Promise<DaemonSetPlanInput> => ({
      set,
      nodes: nodes.store.list(),
      pods: await podsOf(set, liveSet),
      hash,
      nowMs: runtime.clock.now(),
    })
    const worked = expectations.satisfied(set)
    let failure: { readonly error: unknown } | undefined
    if (worked) {
      try {
        await work(key, look)
        await revisions.remove(surplusRevisions(set, revisions.of(set), current, (await look()).pods))
      } catch (error) {
        failure = { error }
      }
    }
    await updateStatus(key, daemonStatus(await look(), worked), set)
    if (failure !== undefined) throw failure.error
  }

  async function work(key: string, look: () => Promise<DaemonSetPlanInput>): Promise<void> {
    const input = await look()
    const { set } = input
    const manage = planManage(input, (node) => {
      const wait = backoff.remaining(`${set.metadata.uid}/${node}`)
      if (wait > 0) queue.addAfter(key, wait)
      return wait <= 0
    })
    for (const { pod, node } of manage.ended) {
      backoff.next(`${set.metadata.uid}/${node}`)
      const failed = pod.status?.phase === 'Failed'
      const name = `${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`
      if (failed)
        recorder.event(set, 'Warning', 'FailedDaemonPod', `Found failed daemon pod ${name}, will try to kill it`)
      else
        recorder.event(set, 'Normal', 'SucceededDaemonPod', `Found succeeded daemon pod ${name}, will try to delete it`)
    }
    await apply(input, manage)
    if (set.spec?.updateStrategy?.type !== 'RollingUpdate' || !expectations.satisfied(set)) return
    const next = await look()
    await apply(next, planRoll(next))
  }

  async function apply(
    { set, hash }: DaemonSetPlanInput,
    plan: Pick<DaemonSetPlan, 'create' | 'remove'>,
  ): Promise<void> {
    const create = plan.create.slice(0, burstReplicas)
    const remove = plan.remove.slice(0, burstReplicas)
    if (create.length === 0 && remove.length === 0) return
    expectations.expect(set, create.length, remove.map(objectKey))
    const outcomes = await Promise.allSettled([
      control.create(
        set,
        create.map((node) => podFor(set, node, hash)),
      ),
      control.delete(set, remove),
    ])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  function podsOf(set: DaemonSet, liveController: () => Promise<KubeObject>): Promise<readonly Pod[]> {
    const { namespace = '', uid = '' } = set.metadata
    const candidates = [
      ...pods.store.byIndex(ownerIndexName, uid),
      ...pods.store.byIndex(ownerIndexName, orphanIndexValue(namespace)),
    ]
    return claim(candidates, {
      controller: set,
      objects: client.resource<Pod>(podsResource).namespace(namespace),
      matches: (pod) => selects(set, pod),
      liveController,
    })
  }

  async function updateStatus(key: string, status: ReturnType<typeof daemonStatus>, set: DaemonSet): Promise<void> {
    if (!sameJson(status, set.status))
      ownWrites.wrote(key, await resourceOf(set).update({ ...set, status }, { subresource: 'status' }))
    if (minReadySecondsOf(set) > 0 && status.numberReady !== (status.numberAvailable ?? 0))
      queue.addAfter(key, minReadySecondsOf(set) * 1000)
  }

  async function countCollision(set: DaemonSet): Promise<void> {
    const status = { ...set.status!, collisionCount: (set.status?.collisionCount ?? 0) + 1 }
    await resourceOf(set).update({ ...set, status }, { subresource: 'status' })
  }

  /** Daemon pods depend on a node's labels and taints, not on its status. */
  function nodeUpdated(old: Node, node: Node): void {
    if (sameJson(old.metadata.labels, node.metadata.labels) && sameJson(old.spec?.taints, node.spec?.taints)) return
    for (const set of sets.store.list()) if (!sameJson(placementOn(set, old), placementOn(set, node))) enqueue(set)
  }
  /** That a node has gone is not looked at: its pods' end is. */
  function nodeCame(node: Node): void {
    for (const set of sets.store.list()) if (placementOn(set, node).runs) enqueue(set)
  }

  return {
    name: 'daemon-set-controller',
    async start() {
      watchSetsOfPods({ kind: 'DaemonSet', sets, pods, queue, expectations, selects })
      nodes.addHandlers({ added: nodeCame, updated: nodeUpdated })
      await Promise.all([sets, pods, nodes, revisionInformer].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
