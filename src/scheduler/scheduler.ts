/**
 * scheduler: gives every pending pod a node. It watches pods, nodes, namespaces and claims, filters and scores, and binds through
 * pods/binding; what fits nowhere gets a condition, an Event, and another try when something changes. Started by the
 * cluster; knows the API only through the client room.
 */

import type { Namespace, Node, Pod, PodDisruptionBudget } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createEventRecorder, type EventRecorder, USUAL_LIMITS } from '../client/events.ts'
import { createInformerFactory, type InformerFactory } from '../client/informer.ts'
import { objectKey } from '../client/store.ts'
import { attemptMetrics } from './attempt-metrics.ts'
import { createPodBinder } from './bind-pod.ts'
import { assignedPodUpdates, type ClusterEvent, nodeUpdates, podEvent } from './cluster-events.ts'
import { createBelongsTogether } from './default-spread.ts'
import { ClaimError, createDeviceBinder, type PodDevices } from './devices/device-binder.ts'
import { createEvictor } from './evict-victim.ts'
import {
  type Extender,
  ExtenderError,
  type ExtenderServer,
  type ExtenderSettings,
  extendersFor,
  extendersOf,
  filteredBy,
  prioritizedBy,
} from './extenders/extender.ts'
import { type FilterState, type NodeRefusal, prefilter, refusalOf } from './filters.ts'
import { createNodeSearch, type Refusals } from './find-nodes.ts'
import { createImageIndex } from './image-locality.ts'
import { createRoomMaker } from './make-room.ts'
import { namedNodes } from './node-affinity.ts'
import { createCluster, type NodeInfo, sameNode } from './node-info.ts'
import { foundOnNone, noneFits, noneOf, preemptionHelpsNone } from './nodes-are-available-message.ts'
import { createNominations } from './nominations.ts'
import { awaitsNode, isDeleting, sameForScheduling } from './pod-changes.ts'
import { type PodInfo, podInfoOf, rememberedNeeds } from './pod-info.ts'
import { podResourceMetrics } from './pod-resource-metrics.ts'
import { createPodStatusWriter, type Unscheduled, unschedulable } from './pod-status.ts'
import { DEFAULT_SCHEDULER, defaultProfile, type SchedulerProfile } from './profile.ts'
import { createSchedulingQueue, type QueueTimes, USUAL_TIMES } from './queue.ts'
import { createHints, type Refuser } from './queueing-hints.ts'
import { createGates } from './scheduling-gates.ts'
import { createVolumeBinder } from './volume-binder.ts'
import { exclusiveClaims, isInZones, nothingToDo, planFor, volumesOf } from './volume-binding-and-first-consumer.ts'
import { createVolumeLimits } from './volume-limits.ts'
import { scoreOfVolumes } from './volume-scores.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const BUDGETS = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' }
/** Pods decided in one turn before others get theirs, and for how long. */
const BATCH = 64
const TURN_MS = 10

export interface SchedulerChoice {
  /** Pods with another spec.schedulerName belong to another scheduler. Default: the default one. */
  readonly profiles?: readonly SchedulerProfile[]
  readonly queueTimes?: QueueTimes
  readonly extenders?: readonly ExtenderSettings[]
}

export interface SchedulerOptions extends SchedulerChoice {
  readonly runtime: Runtime
  /** Speaks as system:kube-scheduler. */
  readonly client: Client
  readonly signal: AbortSignal
  /** The machine's name, which its Events tell (`reportingInstance`). Default: none. */
  readonly host?: string
  /** How an extender is asked. Default: over HTTP. */
  readonly extenderOf?: (settings: ExtenderSettings) => ExtenderServer
  /** Told what pods ask for and are limited to. Default: nothing is told. */
  readonly resourceMetrics?: Metrics
  /** Shared with other components of the process; its own when left out. */
  readonly informers?: InformerFactory
}

/** A pod that is to get a node. */
interface Look {
  /** Of all nodes. */
  readonly count: number
  readonly wanted: PodDevices | undefined
  readonly stateNow: () => FilterState
  readonly put: (node: NodeInfo) => void
}

interface Found {
  readonly fitting: readonly NodeInfo[]
  refusals(): Refusals
  readonly state: FilterState
  /** Resolves when the pod has been told, where that takes longer than this turn. */
  readonly told: Promise<void> | undefined
}

