/**
 * apiserver: the API server as a Handler: filters, then handlers, over storage and the watch cache. Put together here, once,
 * for rooms that start one (cluster, tests). It must never know sockets: the http room brings requests to it, components of
 * this process bring their own.
 *
 * The way of a request: the filters (filters/chain.ts), then the handler that its path names (handlers/dispatch.ts).
 */

import type { ProtobufDecoder } from '../api/codec/body-source.ts'
import type { Service, ServiceCIDR } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { EagerHandler, Handler } from '../api/request.ts'
import type { Scheme } from '../api/scheme/resource.ts'
import { createScheme } from '../api/scheme/scheme.ts'
import { oneByOneOfKey } from '../base/one-by-one.ts'
import type { Runtime } from '../base/runtime.ts'
import { refusedClient } from '../http/client.ts'
import { createHealth, type HealthCheck, isHealth } from '../http/health-pages.ts'
import { createZPages } from '../http/zpages.ts'
import type { Storage } from '../storage/storage.ts'
import { type AdmissionOptions, createAdmissionChain } from './admission/chain.ts'
import { admissionTimings } from './admission/metrics.ts'
import type { AdmissionHost, AdmissionPlugin } from './admission/plugin.ts'
import { type Aggregator, createAggregator, type FrontProxyIdentity, type LocalApi } from './aggregation/aggregator.ts'
import { unaskedAggregator } from './aggregation/unasked.ts'
import type { Authorizer } from './auth/authorizer.ts'
import { type Caches, createCaches } from './cache/caches.ts'
import type { SharedEntries } from './cache/entry.ts'
import type { Change } from './cache/event-log.ts'
import { createWebhookConversion, unaskedConversion } from './customresources/conversion-webhook.ts'
import { createDiscovery } from './discovery/discovery.ts'
import { pathsResponse } from './discovery/paths.ts'
import { createEndpoints } from './endpoints/endpoints.ts'
import type { FaultInjection } from './faults/which-requests-are-struck.ts'
import { type ChainSettings, filterChain, type IdentityFilters } from './filters/chain.ts'
import type { ComponentHealth } from './handlers/component-status.ts'
import type { ServerContext } from './handlers/context.ts'
import { createDispatch, type PathHandler } from './handlers/dispatch.ts'
import { createMetricsPages } from './handlers/metrics.ts'
import { createTablePrinter } from './handlers/printers/table.ts'
import type { Review } from './handlers/reviews.ts'
import { KUBERNETES, versionResponse } from './handlers/version.ts'
import { startApiServiceLoop } from './loops/api-services.ts'
import { startAutoRegisterLoop } from './loops/auto-register.ts'
import { createDefinitionLoop } from './loops/crd-loop.ts'
import { startFlowSchemaLoop } from './loops/flow-schemas.ts'
import { startIpAddressLoop } from './loops/ip-addresses.ts'
import type { LoopOptions } from './loops/settling.ts'
import { measuredStorage } from './measured-storage.ts'
import { createKubelets, type KubeletClientOptions } from './nodes/kubelets.ts'
import { definitionSchema } from './openapi/custom.ts'
import { createOpenApi } from './openapi/handler.ts'
import { createReads, type ServerReads } from './reads.ts'
import { type ServiceNetwork, serviceNetwork } from './registry/allocators/service-network.ts'
import { randomNames, seededNames } from './registry/generate-name.ts'
import { type Registry, writtenWithoutDefaults } from './registry/registry.ts'
import { stateMetrics } from './state-metrics.ts'
import type { Strategies } from './strategies/index.ts'
import type { Isolation } from './webhooks/unasked.ts'

/** Authentication, authorization, and answers to reviews of both. */
export interface ServerAuth {
  readonly filters: IdentityFilters
  /** Asked about every write before any other plugin's validation; cannot be disabled. */
  readonly guard?: AdmissionPlugin
  readonly reviews?: Readonly<Record<string, Review>>
  readonly answerTokenRequest?: (
    namespace: string,
    name: string,
    object: KubeObject,
    warn: (message: string) => void,
  ) => Promise<KubeObject>
  /** Whether RBAC decides here: its roles are made, which a check of health tells of. Default: yes. */
  readonly hasRoles?: boolean
  /** For plugins that ask what else the sender may do. Without it: everything. */
  readonly authorizer?: Authorizer
}

const everythingAllowed: Authorizer = { authorize: () => ({ verdict: 'allow', reason: '' }) }

