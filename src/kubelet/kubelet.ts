/**
 * kubelet: runs the pods bound to one node. Here is its main loop: what PodConfig, PLEG and the probes tell becomes work of
 * the pod workers; around them PodManager, PodCache, StatusManager and the node's own report. Started by the cluster, once
 * per node; it knows the API only through the client room, and containers only through the Container Runtime Interface.
 */
import { createHash } from 'node:crypto'
import type { Node, PodStatus } from '../api/generated/types.ts'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import type { Client } from '../client/client.ts'
import { createEventRecorder, USUAL_LIMITS } from '../client/events.ts'
import { createInformerFactory } from '../client/informer.ts'
import { createActiveDeadlines } from './active-deadline.ts'
import { createReferences } from './configmaps-and-secrets.ts'
import { createImages } from './image-pull-policy.ts'
import { createKiller } from './kill-pod.ts'
import type { Machine } from './machine/machine.ts'
import { createNodeReporter } from './node-heartbeat.ts'
import type { NodeDescription } from './node-status.ts'
import { removeOrphans } from './orphaned-pods.ts'
import { createPleg } from './pleg.ts'
import { isTerminalPhase, namespaceOf, type Pod, reachOf, specOf, uidOf } from './pod.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import { createAllocations, refusalOf } from './pod-admission.ts'
import { createPodCache, type RuntimePodStatus } from './pod-cache.ts'
import { type PodOperation, watchPods } from './pod-config.ts'
import { createPodEvents } from './pod-events.ts'
import { createPodManager, type PodManager } from './pod-manager.ts'
import { createPodWorkers, type PodWorkers } from './pod-workers.ts'
import { createProbeManager } from './probes/probe-manager.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { createContainerStarter } from './start-container.ts'
import { createStatusManager } from './status-manager.ts'
import { type SyncParts, syncPod } from './sync-pod.ts'
import { syncTerminatedPod } from './sync-terminated-pod.ts'
import { syncTerminatingPod } from './sync-terminating-pod.ts'
import { createVolumes } from './volumes.ts'
import { createStartFailures } from './waiting-reasons.ts'

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
  /** Of a real node: its files, mounts, groups. */
  readonly machine?: Machine
  /** What of the node's description is its own; asked again for each report. */
  readonly describe?: () => Partial<NodeDescription>
}

export interface Kubelet {
  readonly nodeName: string
  readonly containerRuntime: ContainerRuntime
  /** Nothing waits to be told to the API server. For tests. */
  readonly idle: boolean
  readonly pods: Pick<PodManager, 'get' | 'list'>
  /** What the runtime last said of a pod. */
  runtimeStatus(uid: string): RuntimePodStatus
  /** The status that the pod has, told or not. */
  podStatus(uid: string): PodStatus | undefined
  /** Reports the node's status now: something of its description has changed. */
  reportNode(): Promise<void>
}

const DEFAULT_CAPACITY: Readonly<Record<string, string>> = {
  cpu: '32',
  'ephemeral-storage': '1Ti',
  memory: '256Gi',
  pods: '2k',
}

/** What is left of pods that are gone is looked for again after this. */
const COLLECTION_PERIOD_MS = 60_000
/** Pods of a real node are looked at again after this. */
const FRESH_PERIOD_MS = 60_000
const PODS = { group: '', version: 'v1', resource: 'pods' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }

/** Resolves once the node is registered and Ready, and its pods are looked after. Runs until `signal` is aborted. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { client, nodeName, signal, machine } = options
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
    void removeOrphans(containerRuntime, isKnown, machine).catch((error) => {
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
  const probes = createProbeManager(runtime, containerRuntime, events, sync, hostIP)
  const killer = createKiller(runtime, containerRuntime, events, (pod, container) =>
    reachOf(pod, container, cache.get(uidOf(pod)).ips, hostIP),
  )
  const images = createImages(runtime, containerRuntime, events, async (pod, image) => {
    if (machine === undefined) return []
    const names = (specOf(pod).imagePullSecrets ?? []).map(({ name = '' }) => name)
    const secrets = await Promise.all(names.map((name) => references.secret(namespaceOf(pod), name)))
    return machine.credentials(
      image,
      secrets.filter((secret) => secret !== undefined),
    )
  })
  const volumes = createVolumes(clock, client, references, events, machine?.volumes)
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
    ...(machine === undefined ? {} : { machine }),
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
    limitsPods: machine !== undefined,
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
    ...(machine === undefined ? {} : { machine }),
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
  const described = () => ({ ...description, ...options.describe?.() })
  const reporter = createNodeReporter(
    runtime,
    client,
    options.describe === undefined ? () => description : described,
    signal,
  )
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
    const failed = (error: unknown) => {
      runtime.log.error('Removing a sandbox failed', error)
      endOrphansLater()
    }
    const { sandboxes } = cache.get(uid)
    if (machine === undefined) for (const { id } of sandboxes) containerRuntime.removePodSandbox(id).catch(failed)
    else
      Promise.all(sandboxes.map(({ id }) => containerRuntime.removePodSandbox(id)))
        .then(() => machine.remove(uid))
        .catch(failed)
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

  /** Volumes made of objects follow them, and what an end left over is looked for. */
  function keepFresh(): void {
    const timer = clock.setTimer(FRESH_PERIOD_MS, 'pods are looked at again', () => {
      if (signal.aborted) return
      for (const pod of pods.list()) if (!isTerminalPhase(pod.status?.phase)) sync(uidOf(pod))
      endOrphans()
      keepFresh()
    })
    signal.addEventListener('abort', () => timer.cancel(), { once: true })
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
  if (machine !== undefined) keepFresh()
  return {
    nodeName,
    containerRuntime,
    get idle() {
      return statuses.idle
    },
    pods,
    runtimeStatus: cache.get,
    podStatus: statuses.get,
    reportNode: reporter.report,
  }
}
