/**
 * kubelet: runs the pods bound to one node. Here is its main loop: what PodConfig, PLEG and the probes tell becomes work of
 * the pod workers; around them PodManager, PodCache, StatusManager and the node's own report. Started by the cluster, once
 * per node; it knows the API only through the client room, and containers only through the Container Runtime Interface.
 */
import { createHash } from 'node:crypto'
import type { Node } from '../api/generated/types.ts'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import type { Client } from '../client/client.ts'
import { createEventRecorder, USUAL_LIMITS } from '../client/events.ts'
import { createInformerFactory } from '../client/informer.ts'
import { createActiveDeadlines } from './active-deadline.ts'
import { createAllocations, refusalOf } from './admission.ts'
import { createImages } from './images.ts'
import { createKiller } from './kill-pod.ts'
import { createNodeReporter } from './node-reporter.ts'
import type { NodeDescription } from './node-status.ts'
import { removeOrphans } from './orphans.ts'
import { createPleg } from './pleg.ts'
import { isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import { createPodCache } from './pod-cache.ts'
import { type PodOperation, watchPods } from './pod-config.ts'
import { createPodEvents } from './pod-events.ts'
import { createPodManager } from './pod-manager.ts'
import { createPodWorkers, type PodWorkers } from './pod-workers.ts'
import { createProbeManager } from './probes/probe-manager.ts'
import { createReferences } from './references.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated.ts'
import { createContainerStarter } from './start-container.ts'
import { createStartFailures } from './start-failures.ts'
import { createStatusManager } from './status-manager.ts'
import { type SyncParts, syncPod } from './sync-pod.ts'
import { syncTerminatedPod } from './sync-terminated-pod.ts'
import { syncTerminatingPod } from './sync-terminating-pod.ts'
import { createVolumes } from './volumes.ts'

export interface KubeletOptions {
  readonly runtime: Runtime
  /** Speaks as system:node:NAME in the groups system:nodes and system:authenticated, with user agent `kubelet`. */
  readonly client: Client
  readonly nodeName: string
  readonly signal: AbortSignal
  /** Default: 32 CPUs, 256Gi, 2,000 pods. */
  readonly capacity?: Readonly<Record<string, string>>
  /** The node's own address. Default 127.0.0.1. */
  readonly nodeIP?: string
  /** Pod addresses of the simulated runtime. Default: the first node's. */
  readonly podCIDR?: string
  /** Default: the simulated one. */
  readonly containerRuntime?: ContainerRuntime
  /** Default v1.37.1. */
  readonly kubeletVersion?: string
}

export interface Kubelet {
  readonly nodeName: string
  readonly containerRuntime: ContainerRuntime
  /** Nothing waits to be told to the API server. For tests. */
  readonly idle: boolean
}

const DEFAULT_CAPACITY: Readonly<Record<string, string>> = {
  cpu: '32',
  'ephemeral-storage': '1Ti',
  memory: '256Gi',
  pods: '2k',
}

/** What is left of pods that are gone is looked for again after this. */
const COLLECTION_PERIOD_MS = 60_000
const PODS = { group: '', version: 'v1', resource: 'pods' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }

/** Resolves once the node is registered and Ready, and its pods are looked after. Runs until `signal` is aborted. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { client, nodeName, signal } = options
  const runtime = stoppable(options.runtime, signal)
  const { clock } = runtime
  const hostIP = options.nodeIP ?? '127.0.0.1'
  const capacity = options.capacity ?? DEFAULT_CAPACITY
  const containerRuntime =
    options.containerRuntime ?? createSimulatedRuntime(runtime, createPodAddresses(options.podCIDR ?? podCIDROf(0)))
  const { runtimeName, runtimeVersion } = await containerRuntime.version()

  const recorder = createEventRecorder(runtime, client, { component: 'kubelet', host: nodeName }, 'v1', USUAL_LIMITS)
  const events = createPodEvents(recorder)
  const pods = createPodManager()
  const cache = createPodCache()
  const failures = createStartFailures()
  const allocations = createAllocations()
  const references = createReferences(clock, client)
  const sync = (uid: string) => workers.sync(uid)
  const pleg = createPleg(runtime, containerRuntime, cache, (changes) => {
    for (const uid of new Set(changes.map((change) => change.uid))) {
      if (isKnown(uid)) sync(uid)
      else endOrphans()
    }
  })
  /** Before the pods of this node are known, any of them may be. */
  let podsSeen = false
  const isKnown = (uid: string) => !podsSeen || pods.get(uid) !== undefined || workers.knows(uid)
  const endOrphans = () =>
    void removeOrphans(containerRuntime, isKnown).catch((error) => {
      runtime.log.error('Removing pods that are gone failed', error)
      endOrphansLater()
    })
  let orphansDue: Timer | undefined
  const endOrphansLater = () => {
    if (orphansDue !== undefined || signal.aborted) return
    orphansDue = clock.setTimer(COLLECTION_PERIOD_MS, 'orphans are collected', () => {
      orphansDue = undefined
      if (!signal.aborted) endOrphans()
    })
  }
  const probes = createProbeManager(runtime, containerRuntime, events, sync)
  const killer = createKiller(runtime, containerRuntime, events)
  const images = createImages(runtime, containerRuntime, events)
  const volumes = createVolumes(clock, client, references, events)
  const deadlines = createActiveDeadlines(clock, events, sync)
  const starter = createContainerStarter({
    runtime,
    containerRuntime,
    images,
    references,
    failures,
    events,
    killer,
    hostIP,
  })
  const statuses = createStatusManager({
    runtime,
    client,
    pod: (uid) => pods.get(uid),
    couldHaveRunningContainers: (uid) => workers.couldHaveRunningContainers(uid),
  })
  const sources = {
    runtimeName,
    hostIP,
    startFailure: failures.get,
    ready: probes.ready,
    started: probes.started,
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
    killer,
    starter,
    deadlines,
  }
  const workers: PodWorkers = createPodWorkers({
    runtime,
    syncPod: (pod, abort) => syncPod(parts, pod, abort),
    syncTerminatingPod: (pod, grace) => syncTerminatingPod(parts, pod, grace),
    async syncTerminatedPod(pod) {
      allocations.remove(uidOf(pod))
      await syncTerminatedPod(parts, pod)
    },
    shorten: killer.shorten,
    forget,
  })

  const description: NodeDescription = {
    name: nodeName,
    ip: hostIP,
    capacity,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    kubeletVersion: options.kubeletVersion ?? 'v1.37.1',
    runtimeVersion: `${runtimeName}://${runtimeVersion}`,
    machineId: createHash('sha256').update(nodeName).digest('hex').slice(0, 32),
    bootId: runtime.random.uuid(),
  }
  const reporter = createNodeReporter(runtime, client, () => description, signal)
  let node: Node | undefined

  /** Object, worker and all that was held for the pod are gone. */
  function forget(uid: string): void {
    allocations.remove(uid)
    statuses.forget(uid)
    probes.remove(uid)
    volumes.forget(uid)
    images.forget(uid)
    starter.forget(uid)
    failures.forget(uid)
    deadlines.forget(uid)
    for (const { id } of cache.get(uid).sandboxes)
      containerRuntime.removePodSandbox(id).catch((error) => {
        runtime.log.error('Removing a sandbox failed', error)
        endOrphansLater()
      })
    pleg.forget(uid)
  }

  function add(pod: Pod): void {
    const known = pod.metadata.deletionTimestamp !== undefined || pod.status?.startTime !== undefined
    const refusal = known ? undefined : refusalOf(pod, node, capacity, allocations)
    if (refusal === undefined) {
      if (!isTerminalPhase(pod.status?.phase)) allocations.add(pod)
      workers.update({ pod, type: 'create' })
      return
    }
    const { reason, message } = refusal
    events.warning(pod, reason, message)
    const { generation } = pod.metadata
    statuses.set(pod, {
      ...pod.status,
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    })
  }

  function handle(operation: PodOperation, pod: Pod, observed: Pod): void {
    switch (operation) {
      case 'ADD':
        pods.set(pod)
        add(pod)
        break
      case 'UPDATE':
      case 'DELETE':
        pods.set(pod)
        statuses.observed(observed)
        workers.update({ pod, type: 'update' })
        break
      case 'RECONCILE':
        pods.set(pod)
        statuses.observed(observed)
        if ((specOf(pod).readinessGates ?? []).length > 0) workers.update({ pod, type: 'sync' })
        else if (isTerminalPhase(pod.status?.phase)) workers.update({ pod, type: 'sync' })
        return
      case 'REMOVE':
        pods.delete(uidOf(pod))
        workers.remove(pod)
    }
  }

  const informers = createInformerFactory(runtime, client, signal)
  informers.informer<Node>(NODES, { fieldSelector: `metadata.name=${nodeName}` }).addHandlers({
    added: observe,
    updated: (_, seen) => observe(seen),
    deleted: () => reporter.deleted(),
  })
  function observe(seen: Node): void {
    node = seen
    reporter.observed(seen)
  }

  pleg.run(signal)
  await pleg.firstRelist(signal)
  await reporter.register()
  reporter.run()
  watchPods(informers.informer<Pod>(PODS, { fieldSelector: `spec.nodeName=${nodeName}` }), handle)
  informers.start()
  await informers.whenSynced(signal)
  podsSeen = true
  endOrphans()
  return {
    nodeName,
    containerRuntime,
    get idle() {
      return statuses.idle
    },
  }
}
