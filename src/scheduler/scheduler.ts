/**
 * scheduler: gives every pending pod a node. It watches pods, nodes, namespaces and claims, filters and scores, and binds through
 * pods/binding; what fits nowhere gets a condition, an Event, and another try when something changes. Started by the
 * cluster; knows the API only through the client room.
 */

import type { Namespace, Node, Pod, PodDisruptionBudget } from '../api/generated/types.ts'
import type { Fields } from '../api/object.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createEventRecorder, type EventRecorder, USUAL_LIMITS } from '../client/events.ts'
import { createInformerFactory, type InformerFactory } from '../client/informer.ts'
import { objectKey } from '../client/store.ts'
import { createPodBinder } from './bind-pod.ts'
import { assignedPodUpdates, type ClusterEvent, nodeUpdates, podEvent } from './cluster-events.ts'
import { createBelongsTogether } from './default-spread.ts'
import { ClaimError, createDeviceBinder, type PodDevices } from './devices/device-binder.ts'
import { createEvictor } from './evict-victim.ts'
import { type FilterState, type NodeRefusal, prefilter, refusalOf } from './filters.ts'
import { createNodeSearch } from './find-nodes.ts'
import { createImageIndex } from './image-locality.ts'
import { namedNodes } from './node-affinity.ts'
import { createCluster, type NodeInfo, sameNode } from './node-info.ts'
import { foundOnNone, noneFits, noneOf, noVictims, preemptionHelpsNone } from './nodes-are-available-message.ts'
import { createNominations } from './nominations.ts'
import { isDeleting, sameForScheduling } from './pod-changes.ts'
import { type PodInfo, podInfoOf, rememberedNeeds } from './pod-info.ts'
import { createPodStatusWriter, type Unscheduled } from './pod-status.ts'
import { choosePreemption, type Hopeless } from './preemption.ts'
import { DEFAULT_SCHEDULER, defaultProfile, type SchedulerProfile } from './profile.ts'
import { createSchedulingQueue, type QueueTimes, USUAL_TIMES } from './queue.ts'
import { createHints, type Refuser } from './queueing-hints.ts'
import { createGates } from './scheduling-gates.ts'
import { createVolumeBinder } from './volume-binder.ts'
import { exclusiveClaims, isInZones, nothingToDo, planFor, volumesOf } from './volume-binding-and-first-consumer.ts'
import { createVolumeLimits } from './volume-limits.ts'

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
}

export interface SchedulerOptions extends SchedulerChoice {
  readonly runtime: Runtime
  /** Speaks as system:kube-scheduler. */
  readonly client: Client
  readonly signal: AbortSignal
  /** Shared with other components of the process; its own when left out. */
  readonly informers?: InformerFactory
}

