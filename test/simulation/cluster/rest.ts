/**
 * After the storm: everything comes to rest in bounded time, nobody goes on writing, and what is left is what should be:
 * nothing half deleted without a reason, no reference to what is gone, and as many pods as were asked for.
 */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { describe, isMarked } from './laws/laws.ts'
import { USER_FINALIZER } from './laws/objects.ts'
import { ordinalOf } from './laws/order.ts'
import { podsIn } from './laws/quotas.ts'
import { isControlledBy } from './ownership.ts'
import { checkBudget } from './rest/budgets.ts'
import { checkJob, checkTracking } from './rest/jobs.ts'
import { hasRoom } from './rest/room.ts'
import { checkService } from './rest/services.ts'
import { checkClaim, checkClaims, checkVolume, usesUnboundClaim } from './rest/volumes.ts'
import type { Truth } from './truth.ts'
import { viewKey } from './view.ts'
import { clusterScoped, kinds } from './workload.ts'
import type { World } from './world.ts'

/** Looked at so often until everything is as it should be, and no longer than that. */
const LOOK_MS = 20_000
const LONGEST_MS = 300_000
/** What the user holds is let go, and what was made meanwhile too. */
const ROUNDS = 5
/** Then nothing may happen any more, or nearly: lists and watches are taken up again, a status comes late. */
const WINDOW_MS = 60_000
/** Containers that end by themselves once may yet do so: who is busy for so many windows goes on for ever. */
const WINDOWS = 4
/** A controller that waited with its retry, as for room in a quota, makes a pod late; init containers take their time. */
const START_MS = 20_000
/** Of one component about one resource, in the window. */
const MOST_REQUESTS = 8

/** What the user does to an object to get things going. */
export interface Nudges {
  /** The user's finalizer is taken off. */
  letGo(object: KubeObject): Promise<void>
  /** A change that says nothing. */
  touch(object: KubeObject): Promise<void>
}

export async function comesToRest(world: World, { letGo, touch }: Nudges): Promise<void> {
  const { runtime, truth } = world
  await runtime.advance(LOOK_MS)
  await touchLeftBudgets(world, touch)
  await settle(world)
  await touchOwnersOfUnseenPods(world, touch)
  await touchLeftBudgets(world, touch)
  for (let round = 0; round < ROUNDS; round++) {
    const held = truth.list().filter(({ metadata }) => metadata.finalizers?.includes(USER_FINALIZER))
    if (held.length === 0) break
    await runtime.complete(Promise.all(held.map((object) => letGo(object).catch(() => {}))), { maxSteps: 2_000_000 })
    await settle(world)
  }
  world.note('from here on there should be peace')
  let busy: readonly string[] = []
  for (let window = 0; window < WINDOWS; window++) {
    world.countAnew()
    await runtime.advance(WINDOW_MS)
    busy = [...world.requests]
      .filter(([, count]) => count > MOST_REQUESTS)
      .map(([what, count]) => `${what} (${count} times)`)
    if (busy.length === 0) break
  }
  if (busy.length > 0) world.failed(`no peace: still in the last ${WINDOW_MS / 1000} s ${busy.join(', ')}`)
  for (const problem of problemsOf(world)) world.failed(problem)
  await podsComeAndGo(world)
}

/** One that each budget is about comes, and its end is the last that the budget hears of. */
async function podsComeAndGo(world: World): Promise<void> {
  const { runtime, truth, user } = world
  const budgets = truth.list('poddisruptionbudgets')
  if (budgets.length === 0) return
  const podsOf = (budget: KubeObject) => user.resource(kinds.Pod).namespace(budget.metadata.namespace ?? '')
  const nameOf = (budget: KubeObject) => `last-of-${budget.metadata.name}`
  const all = (work: readonly Promise<unknown>[]) => runtime.complete(Promise.allSettled(work), { maxSteps: 2_000_000 })
  const podFor = (budget: KubeObject) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: nameOf(budget), labels: budget['spec'].selector.matchLabels },
    spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 },
  })
  await all(budgets.map((budget) => podsOf(budget).create(podFor(budget))))
  await runtime.advance(LOOK_MS)
  await all(budgets.map((budget) => podsOf(budget).delete(nameOf(budget))))
  await settle(world)
  for (const budget of truth.list('poddisruptionbudgets')) checkBudget(truth, world.failed, budget)
}

/** Their controllers expect pods that came and went unseen; after five minutes any change of the owner ends that. */
async function touchOwnersOfUnseenPods({ runtime, truth, unseen }: World, touch: Nudges['touch']): Promise<void> {
  const owners = unseen.takeOwners().flatMap((uid) => truth.ofUid(uid) ?? [])
  await runtime.complete(Promise.all(owners.map((owner) => touch(owner).catch(() => {}))), { maxSteps: 2_000_000 })
}