export interface ApiServerOptions {
  readonly runtime: Runtime
  readonly storage: Storage
  readonly scheme: Scheme
  readonly strategies: Strategies
  readonly admission: AdmissionOptions
  /** Without it every request is of the user that it names, and may do anything: for tests. */
  readonly auth?: (reads: ServerReads) => ServerAuth
  /** Paths that name no resource (discovery, OpenAPI, version), in the order they are asked. */
  readonly paths?: (server: { readonly scheme: Scheme; readonly reads: ServerReads }) => readonly PathHandler[]
  /** Group versions that are answered in this process, though not from the store. They need frontProxy. */
  readonly localApis?: (server: { readonly reads: ServerReads }) => readonly LocalApi[]
  readonly chain?: ChainSettings
  /** Deletes tell the garbage collector by finalizers what is left to it. Default: true. */
  readonly collectsGarbage?: boolean
  /** Default: half an hour, as kube-apiserver's. */
  readonly minRequestSeconds?: number
  /** Flags this server was started with, by name: told at /flagz. */
  readonly flags?: Readonly<Record<string, string>>
  /** `host:port` by which clients of this machine reach the server. */
  readonly serverAddress?: () => string
  readonly decodeProtobuf?: ProtobufDecoder
  /** What ComponentStatuses tell of. */
  readonly components?: () => readonly ComponentHealth[]
  /** Keeps an APIService for every group version that a definition serves. */
  readonly registerDefinitions?: boolean
  /** Keeps an IPAddress for every cluster IP. */
  readonly repairAddresses?: boolean
  /** Says of FlowSchemas whether their priority level is there. False: there is no priority and fairness, nor its checks of health. */
  readonly judgeFlowSchemas?: boolean
  /** The encryption configuration is read again when it changes, which health checks tell of. */
  readonly reloadsEncryption?: boolean
  /** Rejects with what is wrong with the plugins that hold keys of encryption, if there may be any. */
  readonly checkKmsPlugins?: () => Promise<void>
  /** Whether what every cluster contains has been made; health is not ok before. Default: it is no matter. */
  readonly bootstrapped?: () => boolean
  /** How the kubelets of nodes are reached. */
  readonly kubelets?: KubeletClientOptions
  /** What Services are given addresses and node ports of. Default: 10.96.0.0/16 and 30000 to 32767. */
  readonly network?: ServiceNetwork
  /** Decoded objects and their bytes, shared by servers that begin with the same objects (forks). */
  readonly entries?: SharedEntries
  /** This server's client certificate for aggregated API servers; without it there are none. */
  readonly frontProxy?: FrontProxyIdentity
  /**
   * It opens no connection to anything that its objects name: what would be sent to kubelets, pods and Services is refused, a
   * conversion webhook that could be reached is taken to change nothing but the version, and aggregated API servers to serve nothing. Its
   * admission plugins of webhooks must not call them.
   */
  readonly isolation?: Isolation
  /** Decides the suffixes of generated names. Default: they are random. */
  readonly seed?: number
  /** What goes wrong on purpose. */
  readonly faults?: FaultInjection
}

export interface ApiServer {
  /** The whole chain. Requests of components in this process arrive with `user` set and skip authentication only. */
  readonly handler: Handler
  /** The same for a transport, which takes what is there at once. */
  readonly answer: EagerHandler
  readonly caches: Caches
  readonly reads: ServerReads
  readonly scheme: Scheme
  readonly admissionPlugins: readonly string[]
  /** Another condition of /healthz, /livez or /readyz: behind that of its name, where there is one for other endpoints. */
  addHealthCheck(check: HealthCheck): void
  /** From now on /readyz fails, so that nothing new is sent here; all else is answered as before. */
  beginStop(): void
  /** Ends every watch and answers no more. Storage is the caller's to close. */
  stop(): Promise<void>
}

