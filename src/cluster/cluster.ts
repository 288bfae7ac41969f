/**
 * cluster: wires storage, API server, HTTP, controllers, scheduler and kubelets into one running cluster in this process.
 * Called by the skiff command and, as the package's export, by whoever embeds a cluster. It knows every room and none of
 * their rules.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EagerHandler, Handler, UserInfo } from '../api/request.ts'
import { createFaults, type Faults, type FaultWords } from '../apiserver/faults/faults.ts'
import { addressAt, serviceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { formatTime } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { type LiveRuntimeOptions, liveRuntime } from '../base/live.ts'
import { liveClock } from '../base/live-clock.ts'
import type { Logger } from '../base/log.ts'
import type { ManualRuntime, ManualTime } from '../base/manual.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createClients, inProcessTransport } from '../client/transport.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import type { PreparedNode } from '../kubelet/machine/real-node.ts'
import type { StoreState } from '../storage/engine.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import { memoryOf } from '../storage/image.ts'
import { advertisedAddress, isWildcard, serverUrl } from './addresses.ts'
import { startControlPlane } from './apiserver.ts'
import {
  type ClusterClock,
  clusterClock,
  createOutside,
  forgetClock,
  type Outside,
  openClockFile,
  readClock,
  realClock,
} from './clock.ts'
import { startComponents } from './components.ts'
import { clockControl, controls, journalControl, snapshotControl, storeControl } from './controls.ts'
import { type ClusterDirectory, clusterDirectory, hold, writeState } from './directory.ts'
import { StartError } from './errors.ts'
import { faultsControl, NO_FAULTS } from './faults.ts'
import { createForks, type Fork, type ForkOptions, type ForkStart, forkControl } from './fork.ts'
import { type Identity, loadIdentity } from './identity.ts'
import { type Manifest, makeInitialObjects, untilDefaultAccount } from './initial-objects.ts'
import { type LastRequest, lastRequests } from './last-requests.ts'
import type { FurtherNodesOptions } from './namespaced-nodes/start-nodes.ts'
import { type KubeletsHere, numberedNodes } from './nodes.ts'
import { type ClockKind, type Component, type ControlName, chosenComponents, DEFAULT_HOST } from './options.ts'
import { firstEnd, loadPki, MOVED_CERTIFICATE_DAYS, write } from './pki.ts'
import { fromFlags } from './read-file.ts'
import type { RealNodeChoice } from './real-node.ts'
import type { SecurityOptions } from './security.ts'
import { type SimulationOptions, simulationResources } from './simulation.ts'
import { readSnapshot, restore, type Snapshot, snapshotOf } from './snapshot.ts'
import { testReport } from './test-report.ts'
import { type TypedClient, typedClient } from './typed-client.ts'
import { type UnhandledScope, unhandledScope } from './unhandled.ts'
import { KUBERNETES_VERSION } from './version.ts'
import { kubeconfig } from './write-kubeconfig.ts'

export interface ClusterOptions {
  /**
   * `manual`: the cluster's time stands still until `clock` moves it, and a restart goes on from there. Default: as the directory's
   * cluster had it, `real` for a new one.
   */
  readonly clock?: ClockKind
  /** Begins with the objects of a snapshot, or of a file that holds one. The directory must have no cluster yet. */
  readonly from?: Snapshot | string
  /** CustomResourceDefinitions to begin with, which are served when startCluster resolves: objects, files, folders. */
  readonly crds?: readonly Manifest[]
  /** Objects to begin with, made after `crds`, namespaces first; those that are there stay as they are. */
  readonly objects?: readonly Manifest[]
  /**
   * What goes wrong on purpose for clients (docs/faults.md): `['watch drop 5%', 'refuse 409 first 1 on update by my-operator']`, or by
   * what happens: `{ 'watch drop': '5%' }`. With it, be it empty, `faults` of the cluster can set others while it runs. Default: none.
   */
  readonly faults?: FaultWords
  /**
   * The same seed gives the same faults to the same sequence of requests, and the same suffixes to names that are made of
   * generateName in the same order. Default: another one each time, which `faults` tells.
   */
  readonly seed?: number
  /** Controls under /skiff.dev/ that are there beside the clock's. Default: none. */
  readonly controls?: readonly ControlName[]
  /** Where everything is kept. Default: a directory of its own that goes away with the cluster. */
  readonly dataDir?: string
  /** Default 0: a free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** An IP address at which other machines and pods reach the API server. Default: `host`, when that is not loopback and not every address. */
  readonly advertiseAddress?: string
  /** Default 1. */
  readonly nodes?: number
  /**
   * `cri`: the first node is this machine, and its containers are real, run by containerd or CRI-O; further ones have namespaces of
   * their own on it. Needs root. Default `simulated`.
   */
  readonly containerRuntime?: 'simulated' | 'cri'
  /** `unix:///path/to/its.sock`. Default: the usual places, in turn. */
  readonly criEndpoint?: string
  /** What simulated containers may use of this machine. Default: nothing. */
  readonly simulation?: SimulationOptions
  /** Default: all. The API server always runs. */
  readonly components?: readonly Component[]
  readonly disableAdmissionPlugins?: readonly string[]
  readonly enableAdmissionPlugins?: readonly string[]
  /** Privileged containers may run. Default true, as kubeadm, kind and k3s start kube-apiserver. */
  readonly allowPrivileged?: boolean
  readonly security?: SecurityOptions
  /** `memory` keeps nothing and writes nothing to disk but keys and the log. Default lmdb; with `etcd` it is etcd. */
  readonly storage?: 'lmdb' | 'memory'
  /** Keeps everything in an etcd, which other clusters of the same keys (DIR/pki) may share. */
  readonly etcd?: EtcdOptions
  /** Also adds the cluster to this kubeconfig, which may hold others. */
  readonly kubeconfigFile?: string
  /** Kubernetes' -v. Default 0. */
  readonly logLevel?: number
  readonly onProgress?: (text: string) => void
  /**
   * Called each time that the store's state changes: `waiting` for room on its disk (it refuses writes, and goes on by itself),
   * `well` again, or `failed` for good: then the cluster answers with errors until it is stopped, and may be started anew.
   */
  readonly onStoreState?: (state: StoreState) => void
  /**
   * Given what failed in the cluster's own work where nothing waits for it: a mistake of ours in one corner. The rest goes on.
   * Default: it is written to the cluster's log. `process`: it is the process's, as any other of the program (Node's rule,
   * unless the program has another: the process ends).
   */
  readonly onUnhandled?: 'process' | ((error: unknown) => void)
  /** So many of the last requests from outside are kept, for `lastRequests`. Default 0. */
  readonly keepRequests?: number
  /** The caller holds the directory already (directory.ts). */
  readonly directoryHeld?: boolean
}