/** A budget that a pod has left by its labels still counts it, until it is looked at for another reason. */
async function touchLeftBudgets({ runtime, truth, leftBudgets }: World, touch: Nudges['touch']): Promise<void> {
  const budgets = leftBudgets.take().flatMap((uid) => truth.ofUid(uid) ?? [])
  await runtime.complete(Promise.all(budgets.map((budget) => touch(budget).catch(() => {}))), { maxSteps: 2_000_000 })
}

async function settle(world: World): Promise<void> {
  for (let waited = 0; waited < LONGEST_MS; waited += LOOK_MS) {
    world.countAnew()
    await world.runtime.advance(LOOK_MS)
    const requests = [...world.requests.values()].reduce((sum, count) => sum + count, 0)
    if (requests <= MOST_REQUESTS && problemsOf(world, true).length === 0) return
  }
}

/** `held`: finalizers of the user are a reason to be there. */
function problemsOf(world: World, held = false): readonly string[] {
  const problems: string[] = []
  const failed = (problem: string) => problems.push(problem)
  const { truth } = world
  checkViews(world, failed)
  for (const object of truth.list()) checkObject({ world, truth, held, failed }, object)
  problems.push(...world.containers.problems())
  return problems
}

interface Look {
  readonly world: World
  readonly truth: Truth
  readonly held: boolean
  readonly failed: (problem: string) => void
}

function checkViews({ components, truth }: World, failed: (problem: string) => void): void {
  for (const { life, name } of components) {
    for (const view of life?.views.values() ?? []) {
      const parts = view.path.split('/')
      const resource = parts[parts.length - 1] ?? ''
      const selector = view.query.get('fieldSelector') ?? ''
      if (view.query.has('labelSelector') || parts.includes('namespaces') || !(selector in selectors)) continue
      const all = truth.list(resource).filter((object) => selectors[selector]?.(object))
      const expected = all.map((object) => `${viewKey(object)} ${object.metadata.resourceVersion}`).sort()
      const seen = [...view.items].map(([key, version]) => `${key} ${version}`).sort()
      if (all.length > 0 && expected.join() !== seen.join())
        failed(`${name} has another view of ${view.path}: ${seen} instead of ${expected}`)
    }
  }
}

const onNode = (name: string) => (object: KubeObject) => object['spec'].nodeName === name
const selectors: Readonly<Record<string, (object: KubeObject) => boolean>> = {
  '': () => true,
  'spec.nodeName=node-1': onNode('node-1'),
  'spec.nodeName=node-2': onNode('node-2'),
}

function checkObject(look: Look, object: KubeObject): void {
  const { failed } = look
  if (isMarked(object)) {
    if (!waitsForEver(look, object))
      failed(`${describe(object)} is still being deleted: ${object.metadata.finalizers ?? 'no finalizers'}`)
    return
  }
  checkOwners(look, object)
  if (object.kind === 'Pod') checkPod(look, object)
  if (object.kind === 'ResourceQuota') checkQuota(look, object)
  if (object.kind === 'PodDisruptionBudget') checkBudget(look.truth, failed, object)
  if (object.kind === 'Service') checkService(look.truth, failed, object)
  if (object.kind === 'PersistentVolumeClaim') checkClaim(look.truth, failed, object)
  if (object.kind === 'PersistentVolume') checkVolume(look.truth, failed, object)
  // Where a quota is or was, not everybody has all pods.
  if (look.world.quotas.hasLimited(object.metadata.namespace ?? '')) return
  if (object.kind === 'ReplicaSet' || object.kind === 'ReplicationController') checkReplicas(look, object)
  if (object.kind === 'Deployment') checkDeployment(look, object)
  if (object.kind === 'StatefulSet') checkStatefulSet(look, object)
  if (object.kind === 'DaemonSet') checkDaemonSet(look, object)
  if (object.kind === 'Job') checkJob(look.truth, failed, object)
  if (object.kind === 'CronJob') checkCronJob(look, object)
}

/**
 * As seen on a real cluster: owners of each other that were all deleted in the foreground wait for each other for ever (the
 * collector breaks a cycle only at a member that is not waiting itself), and so does a namespaced owner for a cluster-scoped
 * dependent, which cannot have it and is never collected. A namespace waits for them.
 */
