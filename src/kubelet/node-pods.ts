/**
 * What looks after the pods of one node: what PodConfig, PLEG and the probes tell becomes work of the pod workers; around them
 * PodManager, PodCache and StatusManager. A simulated node makes it with its first pod (kubelet.ts).
 */

import type { Node, PodStatus } from '../api/generated/types.ts'
import { formatTime } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { Correlation } from '../client/event-correlation.ts'
import { createEventRecorder, USUAL_LIMITS } from '../client/events.ts'
import { createActiveDeadlines } from './active-deadline.ts'
import { createPodAdmission } from './admit-pods.ts'
import { createAdoptions } from './adopted-pod.ts'
import { createReferences } from './configmaps-and-secrets.ts'
import { createDeviceClaims } from './dra/device-claims.ts'
import { createEvictedPods } from './eviction/evicted-pods.ts'
import type { EvictionOptions } from './eviction/eviction-manager.ts'
import type { Pressure } from './eviction/observations.ts'
import { createHeldForPods } from './held-for-pods.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createImages } from './images/pull-policy-and-back-off.ts'
import { createPullSecrets } from './images/pull-secrets.ts'
import { createKiller } from './kill-pod.ts'
import type { Machine } from './machine/machine.ts'
import { createCountsOfPods } from './metrics/counts-of-pods.ts'
import { createVolumes } from './mount-volumes.ts'
import { createPleg } from './pleg.ts'
import { hookReachOf, isTerminalPhase, type Pod, uidOf } from './pod.ts'
import { type AdmissionRefusal, createAllocations } from './pod-admission.ts'
import { createPodCache, type RuntimePodStatus } from './pod-cache.ts'
import { createPodCertificates } from './pod-certificates.ts'
import type { PodConfigHandler } from './pod-config.ts'
import { createPodEvents } from './pod-events.ts'
import { createPodManager, type PodManager } from './pod-manager.ts'
import { createPodOperations } from './pod-operations.ts'
import { createPodResizes } from './pod-resize.ts'
import { createResizeEvents } from './pod-resize-events.ts'
import { createPodWorkers, type PodWorkers } from './pod-workers.ts'
import { createPodViews, type PodViews } from './pods-api/pod-views.ts'
import { createPodsEndedByNode } from './pods-ended-by-node.ts'
import { createProbeManager } from './probes/probe-manager.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import type { AdoptedPod } from './runtimes/simulated/manner.ts'
import { createSeenPods } from './seen-pods.ts'
import type { NodeShutdown, ShutdownOptions } from './shutdown/node-shutdown.ts'
import { createContainerStarter } from './start-container.ts'
import { createStaticPods, type StaticPods } from './static-pods/static-pods.ts'
import { createStatusManager } from './status-manager.ts'
import { type SyncParts, syncPod } from './sync-pod.ts'
import { syncTerminatedPod } from './sync-terminated-pod.ts'
import { syncTerminatingPod } from './sync-terminating-pod.ts'
import { createStartFailures } from './waiting-reasons.ts'
import { createWorkerPhases, type WorkerPhase } from './worker-phases.ts'

export interface NodePodsOptions {
  /** Ends with the kubelet. */
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  readonly signal: AbortSignal
  /** What pods may be given. */
  readonly allocatable: Readonly<Record<string, string>>
  readonly hostIPs: readonly string[]
  readonly containerRuntime: ContainerRuntime
  /** Of a simulated machine that begins anew: takes over a pod that ran before, with its containers and addresses. */
  readonly adopt?: (pod: AdoptedPod) => void
  readonly runtimeName: string
  readonly machine?: Machine
  /** Node-pressure eviction; absent on a node that cannot come under pressure. */
  readonly eviction?: Pick<EvictionOptions, 'config' | 'measurements'> & {
    /** @throws Error */
    readonly deleteUnusedImages: () => Promise<void>
  }
  /** What pods are given to end before the machine goes down; absent where that is not held up. */
  readonly shutdown?: ShutdownOptions
  /** What the node is short of has changed, or whether it goes down. */
  readonly nodeChanged: () => void
  /** Of the Events; default: one of its own. */
  readonly correlation?: Correlation
  /** As the API server has it. */
  readonly node: () => Node | undefined
  readonly longestBackOffMs?: number | undefined
  readonly allowedUnsafeSysctls?: readonly string[] | undefined
  /** What it does is counted by the runtime's metrics. Default: that of a real node is. */
  readonly isCounted?: boolean | undefined
  /** As it is registered, for pods that come before that. */
  readonly ownNode: () => Node
}

