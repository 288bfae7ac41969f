/** Starts what runs beside the API server, each component in this process under its own user. */

import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import type { UserInfo } from '../api/request.ts'
import { ADMINISTRATOR } from '../api/users.ts'
import { signJwt } from '../apiserver/auth/jwt.ts'
import type { ServiceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import type { Runtime } from '../base/runtime.ts'
import { endingTransport } from '../client/held-transports.ts'
import { createClients, type Transport } from '../client/transport.ts'
import type { ControllerSettings } from '../controllers/controller.ts'
import { nodeMaskSizeOf } from '../controllers/node-ipam/node-ranges.ts'
import type { PreparedNode } from '../kubelet/machine/prepare-node.ts'
import type { RealNode } from '../kubelet/machine/real-node.ts'
import { type NodeSettings, nodeSettings } from '../kubelet/node-settings.ts'
import type { SimulationResources } from '../kubelet/runtimes/simulated/simulated-answers.ts'
import type { Stage } from '../kubelet/stages/stage-file.ts'
import type { SchedulerChoice } from '../scheduler/scheduler.ts'
import { issueForRequest } from './certificate.ts'
import type { ComponentServer } from './component-server.ts'
import { type ClientFor, type Elected, type ElectedOptions, startElected } from './elected.ts'
import type { Identity } from './identity.ts'
import type { FurtherNodes } from './namespaced-nodes/start-nodes.ts'
import type { NodeServices } from './node-proxy-and-dns.ts'
import { type KubeletsHere, numberedNodes, type SimulatedNode } from './nodes.ts'
import { type Component, DEFAULT_HOST } from './options.ts'
import type { Pki } from './pki.ts'

export interface ComponentsOptions extends NodeSettings {
  readonly components: readonly Component[]
  /** The simulated nodes; where they are real, as many as there are. */
  readonly nodes: readonly SimulatedNode[]
  readonly clientFor: ClientFor
  readonly transport: Transport
  /**
   * By what name this process holds Leases: other processes may run the same components over the same store, and each runs in one of
   * them. undefined: the store has no other.
   */
  readonly leaseHolder: string | undefined
  readonly pki: Pki
  readonly identity: Identity
  readonly progress: (text: string) => void
  readonly scheduler?: SchedulerChoice
  /** Of another cluster, which has the StorageClasses that it has. */
  readonly isTwin?: boolean
  /** Where real nodes keep the volumes of the default StorageClass. */
  readonly volumes: string
  /** Where Services have their addresses. */
  readonly network: ServiceNetwork
  /** What nodes' ranges are pieces of, one of each family of the Services'. Default: of the simulated nodes' own choice. */
  readonly clusterCidrs?: readonly string[]
  /** The first node runs real containers. */
  readonly real?: PreparedNode
  /** Where the simulated nodes' kubelets are to be found while they run. */
  readonly kubelets?: KubeletsHere
  /** What their containers may use of this machine. */
  readonly simulation?: SimulationResources
  /** What becomes of pods, nodes and others in their place. Default: none. */
  readonly stages?: readonly Stage[]
  /** Simulated nodes beside real ones. Default: none. */
  readonly beside?: readonly SimulatedNode[]
  /** So do others on this machine. */
  readonly further?: FurtherNodes
  /** Where something is stored that cannot be read, which components may wait for. */
  unreadable(): readonly string[]
}

/** How long components are waited for that may wait themselves for what cannot be read. */
const UNREADABLE_PATIENCE_MS = 3000

export interface RunningComponents {
  /** The controller manager's own port, where it runs. */
  readonly debugUrl?: string
  readonly node?: RealNode
  stop(): Promise<void>
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

/** Resolves when everything runs, or what does while there are objects that cannot be read: the rest begins when they can. What had started is stopped when something does not start. */
export async function startComponents(runtime: Runtime, options: ComponentsOptions): Promise<RunningComponents> {
  const { components, progress, transport } = options
  const stopping = new AbortController()
  const { signal } = stopping
  // Every informer, queue and loop of a component ends with it: many listeners are no leak.
  setMaxListeners(0, signal)
  const starting: Promise<unknown>[] = []
  let debug: ComponentServer | undefined
  let node: RealNode | undefined
  let services: NodeServices | undefined
  const elected: Elected[] = []
  const stop = async () => {
    stopping.abort()
    await Promise.all(elected.map((one) => one.stop()))
    await debug?.stop()
    await services?.stopped()
    await Promise.all([node?.takeDown(), options.further?.stop()])
  }
  const clients = createClients(runtime, endingTransport(transport, signal))
  /** Here, or in one of the processes that share the store. */
  const startOnce = (name: string, user: UserInfo, start: ElectedOptions['start']) => {
    const { leaseHolder } = options
    if (leaseHolder === undefined) {
      // Without other processes there is no Lease to give back: the component ends by `signal`, in `stop`.
      starting.push(start((as, userAgent = 'skiff') => clients({ user: as, userAgent }), signal))
      return
    }
    const one = startElected(runtime, { transport, name, user, identity: leaseHolder, start })
    elected.push(one)
    starting.push(one.running)
  }
  if (components.includes('controllers')) {
    progress('starting the controllers')
    const { controllerManagerUser } = await import('../controllers/manager.ts')
    startOnce('kube-controller-manager', controllerManagerUser, async (clients, ending) => {
      const server = await startControllers(runtime, { ...options, clientFor: clients }, ending)
      debug = server
      return server.stop
    })
  }
  if (components.includes('scheduler')) {
    progress('starting the scheduler')
    const { startScheduler } = await import('../scheduler/scheduler.ts')
    startOnce('kube-scheduler', SCHEDULER, async (clients, ending) => {
      const client = clients(SCHEDULER, 'kube-scheduler')
      const { scheduler: choice } = options
      const log = runtime.log.named('scheduler')
      await startScheduler({ ...choice, runtime: { ...runtime, log }, client, host: hostname(), signal: ending })
      return async () => {}
    })
  }
  if (options.nodes.length > 0 && options.real !== undefined) {
    const { found } = options.real
    progress(`starting a node of real containers (${found.name} ${found.version})`)
    const { nodeServices } = await import('./node-proxy-and-dns.ts')
    services = nodeServices(runtime, options, options.real, signal)
    starting.push(
      startReal(runtime, options, options.real, services, signal).then(async (started) => {
        node = started.node
        await started.further
      }),
    )
  }
  const { beside = [], stages = [] } = options
  const simulated = options.real === undefined ? options.nodes : beside
  // Stages may be for nodes that users make, and for objects of any kind.
  if (simulated.length > 0 || stages.length > 0) {
    const { length } = simulated
    progress(length === 1 ? 'starting a simulated node' : `starting ${length} simulated nodes`)
    const { nodesToRun, simulatedNodesUser, startNodes } = await import('./nodes.ts')
    startOnce('skiff-simulated-nodes', simulatedNodesUser, async (clients, ending) => {
      const isNumbered = options.leaseHolder !== undefined && options.real === undefined && length > 0
      const wanted = isNumbered ? numberedNodes(await nodesToRun(length, clients)) : simulated
      await startNodes(runtime, wanted, clients, ending, {
        ...(options.kubelets === undefined ? {} : { here: options.kubelets }),
        ...(options.simulation === undefined ? {} : { resources: options.simulation }),
        ...nodeSettings(options),
        stages,
        beside: options.real !== undefined,
        families: options.network.ranges.map(({ family }) => family),
        clusterCidrs: options.real === undefined ? options.clusterCidrs : undefined,
      })
      return async () => {}
    })
  }
  try {
    await withinPatience(runtime, Promise.all(starting), options.unreadable())
  } catch (error) {
    await Promise.allSettled(starting)
    await stop()
    throw error
  }
  return {
    stop,
    ...(debug === undefined ? {} : { debugUrl: debug.url }),
    ...(node === undefined ? {} : { node }),
  }
}

async function withinPatience(
  { machineClock, log }: Runtime,
  started: Promise<unknown>,
  unreadable: readonly string[],
): Promise<void> {
  if (unreadable.length === 0) {
    await started
    return
  }
  const done = Promise.withResolvers<void>()
  const timer = machineClock.setTimer(UNREADABLE_PATIENCE_MS, 'components', () => {
    log.error('components wait for objects that cannot be read', undefined, { unreadable })
    done.resolve()
    started.catch((error: unknown) => log.error('components that had waited did not start', error))
  })
  started.then(() => done.resolve(), done.reject)
  try {
    await done.promise
  } finally {
    timer.cancel()
  }
}

async function startReal(
  runtime: Runtime,
  options: ComponentsOptions,
  prepared: PreparedNode,
  services: NodeServices,
  signal: AbortSignal,
) {
  const { nodeUser } = await import('./nodes.ts')
  const { fitRanges, startNode } = await import('./real-node.ts')
  const own = { ...runtime, log: runtime.log.named('kubelet') }
  const client = options.clientFor(nodeUser(prepared.nodeName), 'kubelet')
  // A pod that starts finds the addresses of Services leading somewhere.
  await services.start()
  const podCIDRs = prepared.network.flatMap(({ podCIDR }) => podCIDR ?? [])
  const clusterRanges = prepared.network.flatMap(({ clusterRange }) => clusterRange ?? [])
  if (podCIDRs.length > 0) {
    const admin = options.clientFor(ADMINISTRATOR, 'skiff')
    for (const [i, { name }] of options.nodes.entries())
      await fitRanges(admin, name, clusterRanges, i === 0 ? podCIDRs : undefined)
  }
  const further = options.further?.start(services)
  // It is waited for below.
  further?.catch(() => {})
  const node = await startNode(own, client, prepared, services.dnsServers, options.pki, signal, nodeSettings(options))
  return { node, further }
}

/** Nodes of real containers have ranges of the cluster's, but for those that this machine keeps for itself. */
async function nodeIpamOf(options: ComponentsOptions): Promise<Pick<ControllerSettings, 'nodeIpam'>> {
  const { real, network, nodes, clusterCidrs } = options
  const services = network.ranges.map(({ cidr }) => cidr)
  if (real === undefined && clusterCidrs !== undefined) {
    const { simulatedNetwork } = await import('../kubelet/pod-addresses.ts')
    const families = network.ranges.map(({ family }) => family)
    const own = simulatedNetwork({ families, clusterCidrs, nodes: nodes.length })
    // Nodes that users make have what the simulated ones leave.
    const reserved = [...services, ...nodes.flatMap((_, index) => own.podCIDRs(index))]
    const clusterRanges = clusterCidrs.map((cidr) => ({ cidr, nodeMaskSize: nodeMaskSizeOf(cidr) }))
    return { nodeIpam: { clusterRanges, reserved } }
  }
  const ranges = (real?.network ?? []).flatMap(({ podCIDR, clusterRange, nodeRange }) =>
    podCIDR === undefined || clusterRange === undefined || nodeRange === undefined
      ? []
      : { cidr: clusterRange, own: [podCIDR, nodeRange] },
  )
  // A Node is given a range of each family, or none.
  if (ranges.length === 0 || ranges.length !== real?.network.length) return {}
  return {
    nodeIpam: {
      clusterRanges: ranges.map(({ cidr }) => ({ cidr, nodeMaskSize: nodeMaskSizeOf(cidr) })),
      reserved: [...ranges.flatMap(({ own }) => own), ...services],
    },
  }
}

/** Its StorageClass comes before the first claim. */
async function localPathOf(options: ComponentsOptions): Promise<Pick<ControllerSettings, 'localPath'>> {
  if (!options.components.includes('storage')) return {}
  const { ensureLocalPathStorage, localPathOptions } = await import('./local-path-storage.ts')
  if (options.isTwin !== true) await ensureLocalPathStorage(options.clientFor(ADMINISTRATOR, 'skiff'))
  return { localPath: localPathOptions(options.real === undefined ? undefined : options.volumes) }
}

async function startControllers(runtime: Runtime, options: ComponentsOptions, signal: AbortSignal) {
  const { startControllerManager, controllerManagerUser } = await import('../controllers/manager.ts')
  const { graphPage } = await import('../controllers/graph-page.ts')
  const { createDelegatedAuth } = await import('../client/delegated-auth.ts')
  const { certificateUsers, startComponentServer } = await import('./component-server.ts')
  const { clientFor, pki, identity } = options
  const own = { ...runtime, log: runtime.log.named('controllers') }
  const manager = await startControllerManager({
    runtime: own,
    clientFor: ({ user, userAgent }) => clientFor(user, userAgent),
    rootCa: identity.servingCa,
    settings: { ...(await nodeIpamOf(options)), ...(await localPathOf(options)) },
    signToken: (claims) => signJwt(identity.serviceAccounts.signingKey, claims),
    signCertificate: (request) => issueForRequest(own, request, pki.ca),
    signal,
  })
  const reviewer = clientFor(controllerManagerUser, 'kube-controller-manager')
  // On a free port: several clusters may run on one machine, and `skiff status` tells which it is.
  return startComponentServer(own, {
    admit: createDelegatedAuth({
      clock: own.clock,
      authentication: reviewer,
      authorization: reviewer,
      openPaths: ['/healthz', '/livez', '/readyz'],
      certificateUser: certificateUsers(own.clock, { clientCa: pki.ca.cert }),
    }),
    // What runs is healthy: the process stops when a controller cannot go on.
    checks: manager.names.map((name) => ({ name, check: () => {} })),
    pages: [graphPage(() => manager.garbageCollector)],
    host: DEFAULT_HOST,
    port: 0,
    serving: pki.serving,
    clientCas: [pki.ca.cert],
  })
}