function waitsForEver(look: Look, object: KubeObject, path: ReadonlySet<string> = new Set()): boolean {
  const { truth } = look
  const { uid = '', name = '', finalizers = [] } = object.metadata
  if (path.has(uid)) return true
  if (look.held && finalizers.includes(USER_FINALIZER)) return true
  const further = new Set([...path, uid])
  if (object.kind === 'Namespace')
    return truth.list().some((other) => other.metadata.namespace === name && waitsForEver(look, other, further))
  if (object.kind === 'PersistentVolumeClaim' && finalizers.includes('kubernetes.io/pvc-protection'))
    return truth
      .list('pods')
      .some((pod) => pod.metadata.namespace === object.metadata.namespace && usesClaim(pod, name))
  if (object.kind === 'PersistentVolume' && finalizers.includes('kubernetes.io/pv-protection'))
    return truth.ofUid(object['spec'].claimRef?.uid ?? '') !== undefined
  if (!finalizers.includes('foregroundDeletion')) return false
  return truth.dependentsOf(uid).some((other) => {
    if (!other.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true))
      return false
    return isLeftAlone(look, other) || waitsForEver(look, other, further)
  })
}

/**
 * A cluster-scoped object cannot have a namespaced owner. As seen on a real cluster the collector leaves one that names such an owner
 * alone, also when its other owners go; and when that reference is taken away later, it does not look at the object again.
 */
function isLeftAlone({ truth }: Look, { kind, metadata }: KubeObject): boolean {
  if (!clusterScoped.has(kind)) return false
  return truth.everyOwnerOf(metadata.uid ?? '').some((owner) => !clusterScoped.has(owner.kind))
}

const usesClaim = (pod: KubeObject, name: string): boolean =>
  (pod['spec'].volumes ?? []).some((volume: Fields) => volume['persistentVolumeClaim']?.claimName === name)

function checkOwners(look: Look, object: KubeObject): void {
  const { truth, failed } = look
  const owners = object.metadata.ownerReferences ?? []
  if (isLeftAlone(look, object)) return
  for (const owner of owners) {
    const found = truth.ofUid(owner.uid)
    const valid =
      found !== undefined &&
      found.kind === owner.kind &&
      found.metadata.name === owner.name &&
      (found.metadata.namespace === undefined || found.metadata.namespace === object.metadata.namespace)
    if (!valid) failed(`${describe(object)} still names ${owner.kind} ${owner.name} (${owner.uid})`)
  }
}

const isActive = (pod: KubeObject): boolean =>
  !isMarked(pod) && pod['status'].phase !== 'Succeeded' && pod['status'].phase !== 'Failed'

function checkPod({ world, truth, failed }: Look, pod: KubeObject): void {
  const { phase, conditions = [] } = pod['status']
  const ageMs = world.runtime.clock.now() - Date.parse(pod.metadata.creationTimestamp ?? '')
  checkTracking(truth, failed, pod)
  const claims = (pod['spec'].volumes ?? []).some((volume: Fields) => volume['persistentVolumeClaim'] !== undefined)
  if (pod['spec'].nodeName === undefined) {
    if (hasRoom(truth, pod) && !usesUnboundClaim(truth, pod)) failed(`${describe(pod)} was not scheduled`)
  } else if (phase === 'Pending' && !claims && ageMs > START_MS) failed(`${describe(pod)} is still Pending`)
  const never = pod.metadata.annotations?.['sim.skiff.dev/never-ready'] === 'true'
  const ready = conditions.find(({ type }: Fields) => type === 'Ready')?.status
  // A container that fails again and again waits up to five minutes for its next start.
  const fails = (pod['status'].containerStatuses ?? []).some(
    ({ state, restartCount }: Fields) => state?.running === undefined && restartCount > 0,
  )
  if (phase === 'Running' && !never && !fails && ready !== 'True') failed(`${describe(pod)} runs and is not ready`)
}

function checkReplicas({ truth, failed }: Look, set: KubeObject): void {
  const pods = truth.list('pods').filter((pod) => isControlledBy(pod, set) && isActive(pod))
  const { replicas } = set['spec']
  if (pods.length !== replicas) failed(`${describe(set)} has ${pods.length} pods instead of ${replicas}`)
  const { status } = set
  if ((status.replicas ?? 0) !== pods.length)
    failed(`${describe(set)} counts ${status.replicas} of ${pods.length} pods`)
  if (status.observedGeneration !== set.metadata.generation) failed(`${describe(set)} was not observed as it is now`)
}

function checkDeployment(look: Look, deployment: KubeObject): void {
  const { truth, failed } = look
  const all = truth.list('replicasets').filter((set) => isControlledBy(set, deployment))
  // A set that never goes keeps its name, which is that of the set to come.
  if (all.some((set) => isMarked(set) && waitsForEver(look, set))) return
  const sets = all.filter((set) => !isMarked(set))
  const wanted: number = deployment['spec'].replicas
  const total = sets.reduce((sum, set) => sum + set['spec'].replicas, 0)
  const never = deployment['spec'].template.metadata.annotations?.['sim.skiff.dev/never-ready'] === 'true'
  if (never ? total < Math.min(wanted, 1) : total !== wanted)
    failed(`${describe(deployment)} has replica sets for ${total} pods instead of ${wanted}`)
  const { status } = deployment
  if (status.observedGeneration !== deployment.metadata.generation)
    failed(`${describe(deployment)} was not observed as it is now`)
  if (never) return
  // Its rollout has come to an end: one set has all pods, and they are there.
  const scaled = sets.filter((set) => set['spec'].replicas > 0)
  if (scaled.length > 1) failed(`${describe(deployment)} has pods of ${scaled.map(describe).join(' and of ')}`)
  for (const count of ['replicas', 'updatedReplicas', 'availableReplicas'])
    if ((status[count] ?? 0) !== wanted)
      failed(`${describe(deployment)} tells of ${status[count]} ${count} of ${wanted}`)
}