export interface Cluster {
  readonly url: string
  /** The admin's kubeconfig, and the file it is in. */
  readonly kubeconfig: string
  readonly kubeconfigFile: string
  /** Speaks as kubernetes-admin within this process: no sockets, no serialization. */
  readonly client: TypedClient
  /** The same as another user. */
  clientFor(user: UserInfo, userAgent?: string): TypedClient
  /** All objects, at one revision. @throws StoreError where they are in an etcd */
  snapshot(): Snapshot
  /**
   * A second cluster in this process with the same objects, keys of its own and a free port; its controllers start once it
   * answers. Ends with this one, or after its time to live.
   */
  fork(options?: ForkOptions): Promise<Fork>
  /** What goes wrong on purpose. @throws StartError from all of it where the cluster was started without `faults` */
  readonly faults: Faults
  /** Moves the cluster's time. @throws StartError from all of it where the clock is the machine's */
  readonly clock: ClusterClock
  /** The last requests that came over HTTPS, the oldest first: as many as `keepRequests` says. */
  lastRequests(): readonly LastRequest[]
  /**
   * For people: the objects that have changed since the start, of one namespace or all, their Events, and the last 50 requests. No values of
   * Secrets, no specifications.
   */
  report(namespace?: string): Promise<string>
  /** The cluster's own log, DIR/log. */
  readonly log: Logger
  /** Stops in order: components, requests in flight, watches, storage. Safe to call twice. */
  stop(): Promise<void>
}

const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
/** How long requests may take to finish when the cluster stops: it is gone within two seconds, whatever is going on. */
const GRACE_MS = 1000
/** Of a manual clock. */
const LONGEST_START_MS = 600_000

/**
 * Resolves when /readyz is ok, nodes are Ready where they run, and pods can be made: the namespace `default` has its account where
 * controllers run. @throws StartError, StoreError with what to mend */
export const startCluster = (options: ClusterOptions = {}): Promise<Cluster> => begin(options)

/** A cluster that begins with objects of another, as `start` says. Its controllers start once it answers. @throws StartError, StoreError */
export const startFork = (options: ClusterOptions, start: ForkStart): Promise<Fork> => begin(options, start)

/** `forked`: its objects are there, so it resolves when its API server answers, and the rest starts then. */
async function begin(options: ClusterOptions, forked?: ForkStart): Promise<Fork> {
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
    const ambient = await runtimeOf(options, from, directory, undo)
    return await ambient.scope.run(() =>
      start(options, directory, { ...ambient, ...(forked === undefined ? {} : { forked }) }, undo, stop),
    )
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}

