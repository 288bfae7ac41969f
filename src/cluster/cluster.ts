/**
 * cluster: wires storage, API server, HTTP, controllers, scheduler and kubelets into one running cluster in this process.
 * Called by the skiff command and, as the package's export, by programs that embed a cluster. It knows every room and none of
 * their rules.
 */

import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EagerHandler, Handler, UserInfo } from '../api/request.ts'
import { ADMINISTRATOR } from '../api/users.ts'
import { createFaults } from '../apiserver/faults/which-requests-are-struck.ts'
import { firstAddress, serviceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { formatTime } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createClients, inProcessTransport } from '../client/transport.ts'
import { unevenTransport } from '../client/uneven-transport.ts'
import { memoryOf } from '../storage/image.ts'
import { advertisedAddress, isWildcard, listensAt, serverUrl } from './addresses.ts'
import { type Ambient, ambientOf, whileTimePasses } from './ambient.ts'
import { type ControlPlane, startControlPlane } from './apiserver.ts'
import { checkedUser, checkOptions } from './check-options.ts'
import { clusterClock, realClock } from './clock.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import { startComponents } from './components.ts'
import { clockControl, controls, journalControl, snapshotControl, storeControl } from './controls.ts'
import { type ClusterDirectory, clusterDirectory, hold, refuseHalfFilled, writeState } from './directory.ts'
import { StartError } from './errors.ts'
import { faultsControl, NO_FAULTS } from './faults-control.ts'
import { createForks, type ForkStart, forkControl, type StartedFork } from './fork.ts'
import { loadIdentity } from './identity.ts'
import { makeInitialObjects, untilDefaultAccount } from './initial-crds-and-objects.ts'
import { kubeconfig } from './kubeconfig-text.ts'
import { lastRequests } from './last-requests.ts'
import { listenForClients } from './listen.ts'
import { furtherNodesOf, prepareMachine, realNode } from './machine-nodes.ts'
import { checkNodeOptions, clusterCidrsOf, settingsOfNodes, staticPodManifests } from './node-options.ts'
import { besideNodes, createKubeletsHere, numberedNodes } from './nodes.ts'
import { type Component, chosenComponents, DEFAULT_HOST } from './options.ts'
import { firstEnd, loadPki, MOVED_CERTIFICATE_DAYS, write } from './pki.ts'
import { fromFlags } from './read-file.ts'
import { apiVersionsHere, switchedOff } from './runtime-config.ts'
import { loadServerSettings } from './server-flags.ts'
import { simulationResources, simulationStages } from './simulation.ts'
import { readSnapshot, restore, snapshotOf } from './snapshot.ts'
import { testReport } from './test-report.ts'
import { typedClient } from './typed-client.ts'
import { KUBERNETES_VERSION } from './version.ts'

/** How long requests may take to finish when the cluster stops: it is gone within two seconds, whatever is going on. */
const GRACE_MS = 1000

export type WithStore = Pick<ControlPlane, 'servedEtcd'>

/**
 * Resolves when /readyz is ok, nodes are Ready where they run, and pods can be made: the namespace `default` has its account where
 * controllers run. @throws StartError, StoreError with what to mend */
export const startCluster = (options: ClusterOptions = {}): Promise<Cluster> => begin(options)

/** A cluster whose store clients of etcd may be shown. @throws StartError, StoreError */
export const startWithStore = (options: ClusterOptions): Promise<Cluster & WithStore> => begin(options)

/** A cluster that begins with objects of another, as `start` says. Its controllers start once it answers. @throws StartError, StoreError */
export const startFork = (options: ClusterOptions, start: ForkStart): Promise<StartedFork> => begin(options, start)

/** `forked`: its objects are there, so it resolves when its API server answers, and the rest starts then. */
async function begin(options: ClusterOptions, forked?: ForkStart): Promise<StartedFork & WithStore> {
  checkOptions(options)
  const temporary = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'skiff-')) : undefined
  const directory = clusterDirectory(options.dataDir ?? (temporary as string))
  const release = options.directoryHeld === true ? () => {} : hold(directory)
  const undo: (() => void | Promise<void>)[] = []
  if (temporary !== undefined) undo.push(() => rmSync(temporary, { recursive: true, force: true }))
  undo.push(release)
  /** Each step, though one before it fails: then with the first failure. */
  const stopAll = async () => {
    const failures: unknown[] = []
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopAll()
    return stopped
  }
  try {
    const from = typeof options.from === 'string' ? readSnapshot(options.from) : options.from
    if (from !== undefined && options.storage !== 'memory') await restore(from, directory)
    const ambient = await ambientOf(options, from, directory, undo)
    return await ambient.scope.run(() =>
      start(options, directory, { ...ambient, ...(forked === undefined ? {} : { forked }) }, undo, stop),
    )
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}

