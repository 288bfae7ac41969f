/**
 * cluster: wires storage, API server, HTTP, controllers, scheduler and kubelets into one running cluster in this process.
 * Called by the skiff command and, as the package's export, by whoever embeds a cluster. It knows every room and none of
 * their rules.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EagerHandler, UserInfo } from '../api/request.ts'
import { addressAt, serviceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { formatTime } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live.ts'
import type { Logger } from '../base/log.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import type { StoreState } from '../storage/engine.ts'
import { startControlPlane } from './apiserver.ts'
import { startComponents } from './components.ts'
import { type ClusterDirectory, clusterDirectory, hold, writeState } from './directory.ts'
import { StartError } from './errors.ts'
import { type Identity, loadIdentity } from './identity.ts'
import { COMPONENTS, type Component, DEFAULT_HOST } from './options.ts'
import { loadPki, write } from './pki.ts'
import { fromFlags } from './read-file.ts'
import type { SecurityOptions } from './security.ts'
import { type UnhandledScope, unhandledScope } from './unhandled.ts'
import { KUBERNETES_VERSION } from './version.ts'
import { kubeconfig } from './write-kubeconfig.ts'

export interface ClusterOptions {
  /** Where everything is kept. Default: a directory of its own that goes away with the cluster. */
  readonly dataDir?: string
  /** Default 0: a free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Simulated nodes. Default 1. */
  readonly nodes?: number
  /**
   * `cri`: the node is this machine, and its containers are real, run by containerd or CRI-O. Needs root. Default `simulated`.
   */
  readonly containerRuntime?: 'simulated' | 'cri'
  /** `unix:///path/to/its.sock`. Default: the usual places, in turn. */
  readonly criEndpoint?: string
  /** Default: all. The API server always runs. */
  readonly components?: readonly Component[]
  readonly disableAdmissionPlugins?: readonly string[]
  readonly enableAdmissionPlugins?: readonly string[]
  /** Privileged containers may run. Default true, as kubeadm, kind and k3s start kube-apiserver. */
  readonly allowPrivileged?: boolean
  readonly security?: SecurityOptions
  /** `memory` keeps nothing and writes nothing to disk but keys and the log. Default lmdb. */
  readonly storage?: 'lmdb' | 'memory'
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
  /** The caller holds the directory already (directory.ts). */
  readonly directoryHeld?: boolean
}

export interface Cluster {
  readonly url: string
  /** The admin's kubeconfig, and the file it is in. */
  readonly kubeconfig: string
  readonly kubeconfigFile: string
  /** Speaks as kubernetes-admin within this process: no sockets, no serialization. */
  readonly client: Client
  /** The same as another user. */
  clientFor(user: UserInfo, userAgent?: string): Client
  /** The cluster's own log, DIR/log. */
  readonly log: Logger
  /** Stops in order: components, requests in flight, watches, storage. Safe to call twice. */
  stop(): Promise<void>
}

const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
/** How long requests may take to finish when the cluster stops. */
const GRACE_MS = 10_000

/** Resolves when /readyz is ok and, where nodes run, they are Ready. @throws StartError, StoreError with what to mend */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
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
    const runtime = runtimeOf(options, directory, undo)
    return await runtime.scope.run(() => start(options, directory, runtime, undo, stop))
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}

interface Ambient {
  readonly runtime: Runtime
  /** What the cluster does runs in it. */
  readonly scope: Pick<UnhandledScope, 'run'>
}

function runtimeOf(options: ClusterOptions, { log }: ClusterDirectory, undo: (() => void)[]): Ambient {
  const level = options.logLevel ?? 0
  const { onUnhandled } = options
  if (onUnhandled === 'process') return { runtime: liveRuntime({ level, log }), scope: { run: (task) => task() } }
  const report = (error: unknown) => {
    runtime.log.error('unhandled failure', error)
    onUnhandled?.(error)
  }
  const runtime = liveRuntime({ level, log, onUncaught: report })
  const scope = unhandledScope(report)
  undo.push(scope.end)
  return { runtime, scope }
}

async function start(
  options: ClusterOptions,
  directory: ClusterDirectory,
  { runtime, scope }: Ambient,
  undo: (() => void | Promise<void>)[],
  stop: () => Promise<void>,
): Promise<Cluster> {
  const components = options.components ?? COMPONENTS
  const nodes = components.includes('kubelet') ? (options.nodes ?? 1) : 0
  const progress = options.onProgress ?? (() => {})
  const host = options.host ?? DEFAULT_HOST

  const real =
    nodes > 0 && options.containerRuntime === 'cri' ? await realNode(directory, options.criEndpoint, nodes) : undefined
  // What a killed process left running is not this cluster's node any more.
  if (real === undefined && existsSync(join(directory.path, 'kubelet')))
    await (await import('./real-node.ts')).takeDownLeftNode(directory.path)
  progress(existsSync(directory.pki) ? 'reading keys and certificates' : 'making keys and certificates')
  const { security = {} } = options
  const network = fromFlags(() => serviceNetwork(security.serviceClusterIpRange, security.serviceNodePortRange))
  const pki = loadPki(runtime, directory.pki, host, addressAt(network, 1))
  const identity = await loadIdentity(security, pki)

  progress('opening the store')
  const control = await startControlPlane(runtime, {
    pki,
    identity,
    network,
    storage: options.storage ?? 'lmdb',
    storeDirectory: directory.store,
    disableAdmissionPlugins: options.disableAdmissionPlugins ?? [],
    enableAdmissionPlugins: options.enableAdmissionPlugins ?? [],
    allowPrivileged: options.allowPrivileged ?? true,
    security,
    components,
    auditLog: join(directory.path, 'audit.log'),
    onStoreState: options.onStoreState ?? (() => {}),
  })
  undo.push(() => control.stop())

  progress('starting the API server')
  const answer: EagerHandler = (request) => scope.run(() => control.answer(request))
  const http = await listen(runtime, answer, identity, host, options.port ?? 0)
  undo.push(() => http.stop(GRACE_MS))
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${http.port}`
  await control.bootstrap({ url, port: http.port })

  const text = kubeconfig({ server: url, ca: identity.servingCa, user: 'kubernetes-admin', client: pki.admin })
  write(directory.kubeconfig, text, 0o600)
  if (options.kubeconfigFile !== undefined) {
    const { mergeKubeconfig } = await import('./merge-kubeconfig.ts')
    mergeKubeconfig(options.kubeconfigFile, text)
  }

  const transport = inProcessTransport(control.handler)
  const clientFor = (user: UserInfo, userAgent = 'skiff') => createClient(runtime, transport, { userAgent, user })
  const client = clientFor(ADMIN)
  const running = await startComponents(runtime, {
    components,
    nodes,
    clientFor,
    pki,
    identity,
    progress,
    ...(real === undefined ? {} : { real }),
  })
  undo.push(running.stop)

  writeState(directory, {
    pid: process.pid,
    url,
    components,
    nodes,
    version: KUBERNETES_VERSION,
    since: formatTime(runtime.clock.now()),
    ...(running.debugUrl === undefined ? {} : { debugUrl: running.debugUrl }),
    ...(real === undefined
      ? {}
      : { containerRuntime: `${real.found.name} ${real.found.version} at ${real.found.endpoint}` }),
  })
  return { url, kubeconfig: text, kubeconfigFile: directory.kubeconfig, client, clientFor, log: runtime.log, stop }
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
): Promise<HttpServer> {
  try {
    return await startHttpServer(runtime, {
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