/** Resolves when the caches have loaded what storage holds. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { runtime } = options
  // Custom resources come and go in a scheme of this server's own.
  const scheme = createScheme(options.scheme.rows())
  const storage = measuredStorage(runtime, options.storage, scheme)
  const caches = await createCaches(runtime, storage, options.entries === undefined ? {} : { shared: options.entries })
  const reads = createReads(scheme, caches, storage, options.strategies['pods']?.selectableFields)
  const endpointOf = createEndpoints(
    scheme,
    options.strategies,
    options.isolation === undefined
      ? createWebhookConversion(runtime, reads)
      : unaskedConversion(options.isolation, reads),
  )
  const auth = options.auth?.(reads)
  const host: AdmissionHost = {
    scheme,
    authorizer: auth?.authorizer ?? everythingAllowed,
    loopback: (request) => handler(request),
    fresh: () => caches.fresh(),
    generationOf: reads.generationOf,
    endpointOf,
  }
  const timings = admissionTimings(runtime)
  const admission = createAdmissionChain(reads, host, {
    ...options.admission,
    ...(auth?.guard === undefined ? {} : { guards: [auth.guard] }),
    ...(timings === undefined ? {} : { timings }),
  })
  const registry: Registry = {
    runtime,
    storage,
    newName: options.seed === undefined ? randomNames(runtime.random) : seededNames(options.seed),
    withoutDefaults: writtenWithoutDefaults(),
    pools: {
      random: runtime.random,
      network: options.network ?? serviceNetwork(),
      services: () => reads.list<Service>('', 'services'),
      reserved: new Set(),
      serviceCidrs: () => reads.list<ServiceCIDR>('networking.k8s.io', 'servicecidrs'),
    },
    current: ({ row }, key) => caches.resource(row.storagePrefix).get(key),
    fresh: () => caches.fresh(),
    shares: options.storage.isShared,
    encode: caches.encode,
    entryOf: caches.entryOf,
  }
  const aggregator = aggregatorOf(options, reads)
  const kubelets = createKubelets(options.kubelets, options.isolation === undefined ? undefined : refusedClient)
  const context: ServerContext = {
    runtime,
    scheme,
    registry,
    admission,
    loopback: host.loopback,
    budgetWrites: oneByOneOfKey(),
    authorizer: host.authorizer,
    collectsGarbage: options.collectsGarbage !== false,
    minRequestSeconds: options.minRequestSeconds ?? MIN_REQUEST_SECONDS,
    reads,
    caches,
    endpointOf,
    printTable: createTablePrinter(runtime.clock),
    ...(aggregator === undefined ? {} : { forward: aggregator.forward }),
    kubelets,
    ...pick(options, 'decodeProtobuf', 'components'),
    ...(auth === undefined ? {} : pick(auth, 'reviews', 'answerTokenRequest')),
  }
  for (const row of scheme.rows()) if (row.storagePrefix !== '') caches.resource(row.storagePrefix)
  const definitions = createDefinitionLoop(runtime, caches, scheme)
  if (runtime.metrics !== undefined)
    stateMetrics(runtime.metrics, { scheme, caches, reads, storage: options.storage, pools: registry.pools })

  const isThere = (name: string) =>
    (options.judgeFlowSchemas !== false || !OF_FAIRNESS.has(name)) &&
    (auth?.hasRoles !== false || name !== BOOTSTRAP_ROLES) &&
    (options.reloadsEncryption === true || name !== ENCRYPTION_RELOAD) &&
    (options.checkKmsPlugins !== undefined || name !== KMS_PLUGINS)
  const checks: HealthCheck[] = CHECKS.filter(isThere).map((name) => {
    const endpoints = ENDPOINTS[name]
    const check = ASKS_STORAGE.has(name)
      ? () => requireStorage(storage)
      : WAITS_FOR_BOOTSTRAP.has(name)
        ? () => requireBootstrap(options.bootstrapped)
        : name === KMS_PLUGINS
          ? () => options.checkKmsPlugins?.()
          : () => {}
    return { name, check, ...(endpoints === undefined ? {} : { endpoints }) }
  })
  const discovery = createDiscovery({
    scheme,
    serverAddress: options.serverAddress ?? (() => ''),
    ...(aggregator === undefined ? {} : { aggregator }),
  })
  let stopped = false
  let isStopping = false
  const health = createHealth(checks)
  checks.push({
    name: 'shutdown',
    endpoints: ['readyz'],
    check: () => {
      if (isStopping || stopped) throw new Error('process is shutting down')
    },
  })
  const dispatch = createDispatch(context, [
    (request) => (isHealth(request.path) ? health.answer(request) : undefined),
    discovery,
    versionResponse,
    createMetricsPages(runtime.clock, { '/metrics': runtime.metrics, '/metrics/slis': health.metrics }),
    createOpenApi({
      scheme,
      runtime,
      customSchema: (row) => definitionSchema(reads.readable, row),
      returnsDeleted: (row) => endpointOf(row).strategy.returnDeletedObject === true,
    }),
    createZPages(runtime.clock, {
      component: 'apiserver',
      version: KUBERNETES,
      paths: Z_PATHS,
      flags: options.flags ?? {},
      separators: { Statusz: ': ', Flagz: ': ' },
    }),
    (request) => pathsResponse(request, scheme, checks),
    ...(options.paths?.({ scheme, reads }) ?? []),
  ])
  const settings = { ...options.chain, settledDefinitions: definitions.settled }
  const chain = filterChain(runtime, auth?.filters, options.faults, settings)
  const answer = chain.reduceRight((next, filter) => filter(next), dispatch)
  const handler: Handler = async (request) => answer(request)
  definitions.start(handler, context)
  const stopping = new AbortController()
  const follow: LoopOptions['follow'] = (prefixes, listener) => everyOf(caches, prefixes, listener)
  const loop = { runtime, handler, reads, follow, signal: stopping.signal }
  const ofReadable = { ...loop, reads: { ...reads, ...reads.readable } }
  if (aggregator !== undefined) startApiServiceLoop({ ...ofReadable, aggregator })
  if (options.registerDefinitions === true) startAutoRegisterLoop(ofReadable)
  if (options.repairAddresses === true) startIpAddressLoop(loop)
  if (options.judgeFlowSchemas === true) startFlowSchemaLoop(ofReadable)
  return {
    handler,
    answer,
    caches,
    reads,
    scheme,
    admissionPlugins: admission.names,
    addHealthCheck(check) {
      const at = checks.findLastIndex(({ name }) => name === check.name)
      checks.splice(at < 0 ? checks.length : at + 1, 0, check)
    },
    beginStop: () => {
      isStopping = true
    },
    async stop() {
      if (stopped) return
      stopped = true
      definitions.stop()
      stopping.abort()
      aggregator?.close()
      kubelets.close()
      caches.close()
    },
  }
}

const MIN_REQUEST_SECONDS = 1800
/** What /statusz says that there is. */
const Z_PATHS = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']
const APISERVICES = [{ group: 'apiregistration.k8s.io', resource: 'apiservices' }]