async function start(
  options: ClusterOptions,
  directory: ClusterDirectory,
  { runtime, scope, from, moved, forked }: Ambient,
  undo: (() => void | Promise<void>)[],
  stop: () => Promise<void>,
): Promise<StartedFork & WithStore> {
  const components = chosenComponents(options.components, options.containerRuntime)
  const wantedNodes = forked?.nodes ?? numberedNodes(options.nodes ?? 1)
  const simulated = components.includes('kubelet') ? wantedNodes : []
  const nodes = simulated.length
  checkNodeOptions(options)
  const simulation = simulationResources(options.simulation, options.containerRuntime)
  const stages = await simulationStages(options.simulation)
  const kubelets = createKubeletsHere()
  const progress = options.onProgress ?? (() => {})
  const host = options.host ?? DEFAULT_HOST

  const { security = {} } = options
  const settings = await loadServerSettings(security)
  const off = switchedOff(security.runtimeConfig ?? [], apiVersionsHere())
  if (off !== undefined && components.some((component) => component !== 'apiserver'))
    throw new StartError(
      `--runtime-config: ${off} can be switched off in an API server alone; controllers and nodes use it`,
    )
  const network = fromFlags(() => serviceNetwork(security.serviceClusterIpRange, security.serviceNodePortRange))
  const advertised = advertisedAddress(host, options.advertiseAddress, network.ranges[0].family)

  const clusterCidrs = clusterCidrsOf(options, network, nodes)

  const hasIPv6 = network.ranges.some(({ family }) => family === 'IPv6')
  const real =
    nodes > 0 && options.containerRuntime === 'cri'
      ? await realNode(directory, options.criEndpoint, nodes, hasIPv6)
      : undefined
  // What a killed process left running is not this cluster's node any more.
  if (real === undefined && existsSync(join(directory.path, 'kubelet')))
    await (await import('./real-node.ts')).takeDownLeftNodes(directory.path)
  const serviceRanges = network.ranges.map(({ cidr }) => cidr)
  const node =
    real === undefined
      ? undefined
      : await prepareMachine(runtime, directory, real, { serviceRanges, clusterCidrs, hasOtherNodes: nodes > 1 }, undo)
  progress(existsSync(directory.pki) ? 'reading keys and certificates' : 'making keys and certificates')
  const forPods = node === undefined ? [] : [node.network[0].address]
  const pki = pkiOf(
    runtime,
    forked === undefined ? directory.pki : undefined,
    host,
    [firstAddress(network), ...forPods, ...(advertised === undefined ? [] : [advertised])],
    moved !== undefined,
  )
  const identity = await loadIdentity(security, pki)
  const clock = moved === undefined ? realClock(runtime.clock) : clusterClock(moved.runtime.manual, firstEnd(pki))

  if (options.etcd === undefined) refuseHalfFilled(directory)
  progress('opening the store')
  const hasFaults = options.faults !== undefined || options.controls?.includes('faults') === true
  const faults = hasFaults ? fromFlags(() => createFaults(runtime, faultOptions(options, forked))) : undefined
  const control = await startControlPlane(runtime, {
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(faults === undefined ? {} : { faults }),
    pki,
    identity,
    network,
    storage: options.etcd === undefined ? (options.storage ?? 'lmdb') : 'etcd',
    ...(options.etcd === undefined ? {} : { etcd: options.etcd }),
    storeDirectory: directory.store,
    ...(from !== undefined && options.storage === 'memory' ? { memory: memoryOf(from.image) } : {}),
    disableAdmissionPlugins: options.disableAdmissionPlugins ?? [],
    enableAdmissionPlugins: options.enableAdmissionPlugins ?? [],
    allowPrivileged: options.allowPrivileged ?? true,
    security,
    settings,
    components,
    kubelets,
    ...(forked === undefined ? {} : { forked }),
    auditLog: join(directory.path, 'audit.log'),
    controls: controls({
      journal: journalControl((after) => control.journal(after)),
      store: storeControl(() => control.storeStatus()),
      ...(clock.isManual ? { clock: clockControl(clock) } : {}),
      ...(options.controls?.includes('fork') === true ? { fork: forkControl((more) => forks.fork(more)) } : {}),
      ...(faults === undefined ? {} : { faults: faultsControl(faults) }),
      ...(options.controls?.includes('snapshot') === true ? { snapshot: snapshotControl(() => snapshot()) } : {}),
    }),
    onStoreState: options.onStoreState ?? (() => {}),
  })
  undo.push(() => control.stop())

  const snapshot = () => snapshotOf(control.image(), runtime.clock.now(), moved !== undefined)

  progress('starting the API server')
  const counted = moved === undefined ? control.answer : moved.outside.around(control.answer)
  const { keepRequests = 0 } = options
  const kept = keepRequests > 0 ? lastRequests(runtime, keepRequests) : undefined
  const watched = kept?.around(counted) ?? counted
  const answer: EagerHandler = (request) => scope.run(() => watched(request))
  const http = await listenForClients(
    runtime,
    answer,
    identity,
    host,
    options.port ?? 0,
    moved !== undefined,
    settings.serving,
  )
  moved?.outside.watches(http.watches)
  undo.push(() => http.stop(GRACE_MS))
  for (const address of forPods.filter((one) => !listensAt(host, one))) {
    const beside = await listenForClients(
      runtime,
      answer,
      identity,
      address,
      http.port,
      moved !== undefined,
      settings.serving,
    )
    undo.push(() => beside.stop(GRACE_MS))
  }
  const url = serverUrl(isWildcard(host) ? DEFAULT_HOST : host, http.port)
  const isReached = options.advertiseAddress !== undefined || forPods.length === 0
  const addresses = isReached && advertised !== undefined ? [advertised] : forPods
  const bootstrap = () => control.bootstrap({ url, port: http.port, addresses })
  if (forked === undefined) await bootstrap()

  const text = kubeconfig({ server: url, ca: identity.servingCa, user: 'kubernetes-admin', client: pki.admin })
  write(directory.kubeconfig, text, 0o600)
  if (options.kubeconfigFile !== undefined) {
    const { mergeKubeconfig } = await import('./merge-kubeconfig.ts')
    mergeKubeconfig(options.kubeconfigFile, text)
  }

  const inside: Handler = async (request) => counted(request)
  const transport = inProcessTransport(moved === undefined ? control.handler : inside)
  const clientOf = createClients(runtime, transport)
  const clientFor = (user: UserInfo, userAgent = 'skiff') => clientOf({ userAgent, user: checkedUser(user) })
  const client = clientFor(ADMINISTRATOR)
  const passing = <T>(work: Promise<T>) => (moved === undefined ? work : whileTimePasses(moved.runtime.manual, work))
  // A fork has the static pods of what it is a fork of as objects, and runs none of its own.
  const forNodes =
    forked === undefined ? { ...settingsOfNodes(options), ...staticPodManifests(options, directory) } : {}
  const further =
    node === undefined || nodes === 1
      ? undefined
      : await furtherNodesOf(runtime, options, {
          ...{ dataDir: directory.path, first: node, nodes, pki, serviceRanges },
          server: serverUrl(node.network[0].address, http.port),
          serverCa: identity.servingCa,
          hasProxy: components.includes('proxy'),
          settings: forNodes,
        })
  const startRest = async () => {
    if (forked !== undefined) await bootstrap()
    const starting = startComponents(runtime, {
      components,
      nodes: simulated,
      kubelets,
      simulation,
      stages: components.includes('kubelet') ? stages : [],
      beside: nodes > 0 ? besideNodes(options.simulation?.nodesBeside ?? 0) : [],
      clientFor,
      transport: forked?.uneven === undefined ? transport : unevenTransport(runtime, transport, forked.uneven),
      leaseHolder: control.leaseHolder(),
      pki,
      identity,
      progress,
      network,
      ...(clusterCidrs === undefined ? {} : { clusterCidrs }),
      isTwin: forked?.isolation !== undefined,
      unreadable: control.unreadable,
      ...(options.scheduler === undefined ? {} : { scheduler: options.scheduler }),
      volumes: join(realpathSync(directory.path), 'volumes'),
      ...forNodes,
      ...(node === undefined ? {} : { real: node }),
      ...(further === undefined ? {} : { further }),
    })
    const running = await passing(starting)
    undo.push(running.stop)
    if (forked === undefined) await passing(makeFirst(runtime, client, options, components))
    writeState(directory, {
      pid: process.pid,
      url,
      ...(advertised === undefined || advertised === host ? {} : { advertised: serverUrl(advertised, http.port) }),
      components,
      nodes,
      version: KUBERNETES_VERSION,
      since: formatTime(runtime.clock.now()),
      ...(moved === undefined ? {} : { clock: 'manual' as const }),
      ...(running.debugUrl === undefined ? {} : { debugUrl: running.debugUrl }),
      ...(real === undefined
        ? {}
        : { containerRuntime: `${real.found.name} ${real.found.version} at ${real.found.endpoint}` }),
    })
  }
  const running = forked === undefined ? await startRest() : soonAfter(runtime, () => scope.run(startRest), undo)
  const isManual = moved !== undefined
  const revision = from?.revision ?? control.revision
  const parent = { options, machineClock: runtime.machineClock, snapshot, isManual, faults }
  const forks = createForks(parent, begin)
  undo.push(forks.stop)
  undo.push(() => control.beginStop(http.lastAnswers))
  return {
    url,
    kubeconfig: text,
    kubeconfigFile: directory.kubeconfig,
    client: typedClient(client),
    clientFor: (user, userAgent) => typedClient(clientFor(user, userAgent)),
    snapshot,
    fork: forks.fork,
    running: running ?? Promise.resolve(),
    transport,
    servedEtcd: control.servedEtcd,
    clock,
    faults: faults ?? NO_FAULTS,
    lastRequests: () => kept?.list() ?? [],
    report: (namespace) =>
      testReport(client, {
        revision,
        requests: kept?.list() ?? [],
        nowMs: runtime.clock.now(),
        ...(faults === undefined ? {} : { faults: faults.status() }),
        ...(namespace === undefined ? {} : { namespace }),
      }),
    log: runtime.log,
    stop,
  }
}