/** Resolves once the scheduler has seen the cluster and schedules. */
export async function startScheduler(options: SchedulerOptions): Promise<void> {
  const { runtime, client, signal, host = '' } = options
  const profiles = new Map((options.profiles ?? [defaultProfile()]).map((profile) => [profile.schedulerName, profile]))
  const informers = options.informers ?? createInformerFactory(runtime, client, signal)
  const extenders =
    options.extenders === undefined ? [] : await extendersOf(runtime, options.extenders, options.extenderOf)
  const recorders = new Map(
    [...profiles.keys()].map((component) => [
      component,
      createEventRecorder(runtime, client, { component, host }, 'events.k8s.io/v1', USUAL_LIMITS),
    ]),
  )
  const recorderOf = ({ pod }: PodInfo) => recorders.get(pod.spec?.schedulerName ?? DEFAULT_SCHEDULER) as EventRecorder
  const profileNamed = (pod: Pod) => profiles.get(pod.spec?.schedulerName ?? DEFAULT_SCHEDULER)
  const profileOf = ({ pod }: PodInfo) => profileNamed(pod) as SchedulerProfile
  const images = createImageIndex()
  const together = createBelongsTogether(informers)
  const cluster = createCluster()
  const needsOf = rememberedNeeds()
  const infoOf = (pod: Pod) => podInfoOf(pod, needsOf)
  const search = createNodeSearch(cluster)
  const nominations = createNominations(cluster)
  const pods = informers.informer<Pod>(PODS)
  const nodes = informers.informer<Node>(NODES)
  const namespaces = informers.informer<Namespace>(NAMESPACES)
  const budgets = informers.informer<PodDisruptionBudget>(BUDGETS)
  const namespaceLabels = (namespace: string): Readonly<Record<string, string>> | undefined =>
    namespaces.store.get(namespace)?.metadata.labels
  const attempts = attemptMetrics(runtime)
  let running = false
  let scheduled = false
  /** A pod waits for what extenders say. */
  let deciding = false

  const wake = () => {
    if (scheduled || !running || deciding) return
    scheduled = true
    runtime.scheduler.handOver('schedule', scheduleSome)
  }
  const scheduleSome = () => {
    scheduled = false
    if (!running || deciding) return
    const began = runtime.clock.monotonic()
    for (let i = 0; i < BATCH && !deciding && runtime.clock.monotonic() - began < TURN_MS; i++) {
      const info = queue.pop()
      if (info === undefined) return
      try {
        scheduleOne(info)
      } catch (error) {
        failed(info, error)
      }
    }
    if (deciding || queue.ready === 0) return
    // In a turn of its own: what was bound goes on its way before the next ones are looked at.
    scheduled = true
    runtime.scheduler.later('schedule', scheduleSome)
  }
  const hints = createHints({
    namespaceLabels,
    addedAffinity: (info) => profileOf(info).args.addedAffinity,
    isBacked: (resource) => devices.isBacked(resource),
  })
  const gateOf = createGates(
    (pod) => profileNamed(pod)?.heedsGates === true,
    (pod) => profileNamed(pod)?.awaitsClaims === true && devices.isGated(pod),
  )
  const queue = createSchedulingQueue(runtime, { wake, hints, gateOf, times: options.queueTimes ?? USUAL_TIMES })
  const happened = (event: ClusterEvent) => queue.happened(event)
  // A scheduler that has ended may be followed by another one in this process.
  runtime.metrics?.sampled('scheduler_pending_pods', 'Pods that wait, by queue.', ['queue'], () =>
    signal.aborted ? [] : WAITING.map((place) => [queue.counts[place], place] as const),
  )
  runtime.metrics?.sampled(
    'scheduler_unschedulable_pods',
    'Pods that wait, by the plugin that refused them and their profile.',
    ['plugin', 'profile'],
    function* () {
      if (signal.aborted) return
      for (const [plugin, infos] of queue.refusedBy()) {
        const byProfile = new Map<string, number>()
        for (const info of infos) {
          const { schedulerName } = profileOf(info)
          byProfile.set(schedulerName, (byProfile.get(schedulerName) ?? 0) + 1)
        }
        for (const [profile, count] of byProfile) yield [count, plugin, profile] as const
      }
    },
  )
  if (options.resourceMetrics !== undefined)
    podResourceMetrics(options.resourceMetrics, () => (signal.aborted ? [] : pods.store.list()))
  const volumes = createVolumeBinder(runtime, client, informers, happened, signal)
  const volumeLimits = createVolumeLimits(informers, volumes.view, happened)
  const devices = createDeviceBinder(runtime, client, informers, happened, signal)
  const podStatus = createPodStatusWriter(runtime, client, (key) => pods.store.get(key), signal)
  signal.addEventListener('abort', () => {
    running = false
  })

  const binder = createPodBinder({
    client,
    signal,
    podNow: (key) => pods.store.get(key),
    cluster,
    queue,
    nominations,
    volumes,
    devices,
    podStatus,
    extenders,
    attempts,
    profileOf,
    recorderOf,
    happened,
    refused: (info, why) => refused(info, why, NO_PLUGIN),
    place: (pod) => place(pod),
  })
  const evict = createEvictor({
    runtime,
    client,
    signal,
    queue,
    schedulerNameOf: (info) => profileOf(info).schedulerName,
    recorderOf,
  })

  const makeRoom = createRoomMaker({
    random: runtime.random,
    cluster,
    nominations,
    podStatus,
    podNow: (key) => pods.store.get(key),
    budgets: () => budgets.store.list(),
    evict,
    counted: attempts,
    refused: (info, why, plugins) => refused(info, why, plugins),
  })

  /** Pods of higher priority did not see it there. */
  const roomGivenUp = (pod: Pod) => ({
    ...podEvent('AssignedPodDelete', pod, undefined),
    upToPriority: infoOf(pod).priority,
  })
  const isOurs = (pod: Pod) => profileNamed(pod) !== undefined
  const isOver = (pod: Pod) => ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')
  /** What is kept free for it nowhere any more; where it got no node, others may have that. */
  const giveUpRoom = (pod: Pod) => {
    const hadRoom = nominations.nodeOf(objectKey(pod)) !== undefined
    nominations.remove(objectKey(pod))
    if (hadRoom && !pod.spec?.nodeName) happened(roomGivenUp(pod))
  }
  const place = (pod: Pod) => {
    const nodeName: string = pod.spec?.nodeName ?? ''
    const isWaiting = nodeName === '' && isOurs(pod) && !isOver(pod) && pod.metadata.deletionTimestamp === undefined
    const hoped = pod.status?.nominatedNodeName
    if (!isWaiting) {
      queue.remove(objectKey(pod))
      giveUpRoom(pod)
    } else if (hoped) nominations.set(infoOf(pod), hoped)
    if (nodeName !== '' && isOver(pod)) cluster.removePod(objectKey(pod))
    else if (nodeName !== '') cluster.setPod(infoOf(pod), nodeName)
    else if (isWaiting && !binder.isOnItsWay(objectKey(pod))) queue.add(infoOf(pod))
  }
  /** It counts on its node. */
  const isPlaced = (pod: Pod) => Boolean(pod.spec?.nodeName) && !isOver(pod)
  const tellOfPod = (old: Pod | undefined, now: Pod | undefined) => {
    const was = old !== undefined && isPlaced(old)
    const is = now !== undefined && isPlaced(now)
    if (!was && is) happened(podEvent('AssignedPodAdd', undefined, now))
    else if (was && !is) happened(podEvent('AssignedPodDelete', old, undefined))
    else if (was && is) for (const event of assignedPodUpdates(old, now)) happened(event)
  }
  pods.addHandlers({
    added: (pod) => {
      place(pod)
      tellOfPod(undefined, pod)
    },
    updated: (old, pod) => {
      // A pod on its node whose specification and labels are the same changes nothing here but when it ends, or begins to.
      const bound = pod.spec?.nodeName
      if (!bound && old.status?.nominatedNodeName && !pod.status?.nominatedNodeName) happened(roomGivenUp(old))
      const isAsOver = isOver(old) === isOver(pod) && isDeleting(old) === isDeleting(pod)
      if (bound && old.spec?.nodeName === bound && isAsOver && sameForScheduling(old, pod)) return
      // Its own failure's condition is no reason to try again.
      if (!bound && sameForScheduling(old, pod) && !isOver(pod) && isDeleting(old) === isDeleting(pod)) {
        queue.touched(objectKey(pod))
        return
      }
      place(pod)
      tellOfPod(old, pod)
    },
    deleted: (pod) => {
      const key = objectKey(pod)
      queue.remove(key)
      giveUpRoom(pod)
      // It may have been bound and never seen so: the watch broke off in between.
      const wasThere = cluster.removePod(key)
      if (wasThere || isPlaced(pod)) happened(podEvent('AssignedPodDelete', pod, undefined))
    },
  })
  nodes.addHandlers({
    added: (node) => {
      cluster.setNode(node)
      images.set(node)
      happened({ name: 'NodeAdd', old: undefined, now: node })
    },
    updated: (old, node) => {
      cluster.setNode(node)
      if (old.status?.images !== node.status?.images) images.set(node)
      if (!sameNode(old, node)) for (const event of nodeUpdates(old, node)) happened(event)
    },
    deleted: (node) => {
      const { name = '' } = node.metadata
      cluster.removeNode(name)
      images.remove(name)
      happened({ name: 'NodeDelete', old: node, now: undefined })
    },
  })
  if (options.informers === undefined) informers.start()
  await Promise.all(
    [pods, nodes, namespaces, budgets, volumes, volumeLimits, devices, together].map((informer) =>
      informer.whenSynced(signal),
    ),
  )
  running = true
  wake()

  function scheduleOne(info: PodInfo): void {
    const look = lookAt(info)
    if (look === undefined) return
    const asked = extendersFor(extenders, info.pod)
    if (asked.length === 0) {
      const { fitting, state } = findFitting(info, look, asked)
      attempts.decided(queue.attemptOf(info))
      if (fitting.length > 0) look.put(anyOfBest(info, fitting, state))
      return
    }
    deciding = true
    queue.hold(info.key)
    decideWith(asked, info, look)
      .catch((error) => failed(info, error))
      .finally(() => {
        attempts.decided(queue.attemptOf(info))
        queue.release()
        deciding = false
        wake()
      })
  }

  /** What it takes to find the pod a node, as everything is at this moment; undefined where no node is to be found, which has been told. */
  function lookAt(info: PodInfo): Look | undefined {
    const current = pods.store.get(info.key)
    if (!awaitsNode(current, info.uid)) {
      queue.remove(info.key, info.uid)
      return undefined
    }
    const all = cluster.ready()
    if (all.length === 0) {
      refused(info, unschedulable('no nodes available to schedule pods'), NO_PLUGIN)
      return undefined
    }
    const profile = profileOf(info)
    if (profile.preFilters.includes('NodeAffinity') && namedNodes(info)?.size === 0) {
      const message = foundOnNone(all.length, 'pod affinity terms conflict')
      refused(info, unschedulable(message), new Set(['NodeAffinity']))
      return undefined
    }
    const claims = volumesOf(info.pod, volumes.view, profile.preFilters)
    if (claims !== undefined && 'reason' in claims) {
      refused(info, unschedulable(foundOnNone(all.length, claims.reason)), new Set([claims.plugin]))
      return undefined
    }
    const volumesOn =
      claims &&
      profile.filters.includes('VolumeBinding') &&
      oncePerNode((node) => planFor(claims, node.node as Node, volumes.view))
    const zonesOn = claims && ((node: NodeInfo) => isInZones(claims, node.node as Node, volumes.view))
    const volumeLimitOn = claims && volumeLimits.limitOf(info)
    const wanted = profile.filters.includes('DynamicResources') ? devices.devicesOf(current) : undefined
    if (typeof wanted === 'string') {
      const message = `${noneOf(all.length, wanted)} ${preemptionHelpsNone(all.length)}`
      refused(info, unschedulable(message), new Set(['DynamicResources']))
      return undefined
    }
    const planDevices = wanted && devices.planner(current, wanted, profile.args.deviceBindingTimeoutMs)
    const devicesOn = planDevices && ((node: NodeInfo) => planDevices(node.node as Node))
    const belonging = info.spread.length === 0 ? together.selectorOf(info) : undefined
    const imageScore = (pod: Pod) => images.scorer(pod, all.length)
    const stateNow = () => ({
      ...prefilter(info, cluster, namespaceLabels, profile, () => belonging),
      imageScore,
      ...(claims && zonesOn && { zonesOn, exclusiveClaims: exclusiveClaims(claims) }),
      ...(volumesOn && { volumesOn }),
      ...(volumesOn &&
        claims.waiting.length > 0 && { volumeScoreOn: scoreOfVolumes(volumesOn, profile.args.volumeShape) }),
      ...(volumeLimitOn && { volumeLimitOn }),
      ...(devicesOn && { devicesOn, backed: new Set(wanted.extended.map(({ resource }) => resource)) }),
    })
    const put = (node: NodeInfo) => {
      nominations.remove(info.key)
      cluster.setPod(info, node.name)
      const plan = volumesOn ? volumesOn(node) : nothingToDo
      const given = devicesOn?.(node)
      void binder.bind(info, node, 'length' in plan ? nothingToDo : plan, typeof given === 'string' ? undefined : given)
    }
    return { count: all.length, wanted, stateNow, put }
  }

  /** Where it found none the pod has been told, or will be by `asked`. */
  function findFitting(info: PodInfo, { count, wanted, stateNow }: Look, asked: readonly Extender[]): Found {
    const found = nominations.seenBy(info, (touched) => {
      const state = stateNow()
      const nodes = search.find(info, state)
      if (nodes.fitting.length > 0) return { ...nodes, touched, state, told: undefined }
      const refusals = nodes.refusals()
      const isFreed = wanted !== undefined && devices.freeUnused(info.pod, wanted)
      const done = isFreed ? 'deallocation of ResourceClaim completed' : undefined
      const plugins = pluginsOf(refusals.values())
      return { ...nodes, touched, state, told: makeRoom(info, { state, count, refusals, plugins, done }, asked) }
    })
    if (found.fitting.length === 0 || found.touched.size === 0) return found
    // A pod may not lean on others that are not there yet.
    const state = stateNow()
    const alone: NodeRefusal[] = []
    const fitting = found.fitting.filter((node) => {
      const refusal = found.touched.has(node) ? refusalOf(info, node, state) : undefined
      if (refusal !== undefined) alone.push(refusal)
      return refusal === undefined
    })
    if (fitting.length === 0) refused(info, unschedulable(noneFits(count, alone)), pluginsOf(alone))
    return { fitting, refusals: found.refusals, state, told: undefined }
  }

  function anyOfBest(info: PodInfo, fitting: readonly NodeInfo[], state: FilterState): NodeInfo {
    const best = search.best(info, fitting, state)
    return best[best.length > 1 ? Math.floor(runtime.random.float() * best.length) : 0] as NodeInfo
  }

  /** As a pod without extenders, but in their time. Nothing else is decided meanwhile; what has changed then is looked at anew. */
  async function decideWith(asked: readonly Extender[], info: PodInfo, look: Look): Promise<void> {
    const found = findFitting(info, look, asked)
    await found.told
    if (found.fitting.length === 0) return
    const isThere = (node: NodeInfo) => cluster.nodes.get(node.name) === node && node.node !== undefined
    const left = await filteredBy(asked, info, found.fitting)
    const scores = left.fitting.length > 1 ? await prioritizedBy(asked, info, left.fitting) : undefined
    const now = running ? lookAt(info) : undefined
    if (now === undefined) return
    if (left.fitting.length === 0) {
      const filtered = found.refusals()
      const refusals = new Map([...filtered, ...left.refusals].filter(([node]) => isThere(node)))
      const plugins = new Set<Refuser>([...pluginsOf(filtered.values()), 'Extender'])
      const room = () => makeRoom(info, { state: now.stateNow(), count: now.count, refusals, plugins }, asked)
      await nominations.seenBy(info, room)
      return
    }
    const fitting = left.fitting.filter(isThere)
    const extenderScore = (node: NodeInfo) => scores?.get(node.name) ?? 0
    const state = now.stateNow()
    const node = fitting.length === 0 ? undefined : anyOfBest(info, fitting, { ...state, extenderScore })
    if (node === undefined || refusalOf(info, node, state) !== undefined) await decideWith(asked, info, now)
    else now.put(node)
  }

  /** No decision was reached about the pod: it is tried again, and keeps no other back. */
  function failed(info: PodInfo, error: unknown): void {
    if (signal.aborted) return
    const isOfClaim = error instanceof ClaimError
    // A fault of the scheduler itself.
    if (!isOfClaim && !(error instanceof ExtenderError))
      runtime.log.error('A pod could not be scheduled', error, { pod: info.key })
    const where = isOfClaim ? 'running "DynamicResources" filter plugin: ' : ''
    refused(info, { reason: 'SchedulerError', message: `${where}${messageOf(error)}` }, NO_PLUGIN)
  }

  function refused(info: PodInfo, why: Unscheduled, plugins: ReadonlySet<Refuser>): void {
    const result = why.reason === 'SchedulerError' ? 'error' : 'unschedulable'
    attempts.ended(profileOf(info).schedulerName, result, queue.attemptOf(info))
    queue.failed(info, plugins)
    const pod = pods.store.get(info.key) ?? info.pod
    recorderOf(info).event(pod, 'Warning', 'FailedScheduling', why.message, { action: 'Scheduling' })
    void podStatus.unscheduled(info, why)
  }
}

/** What is worked out of nodes and asked for again while they stay as they are. */
function oncePerNode<T>(of: (node: NodeInfo) => T): (node: NodeInfo) => T {
  const known = new Map<NodeInfo, T>()
  return (node) => {
    const before = known.get(node)
    if (before !== undefined) return before
    const found = of(node)
    known.set(node, found)
    return found
  }
}

/** Queues by their names in metrics. */
const WAITING = ['active', 'backoff', 'gated', 'unschedulable'] as const

/** An error kept the pod back, or there was no node to ask about. */
const NO_PLUGIN: ReadonlySet<Refuser> = new Set()

const pluginsOf = (refusals: Iterable<NodeRefusal>): ReadonlySet<Refuser> =>
  new Set([...refusals].map(({ plugin }) => plugin))
