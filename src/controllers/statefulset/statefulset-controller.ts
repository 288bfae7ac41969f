/**
 * The StatefulSet controller: pods with names, ordinals and claims that stay, made and replaced in order. The controller
 * manager starts it. What is to be done next is decided in rolling-update-and-order.ts, and done in actions.ts.
 */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { createCreationPace } from '../pods/creation-pace.ts'
import { createExpectations } from '../pods/expectations.ts'
import { minReadySecondsOf, nextAvailableAt } from '../pods/min-ready-seconds.ts'
import { isActive, orphanIndexValue, ownerIndexName, podsResource } from '../pods/pod.ts'
import { watchSetsOfPods } from '../pods/set-handlers.ts'
import { slowStart } from '../pods/slow-start-batches.ts'
import { revisionsResource } from '../revisions/controller-revision.ts'
import { createOwnedRevisions } from '../revisions/owned-revisions.ts'
import { claimFacts, perform } from './actions.ts'
import { ordinalOf, revisionOfPod } from './pod-identity.ts'
import { revisionsOf, type SetRevisions, surplusStatefulSetRevisions } from './revision-history.ts'
import { isParallel, planSync, type Step } from './rolling-update-and-order.ts'
import { setStatus } from './status.ts'
import { volumeClaimsResource } from './volume-claim-templates-and-retention.ts'

const setsResource = { group: 'apps', version: 'v1', resource: 'statefulsets' }
const workers = 5
const claimsGoMs = 1000

export function createStatefulSetController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const sets = informers.informer<StatefulSet>(setsResource)
  const pods = informers.informer<Pod>(podsResource)
  const claims = informers.informer<PersistentVolumeClaim>(volumeClaimsResource)
  const revisionInformer = informers.informer<ControllerRevision>(revisionsResource)
  const revisions = createOwnedRevisions(client, revisionInformer)
  const queue = createWorkQueue<string>(runtime, 'statefulset')
  const expectations = createExpectations(runtime.clock)
  const creationPace = createCreationPace(runtime.clock)
  const ownWrites = createOwnWrites()
  const recorder = createEventRecorder(runtime, client, { component: 'statefulset-controller' })
  const parts = { client, recorder, clock: runtime.clock, pods: pods.store, claims: claims.store }
  const selects = (set: StatefulSet, pod: Pod): boolean =>
    labelSelectorOf(set.spec?.selector).matches(pod.metadata.labels)

  async function sync(key: string): Promise<void> {
    const set = sets.store.get(key)
    if (set === undefined) {
      creationPace.forget(key)
      return ownWrites.forget(key)
    }
    if (ownWrites.isBehind(key, set)) return
    const liveSet = () =>
      client
        .resource<StatefulSet>(setsResource)
        .namespace(set.metadata.namespace ?? '')
        .get(set.metadata.name ?? '')
    await revisions.adopt(set, liveSet)
    const own = await podsOf(set, liveSet)
    const known = await revisionsOf(revisions, set)
    let outdated = 0
    let failure: { readonly error: unknown } | undefined
    if (set.metadata.deletionTimestamp === undefined && expectations.satisfied(set)) {
      try {
        await act(key, set, own, known, () => outdated++)
      } catch (error) {
        failure = { error }
      }
    }
    const now = runtime.clock.now()
    const status = setStatus(set, own, known.names, outdated, now)
    if (!sameJson(status, set.status)) {
      const resource = client.resource<StatefulSet>(setsResource).namespace(set.metadata.namespace ?? '')
      ownWrites.wrote(key, await resource.update({ ...set, status }, { subresource: 'status' }))
    }
    if (failure !== undefined) throw failure.error
    const needed = new Set([known.names.current, known.names.update, ...own.map(revisionOfPod)])
    await revisions.remove(surplusStatefulSetRevisions(set, revisions.of(set), needed))
    const next = nextAvailableAt(own, minReadySecondsOf(set), now)
    if (next !== undefined) queue.addAfter(key, next - runtime.clock.now())
  }

  function podsOf(set: StatefulSet, liveController: () => Promise<KubeObject>): Promise<readonly KubeObject[]> {
    const { namespace = '', uid = '' } = set.metadata
    const candidates = [
      ...pods.store.byIndex(ownerIndexName, uid),
      ...pods.store.byIndex(ownerIndexName, orphanIndexValue(namespace)).filter(isActive),
    ]
    return claim(
      candidates.sort((a, b) => ordinalOf(set, a) - ordinalOf(set, b)),
      {
        controller: set,
        objects: client.resource<Pod>(podsResource).namespace(namespace),
        matches: (pod) => ordinalOf(set, pod) >= 0 && selects(set, pod),
        liveController,
      },
    )
  }

  /** `outdated` is called for each pod that was deleted to be made again. */
  async function act(
    key: string,
    set: StatefulSet,
    own: readonly Pod[],
    { names, templates }: SetRevisions,
    outdated: () => void,
  ): Promise<void> {
    const nowMs = runtime.clock.now()
    const plan = planSync({ set, pods: own, updateRevision: names.update, nowMs, ...claimFacts(parts, set) })
    if (plan.waitsForClaims) queue.addAfter(key, claimsGoMs)
    const steps = plan.phases.flat()
    const creations = steps.filter(({ type }) => type === 'create').length
    const pause = creations > 0 ? creationPace.wait(key) : 0
    if (pause > 0) return queue.addAfter(key, pause)
    const deletions = steps.flatMap((step) => (step.type === 'delete' ? [objectKey(step.pod)] : []))
    expectations.expect(set, creations, deletions)
    const run = async (step: Step): Promise<void> => {
      await perform(parts, set, templates, step)
      if (step.type === 'delete' && step.outdated) outdated()
    }
    try {
      for (const phase of plan.phases) {
        if (isParallel(set)) await slowStart(phase, run)
        else for (const step of phase) await run(step)
      }
      if (creations > 0) creationPace.made(key, set.spec?.replicas ?? 1, creations)
    } catch (error) {
      expectations.forget(set)
      throw error
    }
  }

  return {
    name: 'statefulset-controller',
    async start() {
      watchSetsOfPods({ kind: 'StatefulSet', sets, pods, queue, expectations, selects })
      await Promise.all([sets, pods, claims, revisionInformer].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