function aggregatorOf(
  { runtime, frontProxy, localApis, isolation }: ApiServerOptions,
  reads: ServerReads,
): Aggregator | undefined {
  if (isolation !== undefined) return unaskedAggregator(isolation, reads)
  return (
    frontProxy &&
    createAggregator(
      runtime,
      { ...reads, ...reads.readable },
      reads.generationOf(APISERVICES),
      frontProxy,
      localApis?.({ reads }),
    )
  )
}

/** The listener hears of changes under each of the prefixes. */
function everyOf(caches: Caches, prefixes: readonly string[], listener: (change: Change) => void): () => void {
  const ends = prefixes.map((prefix) => caches.resource(prefix).onChange(listener))
  return () => {
    for (const end of ends) end()
  }
}

/**
 * Named as kube-apiserver's, in its order. But for those of the store and of the bootstrap they hold as soon as the server answers
 * at all: what its other post-start hooks begin is here begun before the first connection is taken.
 */
const CHECKS = [
  'ping',
  'log',
  'loopback-serving-certificate',
  'etcd',
  'etcd-readiness',
  'kms-providers',
  'informer-sync',
  'poststarthook/start-encryption-provider-config-automatic-reload',
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/aggregator-reload-proxy-client-cert',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

/** Of the checks: those that are not there without priority and fairness. */
const OF_FAIRNESS: ReadonlySet<string> = new Set([
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
])
/** Exists where RBAC decides. */
const BOOTSTRAP_ROLES = 'poststarthook/rbac/bootstrap-roles'
/** Exists when the encryption configuration is read again while the server runs. */
const ENCRYPTION_RELOAD = 'poststarthook/start-encryption-provider-config-automatic-reload'
/** Exists when the encryption configuration may name KMS plugins. */
const KMS_PLUGINS = 'kms-providers'
/** The health checks that depend on the store alone. */
const ASKS_STORAGE: ReadonlySet<string> = new Set(['etcd', 'etcd-readiness'])

/** Of those that hold when what every cluster contains has been made. */
const WAITS_FOR_BOOTSTRAP: ReadonlySet<string> = new Set([
  'poststarthook/start-system-namespaces-controller',
  BOOTSTRAP_ROLES,
  'poststarthook/scheduling/bootstrap-system-priority-classes',
])

function requireBootstrap(bootstrapped: ApiServerOptions['bootstrapped']): void {
  if (bootstrapped?.() === false) throw new Error('not finished')
}

function requireStorage({ failure }: Storage): void {
  if (failure !== undefined) throw new Error(`error getting data from etcd: ${failure.message}`)
}

/** Of those that do not count everywhere. */
const ENDPOINTS: Readonly<Record<string, HealthCheck['endpoints']>> = {
  'loopback-serving-certificate': ['healthz', 'livez'],
  'etcd-readiness': ['readyz'],
  'kms-providers': ['healthz', 'readyz'],
  'informer-sync': ['readyz'],
  'poststarthook/bootstrap-controller': ['healthz', 'livez'],
}

function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]])) as Pick<
    T,
    K
  >
}