/** Resolves once the scheduler has seen the cluster and schedules. */
export async function startScheduler(options: SchedulerOptions): Promise<void> {
  const { runtime, client, signal } = options
  const profiles = new Map((options.profiles ?? [defaultProfile()]).map((profile) => [profile.schedulerName, profile]))
  const informers = options.informers ?? createInformerFactory(runtime, client, signal)
  const recorders = new Map(
    [...profiles.keys()].map((component) => [
      component,
      createEventRecorder(runtime, client, { component }, 'events.k8s.io/v1', USUAL_LIMITS),
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
  const namespaceLabels = (namespace: string): Fields | undefined => namespaces.store.get(namespace)?.metadata.labels
  const attempts = runtime.metrics?.counter(
    'scheduler_schedule_attempts_total',
    'Attempts to give pods a node, by profile and result: scheduled, unschedulable or error.',
    ['profile', 'result'],
  )
  let running = false
  let scheduled = false

  const wake = () => {
    if (scheduled || !running) return
    scheduled = true
    runtime.scheduler.handOver('schedule', scheduleSome)
  }
  const scheduleSome = () => {
    scheduled = false
    if (!running) return
    const began = runtime.clock.monotonic()
    for (let i = 0; i < BATCH && runtime.clock.monotonic() - began < TURN_MS; i++) {
      const info = queue.pop()
      if (info === undefined) return
      try {
        scheduleOne(info)
      } catch (error) {
        // It is tried again, and keeps no other pod back.
        runtime.log.error('a pod could not be scheduled', error, { pod: info.key })
        refused(info, { reason: 'SchedulerError', message: messageOf(error) }, NO_PLUGIN)
      }
    }
    if (queue.ready === 0) return
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
  const volumes = createVolumeBinder(runtime, client, informers, happened)
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
      if (!bound && sameForScheduling(old, pod) && !isOver(pod) && isDeleting(old) === isDeleting(pod)) return
      place(pod)
      tellOfPod(old, pod)
    },
    deleted: (pod) => {
      const key = objectKey(pod)
      queue.remove(key)
      giveUpRoom(pod)
      volumes.recheck()
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
    const current = pods.store.get(info.key)
    if (current === undefined || current.metadata.uid !== info.uid || current.spec?.nodeName) {
      queue.remove(info.key)
      return
    }
    const all = cluster.ready()
    if (all.length === 0) {
      refused(info, unschedulable('no nodes available to schedule pods'), NO_PLUGIN)
      return
    }
    const profile = profileOf(info)
    if (profile.filters.includes('NodeAffinity') && namedNodes(info)?.size === 0) {
      const message = foundOnNone(all.length, 'pod affinity terms conflict')
      refused(info, unschedulable(message), new Set(['NodeAffinity']))
      return
    }
    const claims = volumesOf(info.pod, volumes.view, profile.filters)
    if (claims !== undefined && 'reason' in claims) {
      refused(info, unschedulable(foundOnNone(all.length, claims.reason)), new Set([claims.plugin]))
      return
    }
    const volumesOn =
      claims &&
      profile.filters.includes('VolumeBinding') &&
      ((node: NodeInfo) => planFor(claims, node.node as Node, volumes.view))
    const zonesOn = claims && ((node: NodeInfo) => isInZones(claims, node.node as Node, volumes.view))
    const volumeLimitOn = claims && volumeLimits.limitOf(info)
    const wanted = profile.filters.includes('DynamicResources') ? devices.devicesOf(current) : undefined
    if (typeof wanted === 'string') {
      const message = `${noneOf(all.length, wanted)} ${preemptionHelpsNone(all.length)}`
      refused(info, unschedulable(message), new Set(['DynamicResources']))
      return
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
      ...(volumeLimitOn && { volumeLimitOn }),
      ...(devicesOn && { devicesOn, backed: new Set(wanted.extended.map(({ resource }) => resource)) }),
    })
    const node = nodeFor(info, stateNow, all.length, wanted)
    if (node === undefined) return
    nominations.remove(info.key)
    cluster.setPod(info, node.name)
    const plan = volumesOn ? volumesOn(node) : nothingToDo
    const given = devicesOn?.(node)
    void binder.bind(info, node, 'length' in plan ? nothingToDo : plan, typeof given === 'string' ? undefined : given)
  }

  /** Undefined when there is none; then it has been told. */
  function nodeFor(
    info: PodInfo,
    stateNow: () => FilterState,
    count: number,
    wanted: PodDevices | undefined,
  ): NodeInfo | undefined {
    try {
      const found = nominations.seenBy(info, (touched) => {
        const state = stateNow()
        const { fitting, refusals } = search.find(info, state)
        if (fitting.length === 0) {
          const isFreed = wanted !== undefined && devices.freeUnused(info.pod, wanted)
          preempt(info, state, count, refusals, isFreed ? 'deallocation of ResourceClaim completed' : undefined)
        }
        return { fitting, touched, state }
      })
      if (found.fitting.length === 0) return undefined
      // A pod may not lean on others that are not there yet.
      const state = found.touched.size === 0 ? found.state : stateNow()
      const alone: NodeRefusal[] = []
      const fitsAlone = (node: NodeInfo) => {
        const refusal = found.touched.has(node) ? refusalOf(info, node, state) : undefined
        if (refusal !== undefined) alone.push(refusal)
        return refusal === undefined
      }
      const fitting = found.touched.size === 0 ? found.fitting : found.fitting.filter(fitsAlone)
      if (fitting.length === 0) {
        refused(info, unschedulable(noneFits(count, alone)), pluginsOf(alone))
        return undefined
      }
      const best = search.best(info, fitting, state)
      return best[best.length > 1 ? Math.floor(runtime.random.float() * best.length) : 0]
    } catch (error) {
      if (!(error instanceof ClaimError)) throw error
      const message = `running "DynamicResources" filter plugin: ${error.message}`
      refused(info, { reason: 'SchedulerError', message }, NO_PLUGIN)
      return undefined
    }
  }

  /** `done`: what else has been done for the pod. */
  function preempt(
    info: PodInfo,
    state: FilterState,
    count: number,
    refusals: ReadonlyMap<NodeInfo, NodeRefusal>,
    done: string | undefined,
  ): void {
    const atNodes = noneFits(count, refusals.values())
    const plugins = pluginsOf(refusals.values())
    const reasons = done === undefined ? atNodes : `${atNodes} ${done},`
    if (!state.profile.preempts) {
      refused(info, unschedulable(reasons), plugins)
      return
    }
    if (waitsForRoom(info)) {
      const why = 'not eligible due to a terminating pod on the nominated node.'
      refused(info, unschedulable(`${reasons} preemption: ${why}`), plugins)
      return
    }
    if (info.pod.spec?.preemptionPolicy === 'Never') {
      const why = 'not eligible due to preemptionPolicy=Never.'
      refused(info, unschedulable(`${reasons} preemption: ${why}`), plugins)
      return
    }
    const candidates = [...refusals].filter(([, refusal]) => !refusal.hard).map(([node]) => node)
    const hopeless: Hopeless[] = []
    const tell = (why: Hopeless) => void hopeless.push(why)
    const chosen = choosePreemption(info, candidates, state, budgets.store.list(), runtime.random.float, tell)
    if (chosen === undefined) {
      const message = `${reasons} preemption: ${noVictims(count, hopeless)}`
      nominations.remove(info.key)
      refused(info, { ...unschedulable(message), nominatedNode: null }, plugins)
      return
    }
    const staying = chosen.victims.filter(({ key }) => !isGoing(key))
    for (const victim of staying) void evict(victim, info, chosen.node)
    // There may be no room for them any more.
    const hopeful = staying.length > 0 ? nominations.below(info, chosen.node.name) : []
    for (const other of hopeful) {
      nominations.remove(other.key)
      void podStatus.withdraw(other)
    }
    nominations.set(info, chosen.node.name)
    const placement = `found a potential placement for pod on node ${chosen.node.name}, preempting ${chosen.victims.length} victims`
    const message = `${reasons} preemption: ${placement}`
    refused(info, { ...unschedulable(message), nominatedNode: chosen.node.name }, plugins)
  }

  /** Pods of lower priority are going already where this one was nominated. */
  function waitsForRoom(info: PodInfo): boolean {
    const node = cluster.nodes.get(nominations.nodeOf(info.key) ?? '')
    return [...(node?.pods.values() ?? [])].some(({ key, priority }) => priority < info.priority && isGoing(key))
  }
  function isGoing(key: string): boolean {
    return pods.store.get(key)?.metadata.deletionTimestamp !== undefined
  }

  function refused(info: PodInfo, why: Unscheduled, plugins: ReadonlySet<Refuser>): void {
    attempts?.child(profileOf(info).schedulerName, why.reason === 'SchedulerError' ? 'error' : 'unschedulable').add()
    queue.failed(info, plugins)
    const pod = pods.store.get(info.key) ?? info.pod
    recorderOf(info).event(pod, 'Warning', 'FailedScheduling', why.message, { action: 'Scheduling' })
    void podStatus.unscheduled(info, why)
  }
}

/** Queues by their names in metrics. */
const WAITING = ['active', 'backoff', 'gated', 'unschedulable'] as const

/** An error kept the pod back, or there was no node to ask about. */
const NO_PLUGIN: ReadonlySet<Refuser> = new Set()

const unschedulable = (message: string): Unscheduled => ({ reason: 'Unschedulable', message })

const pluginsOf = (refusals: Iterable<NodeRefusal>): ReadonlySet<Refuser> =>
  new Set([...refusals].map(({ plugin }) => plugin))