export interface WorkingPod {
  readonly pod: Pod
  readonly phase: WorkerPhase
  readonly isDesired: boolean
}

export interface NodePods {
  /** Nothing waits to be told to the API server. */
  readonly idle: boolean
  readonly pods: Pick<PodManager, 'get' | 'list'>
  /** Those of which something may run. */
  activePods(): readonly Pod[]
  /** Those that have a worker, and how far that has come; `isDesired`: the node still has the pod. */
  readonly working: readonly WorkingPod[]
  /** As an agent on the machine sees them; undefined until all are known that the node has. */
  readonly views: Omit<PodViews, 'changed'> | undefined
  readonly containerRuntime: ContainerRuntime
  /** What the node is short of. */
  readonly pressures: ReadonlySet<Pressure>
  readonly shutdown: Pick<NodeShutdown, 'isUnderWay' | 'times'> | undefined
  readonly handle: PodConfigHandler
  /** All static pods that the source of this name has now. */
  readonly setStatic: StaticPods['set']
  runtimeStatus(uid: string): RuntimePodStatus
  podStatus(uid: string): PodStatus | undefined
  probeMetrics(): string
  /** Reads what the runtime has, until it answers. @throws when aborted */
  begin(): Promise<void>
  /** The pods that the API server has for this node have all been handled once: what else runs is left over. */
  allSeen(): void
}

const NO_PRESSURES: ReadonlySet<Pressure> = new Set()