const isNeverReady = (object: KubeObject): boolean =>
  object['spec'].template.metadata.annotations?.['sim.skiff.dev/never-ready'] === 'true'

/** One pod for each ordinal; where the first never gets ready, an ordered set has no more. */
function checkStatefulSet(look: Look, set: KubeObject): void {
  const { truth, failed } = look
  const pods = truth.list('pods').filter((pod) => isControlledBy(pod, set) && isActive(pod))
  const { replicas, podManagementPolicy } = set['spec']
  const ordinals = pods.map(ordinalOf).sort((a, b) => a - b)
  const stuck =
    podManagementPolicy === 'OrderedReady' &&
    (isNeverReady(set) || pods.some((pod) => isNeverReadyPod(pod) || usesUnboundClaim(truth, pod)))
  checkClaims(failed, set, pods)
  const wanted = Array.from({ length: replicas }, (_, ordinal) => ordinal)
  const inTheWay = wanted.some((ordinal) => {
    const name = `${set.metadata.name}-${ordinal}`
    const pod = truth.find({ resource: 'pods', namespace: set.metadata.namespace ?? '', name })
    if (pod === undefined) return false
    return !isControlledBy(pod, set) || (isMarked(pod) && waitsForEver(look, pod))
  })
  if (!stuck && !inTheWay && ordinals.join() !== wanted.join())
    failed(`${describe(set)} has the pods ${ordinals} instead of ${wanted}`)
  if (set['status'].observedGeneration !== set.metadata.generation)
    failed(`${describe(set)} was not observed as it is now`)
}

const isNeverReadyPod = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['sim.skiff.dev/never-ready'] === 'true'

/** One pod on each node, but where one that is being deleted waits for ever. */
function checkDaemonSet(look: Look, set: KubeObject): void {
  const { truth, failed } = look
  const own = truth.list('pods').filter((pod) => isControlledBy(pod, set))
  const held = new Set(own.filter((pod) => isMarked(pod) && waitsForEver(look, pod)).map((pod) => pod['spec'].nodeName))
  const nodes = truth
    .list('nodes')
    .map(({ metadata }) => metadata.name)
    .filter((name) => !held.has(name))
  // One that it adopted was not made for a node, and may have room on none.
  const on = own
    .filter(isActive)
    .flatMap((pod): readonly string[] => pod['spec'].nodeName ?? [])
    .filter((name) => !held.has(name))
    .sort()
  if (on.join() !== nodes.sort().join()) failed(`${describe(set)} has pods on ${on} instead of ${nodes}`)
  if (set['status'].observedGeneration !== set.metadata.generation)
    failed(`${describe(set)} was not observed as it is now`)
}

/** Suspended by now: none of its jobs runs any more, and few are kept. */
function checkCronJob({ truth, failed }: Look, cronJob: KubeObject): void {
  const jobs = truth.list('jobs').filter((job) => isControlledBy(job, cronJob) && !isMarked(job))
  const kept: number = cronJob['spec'].successfulJobsHistoryLimit
  const done = jobs.filter((job) =>
    (job['status']?.conditions ?? []).some(({ type, status }: Fields) => type === 'Complete' && status === 'True'),
  )
  if (done.length > kept) failed(`${describe(cronJob)} keeps ${done.length} jobs instead of ${kept}`)
  const active: readonly Fields[] = cronJob['status']?.active ?? []
  const running = new Set(jobs.filter((job) => !done.includes(job)).map(({ metadata }) => metadata.uid))
  for (const { name, uid } of active) if (!running.has(uid)) failed(`${describe(cronJob)} takes ${name} for running`)
}

/** What was charged for a pod that could not be made then is counted until the next recount, as on a real cluster. */
function checkQuota({ world, truth, failed }: Look, quota: KubeObject): void {
  const { namespace = '' } = quota.metadata
  const used = podsIn(truth, namespace).length
  const told = quota['status']?.used?.pods
  if (!(Number(told) >= used && Number(told) <= used + world.quotas.refused(namespace)))
    failed(`${describe(quota)} counts ${told} of ${used} pods`)
}