interface Ambient {
  readonly forked?: ForkStart
  readonly from?: Snapshot
  readonly runtime: Runtime
  /** Where the clock is moved by hand. */
  readonly moved?: { readonly runtime: ManualRuntime; readonly outside: Outside }
  /** What the cluster does runs in it. */
  readonly scope: Pick<UnhandledScope, 'run'>
}

async function runtimeOf(
  options: ClusterOptions,
  from: Snapshot | undefined,
  directory: ClusterDirectory,
  undo: (() => void)[],
): Promise<Ambient> {
  const level = options.logLevel ?? 0
  const { onUnhandled } = options
  const report = (error: unknown) => {
    ambient.runtime.log.error('unhandled failure', error)
    if (onUnhandled !== 'process') onUnhandled?.(error)
  }
  const live = {
    level,
    log: directory.log,
    ...(onUnhandled === 'process' ? {} : { onUncaught: report }),
  }
  const startMs = manualStart(options, from, directory)
  const moved = startMs === undefined ? undefined : await movedRuntime(live, startMs, directory, undo)
  const scope =
    onUnhandled === 'process' ? { run: <T>(task: () => T) => task(), end: () => {} } : unhandledScope(report)
  undo.push(scope.end)
  const ambient: Ambient = {
    runtime: moved?.runtime ?? liveRuntime(live),
    scope,
    ...(from === undefined ? {} : { from }),
    ...(moved === undefined ? {} : { moved }),
  }
  return ambient
}

/** Where a manual clock begins; undefined: the clock is the machine's. @throws StartError */
function manualStart(
  { clock, containerRuntime, etcd }: ClusterOptions,
  from: Snapshot | undefined,
  directory: ClusterDirectory,
): number | undefined {
  const left = readClock(directory.clock) ?? (from?.isManual === true ? from.time.getTime() : undefined)
  const now = liveClock().now()
  if (clock === 'real' || (clock === undefined && left === undefined)) {
    if (left !== undefined && left > now)
      throw new StartError(
        `the cluster in ${directory.path} has a clock of its own, which is at ${formatTime(left)}: start it with a manual clock`,
      )
    forgetClock(directory.clock)
    return undefined
  }
  if (containerRuntime === 'cri')
    throw new StartError('real containers live in real time: a manual clock is for simulated nodes')
  if (etcd !== undefined)
    throw new StartError(
      'an etcd may be shared with servers that live in real time: a manual clock needs a store of its own',
    )
  return left ?? now
}

async function movedRuntime(
  live: LiveRuntimeOptions,
  startMs: number,
  directory: ClusterDirectory,
  undo: (() => void)[],
): Promise<NonNullable<Ambient['moved']>> {
  const { manualRuntime } = await import('../base/manual.ts')
  const file = openClockFile(directory.clock, startMs)
  const runtime = manualRuntime({ ...live, startMs, onMove: file.write, outside: (ms) => outside.rest(ms) })
  const outside = createOutside(runtime.machineClock, runtime.scheduler.during)
  undo.push(() => {
    runtime.manual.stop()
    file.close()
  })
  return { runtime, outside }
}

/** Sockets live in the machine's time, whatever the cluster's is. */
const onMachineTime = (runtime: Runtime): Runtime => ({ ...runtime, clock: runtime.machineClock })

