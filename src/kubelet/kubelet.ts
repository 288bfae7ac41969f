/**
 * kubelet: runs the pods bound to one node. Here is what begins with the node: its report and lease, where it learns of its
 * pods, and what looks after them (node-pods.ts), which a simulated node has only once a pod is bound to it. Started by the
 * cluster, once per node; it knows the API only through the client room, and containers only through the Container Runtime
 * Interface.
 */
import { createHash } from 'node:crypto'
import type { Node, PodStatus } from '../api/generated/types.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { Correlation } from '../client/event-correlation.ts'
import type { Machine } from './machine/machine.ts'
import type { NodeStartMetrics } from './metrics/node-start-metrics.ts'
import { createConditionEvents } from './node-condition-events.ts'
import type { NodeEvents } from './node-events.ts'
import { createNodeReporter } from './node-heartbeat.ts'
import { createNodePods, type NodePods, type NodePodsOptions } from './node-pods.ts'
import type { KubeletSettings } from './node-settings.ts'
import { type NodeDescription, nodeObject, runtimeVersionOf } from './node-status.ts'
import type { Pod } from './pod.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import { watchPods } from './pod-config.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import type { SimulationResources } from './runtimes/simulated/simulated-answers.ts'
import {
  createSimulatedRuntime,
  SIMULATED_VERSION,
  type SimulatedContainerRuntime,
} from './runtimes/simulated/simulated-runtime.ts'
import type { ShutdownTimes } from './shutdown/node-shutdown.ts'
import { type KubeletSources, ownSources } from './sources.ts'
import type { StaticPodSource } from './static-pods/static-pods.ts'

export interface KubeletOptions extends KubeletSettings {
  /** Its timers and hand-overs end with the signal (base/stoppable.ts): one for all kubelets that end together. */
  readonly runtime: Runtime
  /** Speaks as system:node:NAME in the groups system:nodes and system:authenticated, with user agent `kubelet`. */
  readonly client: Client
  readonly nodeName: string
  readonly signal: AbortSignal
  /** Default: 32 CPUs, 256Gi, 2,000 pods. */
  readonly capacity?: Readonly<Record<string, string>>
  /** What pods may be given of it. Default: all. */
  readonly allocatable?: Readonly<Record<string, string>>
  /** The node's own addresses. Default 127.0.0.1. */
  readonly nodeIPs?: readonly string[]
  /** Pod addresses of the simulated runtime. Default: the first node's. */
  readonly podCIDRs?: readonly string[]
  /** One that keeps its containers while no kubelet runs. Default: a simulated one, which goes on with what pods' statuses tell. */
  readonly containerRuntime?: ContainerRuntime
  /** Another simulated one than that by default, of this kubelet alone. */
  readonly simulatedRuntime?: SimulatedContainerRuntime
  /** What simulated containers may use of this machine. Default: nothing. */
  readonly resources?: SimulationResources
  /** Default v1.37.1. */
  readonly kubeletVersion?: string
  /** Of a real node: its files, mounts, groups. */
  readonly machine?: Machine
  /** Where it learns of its node and pods. Default: by watches of its own (sources.ts). */
  readonly sources?: KubeletSources
  /** Of a node that can be short of something. */
  readonly eviction?: NodePodsOptions['eviction']
  /** Of a node whose machine's shutdown is held up for its pods. */
  readonly shutdown?: NodePodsOptions['shutdown']
  /** Where pods lie that it runs whether or not there is an API server. Default: none. */
  readonly staticPods?: readonly StaticPodSource[]
  /** What is remembered of Events that were told. Default: one of its own. */
  readonly correlation?: Correlation
  /** Where Events of how the node is are told; absent: nowhere. */
  readonly nodeEvents?: NodeEvents
  /** What of the node's description is its own; asked again for each report. */
  readonly describe?: () => Partial<NodeDescription>
  /** Whether it makes its Node again when that was deleted. Default: true; kubelets of Kubernetes do so only when they start. */
  readonly registersAgain?: boolean
  /** Others say what becomes of its pods, or of the Node's status, which it then only registers (stages/play-stages.ts). */
  readonly played?: { readonly pods: boolean; readonly node: boolean }
  /** Told how far the start has come. */
  readonly starting?: NodeStartMetrics
  /** What it does is counted by the runtime's metrics. Default: that of a real node is. */
  readonly isCounted?: boolean
}

export interface Kubelet {
  readonly nodeName: string
  readonly containerRuntime: ContainerRuntime
  /** Nothing waits to be told to the API server. For tests. */
  readonly idle: boolean
  readonly pods: NodePods['pods']
  /** Those of which something may run. */
  activePods(): readonly Pod[]
  /** Those that have a worker. */
  working(): NodePods['working']
  /** As an agent on the machine sees them; undefined until all are known that the node has. */
  readonly views: NodePods['views']
  /** What the runtime last said of a pod. */
  runtimeStatus(uid: string): RuntimePodStatus
  /** The status that the pod has, told or not. */
  podStatus(uid: string): PodStatus | undefined
  /** Reports the node's status now: something of its description has changed. */
  reportNode(): Promise<void>
  /** How probes came out, in Prometheus' text format. */
  probeMetrics(): string
  /** When pods were last ended because the machine went down. */
  readonly shutdownTimes: ShutdownTimes
}

