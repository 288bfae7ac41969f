/**
 * The disruption controller: keeps the status of PodDisruptionBudgets, by which the API server allows evictions. The
 * controller manager starts it.
 */
import type {
  Deployment,
  Pod,
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../api/generated/types.ts'
import { goSelector, labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { indexNamespace, namespaceIndex, objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { controllerOf, podsResource } from '../pods/pod.ts'
import { budgetStatus, disruptedOf, expectedOf, withAllowed } from './disruptions-allowed.ts'
import { createScaleOfOwner, ScaleError } from './scale-of-owner.ts'

const budgetsResource = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' }
const apps = (resource: string) => ({ group: 'apps', version: 'v1', resource })

/** What a budget takes the wanted number of pods from. */
type Scaled = Deployment | ReplicaSet | ReplicationController | StatefulSet

export function createDisruptionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const budgets = informers.informer<PodDisruptionBudget>(budgetsResource)
  const pods = informers.informer<Pod>(podsResource)
  const owners = {
    ReplicaSet: informers.informer<ReplicaSet>(apps('replicasets')),
    Deployment: informers.informer<Deployment>(apps('deployments')),
    StatefulSet: informers.informer<StatefulSet>(apps('statefulsets')),
    ReplicationController: informers.informer<ReplicationController>({
      group: '',
      version: 'v1',
      resource: 'replicationcontrollers',
    }),
  }
  const queue = createWorkQueue<string>(runtime, 'disruption')
  const ownWrites = createOwnWrites()
  const scaleOfOwner = createScaleOfOwner(runtime, client)
  const recorder = createEventRecorder(runtime, client, { component: 'controllermanager' })
  const selects = (budget: PodDisruptionBudget, pod: Pod): boolean =>
    budget.spec?.selector !== undefined && labelSelectorOf(budget.spec?.selector).matches(pod.metadata.labels)

  /** As its labels are now: a budget that a pod has left by its labels counts it until it is looked at for another reason. */
  function enqueueFor(pod: Pod): void {
    const { namespace = '', name = '' } = pod.metadata
    const covering: PodDisruptionBudget[] = []
    for (const budget of budgets.store.byIndex(namespaceIndex, namespace)) {
      if (!selects(budget, pod)) continue
      covering.push(budget)
      queue.add(objectKey(budget))
    }
    if (covering.length < 2) return
    // Kubernetes looks at one of them then, and says so. Here all are looked at.
    const [namespaced, chosen] = [[namespace, name], [covering[0]?.metadata.name]].map((part) =>
      part.map((text) => JSON.stringify(text)).join('/'),
    )
    recorder.event(
      pod,
      'Warning',
      'MultiplePodDisruptionBudgets',
      `Pod ${namespaced} matches multiple PodDisruptionBudgets. Chose ${chosen} arbitrarily.`,
    )
  }

  async function sync(key: string): Promise<void> {
    const budget = budgets.store.get(key)
    if (budget === undefined) return ownWrites.forget(key)
    if (ownWrites.isBehind(key, budget)) return
    const { namespace } = splitKey(key)
    const covered = pods.store.byIndex(namespaceIndex, namespace).filter((pod) => selects(budget, pod))
    if (covered.length === 0) recorder.event(budget, 'Normal', 'NoPods', 'No matching pods found')
    try {
      const expected = await expectedOf(budget, covered.length, () => scaleOf(budget, covered))
      const now = runtime.clock.now()
      const disrupted = disruptedOf(budget, covered, now)
      await write(budget, budgetStatus(budget, expected, covered, disrupted, now))
      if (disrupted.recheckMs !== undefined) queue.addAfter(key, disrupted.recheckMs)
    } catch (error) {
      if (isNotFound(error)) return
      if (!(error instanceof ScaleError)) throw error
      recorder.event(
        budget,
        'Warning',
        'CalculateExpectedPodCountFailed',
        `Failed to calculate the number of expected pods: ${error.message}`,
      )
      await failSafe(budget, error.message)
    }
  }

  /** Nothing may be evicted while it is not known how many there should be: until the budget or its pods change. */
  async function failSafe(budget: PodDisruptionBudget, message: string): Promise<void> {
    const status = budget.status as PodDisruptionBudgetStatus
    const allowed = { status: 'False', reason: 'SyncFailed', message }
    const conditions = withAllowed(status.conditions ?? [], allowed, status.observedGeneration, runtime.clock.now())
    // It is written each time, also where nothing of it changes.
    await put(budget, { ...status, disruptionsAllowed: 0, conditions })
  }

  async function write(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void> {
    if (!sameJson(status, budget.status ?? {})) await put(budget, status)
  }

  async function put(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void> {
    const resource = client.resource<PodDisruptionBudget>(budgetsResource).namespace(budget.metadata.namespace ?? '')
    const written = await resource.update({ ...budget, status }, { subresource: 'status' })
    ownWrites.wrote(objectKey(budget), written)
  }

  /** Replicas that the pods' controllers want, each controller once. @throws ScaleError when one cannot be told */
  async function scaleOf(budget: PodDisruptionBudget, covered: readonly Pod[]): Promise<number> {
    const replicas = new Map<string, number>()
    let unmanaged = false
    for (const pod of covered) {
      const reference = controllerOf(pod)
      if (reference === undefined) {
        unmanaged = true
        continue
      }
      const namespace = pod.metadata.namespace ?? ''
      let owner = ownerOf(namespace, reference)
      const above = owner === undefined ? undefined : controllerOf(owner)
      if (owner?.kind === 'ReplicaSet' && above?.kind === 'Deployment') owner = ownerOf(namespace, above)
      if (owner !== undefined) {
        replicas.set(owner.metadata.uid ?? '', owner.spec?.replicas ?? 1)
        continue
      }
      if (replicas.has(reference.uid)) continue
      const scale = await scaleOfOwner(namespace, reference)
      if (scale?.uid !== reference.uid)
        throw new ScaleError(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`)
      replicas.set(reference.uid, scale.replicas)
    }
    if (unmanaged) recorder.event(budget, 'Warning', 'UnmanagedPods', unmanagedMessage(budget))
    return [...replicas.values()].reduce((sum, count) => sum + count, 0)
  }

  function ownerOf(namespace: string, reference: { kind: string; name: string; uid: string }): Scaled | undefined {
    if (!Object.hasOwn(owners, reference.kind)) return undefined
    const owner = owners[reference.kind as keyof typeof owners].store.get(`${namespace}/${reference.name}`)
    return owner?.metadata.uid === reference.uid ? owner : undefined
  }

  return {
    name: 'disruption-controller',
    async start() {
      for (const informer of [budgets, pods]) informer.addIndex(namespaceIndex, indexNamespace)
      const enqueue = (budget: PodDisruptionBudget) => queue.add(objectKey(budget))
      budgets.addHandlers({ added: enqueue, updated: (_, budget) => enqueue(budget) })
      pods.addHandlers({
        added: (pod) => enqueueFor(pod),
        updated: (_, pod) => enqueueFor(pod),
        deleted: (pod) => enqueueFor(pod),
      })
      await Promise.all([budgets, pods, ...Object.values(owners)].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? 1, sync, signal)
    },
  }
}

const unmanagedMessage = (budget: PodDisruptionBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${goSelector(budget.spec?.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`
