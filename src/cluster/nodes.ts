/** The cluster's simulated nodes: one kubelet each, skiff-1 and up, under its own user. */
import type { Node } from '../api/generated/types.ts'
import type { Handler, UserInfo } from '../api/request.ts'
import type { IPFamily } from '../api/values/ip.ts'
import type { Runtime } from '../base/runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import type { NodeSettings } from '../kubelet/node-settings.ts'
import type { ContainerManner } from '../kubelet/runtimes/simulated/manner.ts'
import type { SimulationResources } from '../kubelet/runtimes/simulated/simulated-answers.ts'
import type { Stage } from '../kubelet/stages/stage-file.ts'
import type { ClientFor } from './elected.ts'

export const nodeName = (index: number): string => `skiff-${index + 1}`

export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] }
}

/** As this user the nodes of one process watch all nodes and pods together; everything else each does as itself. */
export const simulatedNodesUser: UserInfo = {
  name: 'system:simulated-nodes',
  groups: ['system:masters', 'system:authenticated'],
}

/** Objects about which all nodes together remember the Events that they told. */
const TOLD_SUBJECTS = 16_384

/** One to run. Without more than a name it is a new machine. */
export interface SimulatedNode {
  readonly name: string
  /** An existing Node that this simulated node takes over: its capacity and its nodeInfo stay as they are. */
  readonly as?: Node
  /** How its containers live and end, whatever pods ask of a simulation. */
  readonly manner?: ContainerManner
}

/** Simulated ones beside real ones. */
export const besideNodes = (count: number): readonly SimulatedNode[] =>
  Array.from({ length: count }, (_, index) => ({ name: `simulated-${index + 1}` }))

const SIMULATED = 'sim.skiff.dev/node'

export const numberedNodes = (count: number): readonly SimulatedNode[] =>
  Array.from({ length: count }, (_, index) => ({ name: nodeName(index) }))

/** The kubelets that run in this process, as their API server asks them, by the names of their nodes. */
export interface KubeletsHere {
  get(nodeName: string): Handler | undefined
  set(nodeName: string, kubelet: Handler): void
  delete(nodeName: string): void
  /** Whether there is any. */
  readonly areThere: boolean
  /** Calls the listener when the first comes and when the last goes, until the function that it returns is called. */
  onChange(listener: () => void): () => void
}