const DEFAULT_CAPACITY: Readonly<Record<string, string>> = {
  cpu: '32',
  'ephemeral-storage': '1Ti',
  memory: '256Gi',
  pods: '2k',
}

/** Resolves once the node is registered and Ready, and its pods are looked after. Runs until `signal` is aborted. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { runtime, client, nodeName, signal, machine, containerRuntime } = options
  const hostIPs = options.nodeIPs ?? ['127.0.0.1']
  const capacity = options.capacity ?? DEFAULT_CAPACITY
  const { runtimeName, runtimeVersion } =
    (await (containerRuntime ?? options.simulatedRuntime)?.version()) ?? SIMULATED_VERSION

  /** What looks after the pods. A simulated node's begins with nothing, so it may begin with the first of them. */
  let made: NodePods | undefined

  const description: NodeDescription = {
    name: nodeName,
    ips: hostIPs,
    capacity,
    ...(options.allocatable === undefined ? {} : { allocatable: options.allocatable }),
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    kubeletVersion: options.kubeletVersion ?? 'v1.37.1',
    runtimeVersion: runtimeVersionOf(runtimeName, runtimeVersion),
    machineId: createHash('sha256').update(nodeName).digest('hex').slice(0, 32),
    bootId: runtime.random.uuid(),
    ...options.registers,
  }
  const described = (): NodeDescription => ({
    ...description,
    ...options.describe?.(),
    ...(made === undefined ? {} : { pressures: made.pressures, goesDown: made.shutdown?.isUnderWay === true }),
  })
  const reporter = createNodeReporter(
    runtime,
    client,
    (options.describe ?? options.eviction ?? options.shutdown) === undefined ? () => description : described,
    signal,
    {
      isPlayed: options.played?.node === true,
      ...(options.nodeEvents === undefined ? {} : { told: createConditionEvents(options.nodeEvents, nodeName) }),
      ...options,
    },
  )
  let node: Node | undefined
  const observe = (seen: Node) => {
    node = seen
    reporter.observed(seen)
  }

  function containersOfNode(): Pick<NodePodsOptions, 'containerRuntime' | 'adopt'> {
    if (containerRuntime !== undefined) return { containerRuntime }
    const simulated =
      options.simulatedRuntime ??
      createSimulatedRuntime(runtime, createPodAddresses(...(options.podCIDRs ?? [podCIDROf(0)])), {
        ...(options.resources === undefined ? {} : { resources: options.resources }),
      })
    return { containerRuntime: simulated, adopt: simulated.adopt }
  }

  let allSeen = false
  function nodePods(): NodePods {
    if (made !== undefined) return made
    made = createNodePods({
      runtime,
      client,
      nodeName,
      signal,
      allocatable: options.allocatable ?? capacity,
      hostIPs,
      ...containersOfNode(),
      runtimeName,
      node: () => node,
      ownNode: () => nodeObject(described(), runtime.clock.now()),
      ...(machine === undefined ? {} : { machine }),
      ...(options.eviction === undefined ? {} : { eviction: options.eviction }),
      ...(options.shutdown === undefined ? {} : { shutdown: options.shutdown }),
      longestBackOffMs: options.longestBackOffMs,
      allowedUnsafeSysctls: options.allowedUnsafeSysctls,
      isCounted: options.isCounted,
      nodeChanged: () => reporter.changed(),
      ...(options.correlation === undefined ? {} : { correlation: options.correlation }),
    })
    if (containerRuntime === undefined) {
      void made.begin().catch(() => {})
      if (allSeen) made.allSeen()
    }
    return made
  }

  const sources = options.sources ?? ownSources(runtime, client, nodeName, signal)
  sources.node.addHandlers({
    added: observe,
    updated: (_, seen) => observe(seen),
    deleted: () => reporter.deleted(),
  })
  if (containerRuntime !== undefined) await nodePods().begin()
  else if (options.shutdown !== undefined) nodePods()
  for (const source of options.staticPods ?? [])
    source.start((pods) => {
      if (made !== undefined || pods.length > 0) nodePods().setStatic(source.name, pods)
    }, signal)
  options.starting?.registering()
  await reporter.register()
  options.starting?.registered()
  reporter.run()
  if (options.played?.pods !== true)
    watchPods(sources.pods, (operation, pod, observed) => nodePods().handle(operation, pod, observed))
  await sources.start()
  allSeen = true
  made?.allSeen()
  options.starting?.ready()
  return {
    nodeName,
    get containerRuntime() {
      return nodePods().containerRuntime
    },
    get idle() {
      return made?.idle ?? true
    },
    pods: {
      get: (uid) => made?.pods.get(uid),
      list: () => made?.pods.list() ?? [],
    },
    activePods: () => made?.activePods() ?? [],
    working: () => made?.working ?? [],
    get views() {
      return made?.views
    },
    runtimeStatus: (uid) => nodePods().runtimeStatus(uid),
    podStatus: (uid) => made?.podStatus(uid),
    reportNode: reporter.report,
    probeMetrics: () => made?.probeMetrics() ?? '',
    get shutdownTimes() {
      return made?.shutdown?.times ?? {}
    },
  }
}