export function createNodePods(options: NodePodsOptions): NodePods {
  const { runtime, client, nodeName, signal, allocatable, hostIPs, containerRuntime, runtimeName, machine } = options
  const { clock } = runtime

  const recorder = createEventRecorder(
    runtime,
    client,
    { component: 'kubelet', host: nodeName },
    'v1',
    USUAL_LIMITS,
    options.correlation,
  )
  const events = createPodEvents(recorder)
  const pods = createPodManager((uid) => views.changed(uid))
  const held = createHeldForPods()
  const seen = machine === undefined ? undefined : held.add(createSeenPods(clock))
  const isCounted = options.isCounted === true || machine !== undefined
  const { counts, podStarts, volumeWork, imageCounts } = createCountsOfPods(runtime, held, isCounted)
  const phases = createWorkerPhases()
  const cache = createPodCache()
  const failures = held.add(createStartFailures())
  const allocations = createAllocations()
  const resizes = held.add(
    createPodResizes(
      allocations,
      allocatable,
      createResizeEvents(events),
      machine?.managers?.policies,
      counts?.resizeRequested,
    ),
  )
  const references = createReferences(clock, client, () => activePods())
  const sync = (uid: string) => workers.sync(uid)
  const pleg = held.add(
    createPleg(
      runtime,
      containerRuntime,
      cache,
      (changes) => {
        // That a container which had ended is removed is no reason to try sooner what failed.
        const reasons = new Set(changes.filter(({ type }) => type !== 'ContainerRemoved').map(({ uid }) => uid))
        for (const uid of new Set(changes.map((change) => change.uid))) {
          if (!isKnown(uid)) housekeeping.endOrphans()
          else if (reasons.has(uid)) sync(uid)
          else workers.look(uid)
        }
      },
      counts,
    ),
  )
  /** Before the pods of this node are known, any of them may be. */
  let podsSeen = false
  const isKnown = (uid: string) => !podsSeen || pods.get(uid) !== undefined || workers.knows(uid)
  const probes = held.add(createProbeManager(runtime, containerRuntime, events, sync, hostIPs[0]))
  const killer = createKiller(
    runtime,
    containerRuntime,
    events,
    (pod, container) => hookReachOf(pod, container, cache.get(uidOf(pod)).ips),
    counts?.sleepCut,
  )
  const pullSecrets = held.add(createPullSecrets(references, events))
  const images = held.add(
    createImages(
      runtime,
      containerRuntime,
      events,
      async (pod, image) => (machine === undefined ? [] : machine.credentials(image, await pullSecrets.find(pod))),
      imageCounts,
      podStarts,
      machine?.pullRecords,
    ),
  )
  const volumes = held.add(
    machine === undefined
      ? createVolumes(clock, client, references, events, undefined, undefined, volumeWork)
      : createVolumes(
          clock,
          client,
          references,
          events,
          machine.volumes,
          createPodCertificates({ runtime, client, events, nodeName, node: options.node }),
          volumeWork,
        ),
  )
  const deadlines = held.add(createActiveDeadlines(clock, events, sync))
  const evicted = held.add(createEvictedPods())
  const devices = machine?.devicePlugins
  devices?.listen({
    changed: options.nodeChanged,
    healthChanged(uids) {
      for (const uid of uids) sync(uid)
    },
  })
  const deviceClaims = createDeviceClaims(client, machine?.preparedClaims, counts?.claimsWork)
  const housekeeping = createHousekeeping({
    runtime,
    signal,
    containerRuntime,
    machine,
    pods,
    cache,
    isKnown,
    unprepareUnknown: deviceClaims.unprepareUnknown,
    look: (uid) => workers.look(uid),
    counts,
  })
  const starter = held.add(
    createContainerStarter({
      counts,
      imageCounts,
      runtime,
      containerRuntime,
      deviceClaims,
      images,
      references,
      failures,
      events,
      killer,
      hostIPs,
      longestBackOffMs: options.longestBackOffMs,
      ...(machine === undefined ? {} : { machine }),
    }),
  )
  const statuses = held.add(
    createStatusManager({
      runtime,
      client,
      pod: (uid) => (staticPods.isStatic(uid) ? staticPods.mirrorOf(uid) : pods.get(uid)),
      // What became of a static pod is told at once: a kubelet looks for its mirror pod among its workers, where that never is.
      couldHaveRunningContainers: (uid) => !staticPods.isStatic(uid) && phases.couldHaveRunningContainers(uid),
      changed: (uid) => views.changed(uid),
      counts,
    }),
  )
  const views: PodViews = createPodViews({ pods, status: statuses.get })
  const beginningAnew = new Set<string>()
  const sources = {
    runtimeName,
    hostIPs,
    limitsPods: machine !== undefined,
    mountsRecursivelyReadOnly: (pod: Pod) => machine?.mountsRecursivelyReadOnly(pod) ?? true,
    startFailure: failures.get,
    ready: probes.ready,
    started: probes.started,
    resources: resizes.resources,
    held: resizes.held,
    isBeginningAnew: (uid: string) => beginningAnew.has(uid),
    resizeConditions: resizes.conditions,
    deviceHealth: (uid: string, container: string) => devices?.health(uid, container),
  }
  const parts: SyncParts = {
    runtime,
    containerRuntime,
    cache,
    pleg,
    statuses,
    sources,
    events,
    probes,
    volumes,
    deviceClaims,
    killer,
    starter,
    deadlines,
    evicted,
    references,
    resizes,
    beginningAnew,
    pullSecrets,
    podStarts,
    volumeWork,
    counts,
    isStatic: (uid) => staticPods.isStatic(uid),
    reconcileMirror: (pod) => staticPods.reconcile(pod),
    ...(machine === undefined ? {} : { machine }),
  }
  const staticPods: StaticPods = createStaticPods({
    runtime,
    client,
    signal,
    node: options.node,
    handle: (operation, pod) => handleOwn(operation, pod, pod),
    sync,
    observed: statuses.observed,
    restarted: counts?.restarted,
  })
  const workers: PodWorkers = createPodWorkers({
    runtime,
    phases,
    newest: (uid) => pods.get(uid),
    async syncPod(pod, abort) {
      await adoptions.adopt(uidOf(pod))
      return syncPod(parts, pod, abort)
    },
    async syncTerminatingPod(pod, grace) {
      await adoptions.adopt(uidOf(pod))
      return syncTerminatingPod(parts, pod, grace)
    },
    async syncTerminatedPod(pod) {
      admission.release(uidOf(pod))
      await syncTerminatedPod(parts, pod)
    },
    shorten: killer.shorten,
    forget,
    counts,
  })

  const adoptions = held.add(
    createAdoptions({
      clock,
      configOf: starter.configOf,
      adopt: options.adopt,
      async adopted(pod) {
        volumes.inherit(pod)
        await pleg.relistPod(uidOf(pod))
      },
    }),
  )

  const activePods = () => [...pods.list()].filter((pod) => phases.couldHaveRunningContainers(uidOf(pod)))
  const hasEnded = (uid: string) => !phases.couldHaveRunningContainers(uid)
  const { eviction, shutdown, preempt } = createPodsEndedByNode({
    ...options,
    recorder,
    events,
    counts,
    evicted,
    activePods,
    isStatic: (uid) => staticPods.isStatic(uid),
    hasEnded,
    isFinished: (uid) => workers.isFinished(uid),
    removeDead: () => housekeeping.removeDead(hasEnded),
    kill: (pod, gracePeriodSeconds) =>
      workers.update({
        pod: resizes.accept(pod),
        type: 'kill',
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      }),
  })

  /** Object, worker and all that was held for the pod are gone. */
  function forget(uid: string): void {
    const removed = housekeeping.removeRemainsOf(uid)
    held.forget(uid)
    // One of the same uid or name may wait for it.
    if (staticPods.isStatic(uid)) void removed.then(() => staticPods.forget(uid))
  }

  const admission = held.add(
    createPodAdmission({
      clock,
      signal,
      pods,
      isStatic: (uid) => staticPods.isStatic(uid),
      node: () => options.node() ?? options.ownNode(),
      allocatable,
      allocations,
      resizes,
      machine,
      allowedUnsafeSysctls: options.allowedUnsafeSysctls,
      stateRefusal: (pod) => shutdown?.refusal() ?? eviction?.refusal(pod),
      start(pod) {
        if (!isTerminalPhase(pod.status?.phase)) counts?.admitted(pod)
        workers.update({ pod, type: 'create' })
      },
      sync: (pod) => workers.update({ pod, type: 'sync' }),
      refused,
      preempt,
      hasEnded,
    }),
  )

  function refused(pod: Pod, { reason, message }: AdmissionRefusal): void {
    counts?.rejected(reason)
    events.warning(pod, reason, message)
    const { generation } = pod.metadata
    // That it was scheduled is no longer told either, as by a kubelet.
    const { conditions: _, ...status } = pod.status ?? {}
    statuses.set(pod, {
      startTime: formatTime(clock.now()),
      ...status,
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    })
    staticPods.reconcile(pod)
  }

  const { handle, handleOwn } = createPodOperations({
    pods,
    seen,
    podStarts,
    statuses,
    resizes,
    admission,
    workers,
    references,
    forget,
    isStatic: (uid) => staticPods.isStatic(uid),
    handleMirror: (operation, pod, observed) => staticPods.handleMirror(operation, pod, observed),
    found(pod) {
      if (podsSeen) return
      probes.inherit(pod)
      adoptions.foundPod(pod)
    },
  })

  return {
    get idle() {
      return statuses.idle
    },
    pods,
    activePods,
    probeMetrics: probes.metrics.text,
    get working() {
      return workers.working().map((one) => ({ ...one, isDesired: pods.get(uidOf(one.pod)) !== undefined }))
    },
    get views() {
      return podsSeen ? views : undefined
    },
    containerRuntime,
    get pressures() {
      return eviction?.pressures ?? NO_PRESSURES
    },
    shutdown,
    handle,
    setStatic: staticPods.set,
    runtimeStatus: cache.get,
    podStatus: statuses.get,
    async begin() {
      pleg.run(signal)
      await pleg.firstRelist(signal)
      shutdown?.run(signal)
    },
    allSeen() {
      podsSeen = true
      staticPods.allSeen()
      machine?.managers?.forgetUnknown((uid) => pods.get(uid) !== undefined)
      eviction?.run(signal)
      housekeeping.endOrphans()
      if (machine !== undefined) housekeeping.begin()
    },
  }
}