export function createKubeletsHere(): KubeletsHere {
  const kubelets = new Map<string, Handler>()
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  return {
    get: (nodeName) => kubelets.get(nodeName),
    set(nodeName, kubelet) {
      kubelets.set(nodeName, kubelet)
      if (kubelets.size === 1) tell()
    },
    delete(nodeName) {
      if (kubelets.delete(nodeName) && kubelets.size === 0) tell()
    },
    get areThere() {
      return kubelets.size > 0
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Of the settings only those of static pods matter. */
export interface NodesOptions extends NodeSettings {
  readonly here?: KubeletsHere
  readonly resources?: SimulationResources
  /** What becomes of pods and nodes, in the place of their kubelets, and of objects of other kinds. Default: none. */
  readonly stages?: readonly Stage[]
  /** Of the cluster's Services, and so of nodes and pods. Default: IPv4. */
  readonly families?: readonly IPFamily[]
  /** What nodes' ranges are pieces of, one of each family. Default: as simulatedNetwork has it. */
  readonly clusterCidrs?: readonly string[] | undefined
  /** They stand beside real ones: pods come to them that tolerate it, and their ranges are none that a real node has. */
  readonly beside?: boolean
}

/** Resolves when all nodes are registered and Ready. */
export async function startNodes(
  runtime: Runtime,
  simulated: readonly SimulatedNode[],
  clientFor: ClientFor,
  signal: AbortSignal,
  options: NodesOptions = {},
): Promise<void> {
  const { startKubelet } = await import('../kubelet/kubelet.ts')
  const { simulatedNetwork } = await import('../kubelet/pod-addresses.ts')
  const { families = ['IPv4'], clusterCidrs, beside = false } = options
  const network = simulatedNetwork({ families, clusterCidrs, beside, nodes: simulated.length })
  const { createCorrelation } = await import('../client/event-correlation.ts')
  const { sharedSources } = await import('../kubelet/sources.ts')
  const { kubeletRoutes } = await import('../kubelet/server/routes.ts')
  const { here, resources, podManifestPath, manifestUrl, stages = [], allowedUnsafeSysctls } = options
  const hasManifests = podManifestPath !== undefined || manifestUrl !== undefined
  const { manifestSources } = hasManifests ? await import('../kubelet/static-pods/manifest-sources.ts') : {}
  const own = stoppable({ ...runtime, log: runtime.log.named('kubelet') }, signal)
  const { playedBy, playStages } = stages.length === 0 ? {} : await import('../kubelet/stages/play-stages.ts')
  const played = playedBy?.(stages)
  const sourcesOf =
    simulated.length < 2 ? undefined : sharedSources(own, clientFor(simulatedNodesUser, 'kubelet'), signal)
  const correlation = createCorrelation(runtime.clock, TOLD_SUBJECTS)
  const gone = () => {
    for (const { name } of simulated) here?.delete(name)
  }
  signal.addEventListener('abort', gone, { once: true })
  await Promise.all(
    simulated.map(async (node, index) => {
      const { name } = node
      const client = clientFor(nodeUser(name), 'kubelet')
      const kubelet = await startKubelet({
        runtime: own,
        client,
        nodeName: name,
        nodeIPs: network.nodeIPs(index),
        podCIDRs: network.podCIDRs(index),
        ...(beside || network.isTold
          ? { registers: { podCIDRs: network.podCIDRs(index), ...(beside ? BESIDE_REAL : {}) } }
          : {}),
        signal,
        correlation,
        ...(resources === undefined ? {} : { resources }),
        ...(allowedUnsafeSysctls === undefined ? {} : { allowedUnsafeSysctls }),
        ...(manifestSources === undefined ? {} : { staticPods: manifestSources(own, name, options) }),
        ...(sourcesOf === undefined ? {} : { sources: sourcesOf(name) }),
        ...(played === undefined ? {} : { played }),
        ...(node.as === undefined
          ? {}
          : (await import('../kubelet/adopted-node.ts')).adoptedNode(own, {
              ...node,
              as: node.as,
              podCIDRs: network.podCIDRs(index),
            })),
      })
      // A process that adopts a node knows nothing of what its containers would answer.
      if (here === undefined || node.as !== undefined) return
      here.set(name, kubeletRoutes({ runtime: own, nodeName: name, kubelet: () => kubelet }))
    }),
  )
  const ranges = new Map(simulated.map(({ name }, index) => [name, network.podCIDRs(index)]))
  await playStages?.({
    runtime: { ...runtime, log: runtime.log.named('stages') },
    client: clientFor(simulatedNodesUser, 'skiff-stages'),
    clientAs: (name) => clientFor({ name, groups: ['system:authenticated'] }, 'skiff-stages'),
    stages,
    isSimulated: (name) => ranges.has(name),
    podCIDROf: (name) => ranges.get(name)?.[0],
    signal,
  })
}

const BESIDE_REAL = {
  labels: { [SIMULATED]: 'simulated' },
  taints: [{ key: SIMULATED, value: 'simulated', effect: 'NoSchedule' }],
}

/** So many that all simulated nodes are run that the cluster has: another process may have run more of them. */
export async function nodesToRun(wanted: number, clientFor: ClientFor): Promise<number> {
  const client = clientFor(simulatedNodesUser, 'kubelet')
  const { items } = await client.resource<Node>({ group: '', version: 'v1', resource: 'nodes' }).list()
  const numbers = items.map(({ metadata, status }) => {
    const isSimulated = String(status?.nodeInfo?.containerRuntimeVersion ?? '').startsWith('simulated://')
    return isSimulated ? Number(/^skiff-(\d+)$/.exec(metadata.name ?? '')?.[1] ?? 0) : 0
  })
  return Math.max(wanted, ...numbers)
}