async function start(
  options: ClusterOptions,
  directory: ClusterDirectory,
  { runtime, scope, from, moved, forked }: Ambient,
  undo: (() => void | Promise<void>)[],
  stop: () => Promise<void>,
): Promise<Fork> {
  const components = chosenComponents(options.components, options.containerRuntime)
  const wantedNodes = forked?.nodes ?? numberedNodes(options.nodes ?? 1)
  const simulated = components.includes('kubelet') ? wantedNodes : []
  const nodes = simulated.length
  const simulation = simulationResources(options.simulation, options.containerRuntime)
  const kubelets: KubeletsHere = new Map()
  const progress = options.onProgress ?? (() => {})
  const host = options.host ?? DEFAULT_HOST
  const advertised = advertisedAddress(host, options.advertiseAddress)

  const real =
    nodes > 0 && options.containerRuntime === 'cri' ? await realNode(directory, options.criEndpoint, nodes) : undefined
  // What a killed process left running is not this cluster's node any more.
  if (real === undefined && existsSync(join(directory.path, 'kubelet')))
    await (await import('./real-node.ts')).takeDownLeftNodes(directory.path)
  const { security = {} } = options
  const network = fromFlags(() => serviceNetwork(security.serviceClusterIpRange, security.serviceNodePortRange))
  const node =
    real === undefined ? undefined : await prepareMachine(runtime, directory, real, network.cidr, nodes > 1, undo)
  progress(existsSync(directory.pki) ? 'reading keys and certificates' : 'making keys and certificates')
  const forPods = node === undefined ? [] : [node.network.address]
  const pki = pkiOf(
    runtime,
    forked === undefined ? directory.pki : undefined,
    host,
    [addressAt(network, 1), ...forPods, ...(advertised === undefined ? [] : [advertised])],
    moved !== undefined,
  )
  const identity = await loadIdentity(security, pki)
  const clock = moved === undefined ? realClock(runtime.clock) : clusterClock(moved.runtime.manual, firstEnd(pki))

  if (options.etcd === undefined && existsSync(directory.migration))
    throw new StartError(`the store in ${directory.path} is half filled: run skiff migrate to its end, or remove it`)
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
    components,
    kubelets: (name) => kubelets.get(name),
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
  const http = await listen(runtime, answer, identity, host, options.port ?? 0, moved !== undefined)
  moved?.outside.watches(http.watches)
  undo.push(() => http.stop(GRACE_MS))
  for (const address of isWildcard(host) ? [] : forPods) {
    const beside = await listen(runtime, answer, identity, address, http.port, moved !== undefined)
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
  const clientFor = (user: UserInfo, userAgent = 'skiff') => clientOf({ userAgent, user })
  const client = clientFor(ADMIN)
  const passing = <T>(work: Promise<T>) => (moved === undefined ? work : whileTimePasses(moved.runtime.manual, work))
  const further =
    node === undefined || nodes === 1
      ? undefined
      : await furtherNodesOf(runtime, options, {
          ...{ dataDir: directory.path, first: node, nodes, pki, serviceRange: network.cidr },
          server: serverUrl(node.network.address, http.port),
          serverCa: identity.servingCa,
          hasProxy: components.includes('proxy'),
        })
  const startRest = async () => {
    if (forked !== undefined) await bootstrap()
    const starting = startComponents(runtime, {
      components,
      nodes: simulated,
      kubelets,
      simulation,
      clientFor,
      transport,
      shared: options.etcd !== undefined,
      pki,
      identity,
      progress,
      network,
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
    clock,
    faults: faults ?? NO_FAULTS,
    lastRequests: () => kept?.list() ?? [],
    report: (namespace) =>
      testReport(client, {
        revision,
        requests: kept?.list() ?? [],
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

/** A start takes the time that it takes by Kubernetes' rules, where that is none the clock stands still. */
async function whileTimePasses<T>(manual: ManualTime, starting: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  starting.then(over, over)
  await manual.runUntil(() => isOver, LONGEST_START_MS)
  return starting
}

/** The node's network comes first: servers listen on it. It goes last. */
async function prepareMachine(
  runtime: Runtime,
  { path }: ClusterDirectory,
  choice: RealNodeChoice,
  serviceRange: string,
  hasOtherNodes: boolean,
  undo: (() => void | Promise<void>)[],
): Promise<PreparedNode> {
  const { endLeftNamespaces, prepareRealNode, takeDownLeftNodes } = await import('./real-node.ts')
  undo.push(async () => {
    await takeDownLeftNodes(path)
  })
  await endLeftNamespaces(path, false)
  return prepareRealNode(runtime, choice, serviceRange, hasOtherNodes)
}

type FurtherNodesChoice = Omit<FurtherNodesOptions, 'runtime' | 'verbosity'>

async function furtherNodesOf(runtime: Runtime, { logLevel = 0 }: ClusterOptions, choice: FurtherNodesChoice) {
  const { furtherNodes } = await import('./namespaced-nodes/start-nodes.ts')
  const { realPath } = await import('./real-node.ts')
  const own = { ...runtime, log: runtime.log.named('nodes') }
  return furtherNodes({ ...choice, runtime: own, dataDir: realPath(choice.dataDir), verbosity: logLevel })
}

async function realNode({ path }: ClusterDirectory, endpoint: string | undefined, nodes: number) {
  const { findContainerRuntime, nodeDirectory } = await import('./real-node.ts')
  const { nodeName } = await import('./nodes.ts')
  return { found: await findContainerRuntime(endpoint, nodes), directory: nodeDirectory(path, nodeName(0)) }
}

async function listen(
  runtime: Runtime,
  handler: EagerHandler,
  { serving, clientCas, frontProxies }: Identity,
  host: string,
  port: number,
  foreignTime: boolean,
): Promise<HttpServer> {
  try {
    return await startHttpServer(onMachineTime(runtime), {
      foreignTime,
      handler,
      host,
      port,
      tls: { ...serving, clientCas: [...clientCas, frontProxies.ca] },
    })
  } catch (cause) {
    throw new StartError(whyNotListening(cause as NodeJS.ErrnoException, host, port), { cause })
  }
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: choose another with --port, or --port 0 for a free one`
    case 'EACCES':
      return `port ${port} may not be used by this user: choose another with --port`
    default:
      return `cannot listen on ${host} port ${port}: ${messageOf(error)}`
  }
}