const faultOptions = ({ faults, seed }: ClusterOptions, forked: ForkStart | undefined) => {
  const chosen = forked?.faultSeed ?? seed
  return { faults: faults ?? [], ...(chosen === undefined ? {} : { seed: chosen }) }
}

/** What is there when the cluster is handed over. @throws StartError */
async function makeFirst(
  runtime: Runtime,
  client: Client,
  { crds = [], objects = [] }: ClusterOptions,
  components: readonly Component[],
): Promise<void> {
  const accounts = components.includes('controllers')
  if (accounts) await untilDefaultAccount(runtime, client, 'default')
  if (crds.length + objects.length > 0) await makeInitialObjects(runtime, client, { crds, objects }, accounts)
}

/** Servers' certificates are judged by their clients, by the machine's time; clients' by the server, by the cluster's. */
function pkiOf(
  runtime: Runtime,
  pki: string | undefined,
  host: string,
  addresses: readonly string[],
  isMoved: boolean,
) {
  if (!isMoved) return loadPki(runtime, pki, host, addresses)
  const { clock, machineClock } = runtime
  const earliest = { ...clock, now: () => Math.min(clock.now(), machineClock.now()) }
  const latest = () => Math.max(clock.now(), machineClock.now())
  return loadPki({ ...runtime, clock: earliest }, pki, host, addresses, {
    latest,
    certificateDays: MOVED_CERTIFICATE_DAYS,
  })
}

/** A fork's first request comes before its controllers read all there is. */
const REST_MS = 30

function soonAfter(
  runtime: Runtime,
  startRest: () => Promise<void>,
  undo: (() => void | Promise<void>)[],
): Promise<void> {
  let hasBegun = false
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const rest = () => {
    hasBegun = true
    startRest().then(resolve, reject)
  }
  promise.catch((error) => runtime.log.error('the fork could not start', error))
  const timer = runtime.scheduler.soon(REST_MS, 'rest of a fork', rest)
  // What it has started is undone after it, since it comes later: there is nothing to stop before it is there.
  undo.push(async () => {
    timer.cancel()
    if (hasBegun) await promise.catch(() => {})
    else resolve()
  })
  return promise
}
