/** The API server of this cluster: storage, the server over it, and what it does by itself, started and stopped in order. */
import { hostname } from 'node:os'
import { decodeProtobuf } from '../api/codec/protobuf.ts'
import { decodeRecord, JOURNAL_VERSION, type Journal } from '../api/journal.ts'
import type { EagerHandler, Handler } from '../api/request.ts'
import { schemeServing } from '../api/scheme/scheme.ts'
import { builtinAdmissionPlugins } from '../apiserver/admission/plugins/by-name.ts'
import { unaskedWebhooks } from '../apiserver/admission/webhooks/admission-review.ts'
import type { SharedEntries } from '../apiserver/cache/entry.ts'
import { notEncrypted } from '../apiserver/encryption/not-encrypted.ts'
import type { FaultInjection } from '../apiserver/faults/which-requests-are-struck.ts'
import { type MaxInFlight, maxInFlight } from '../apiserver/filters/max-in-flight.ts'
import { defaultFairness, fairness } from '../apiserver/filters/priority-and-fairness.ts'
import { createMemoryLimit } from '../apiserver/flowcontrol/memory-limit.ts'
import type { ComponentHealth } from '../apiserver/handlers/component-status.ts'
import type { PathHandler } from '../apiserver/handlers/dispatch.ts'
import { issuerResponse } from '../apiserver/handlers/issuer.ts'
import { type Auth, createAuth } from '../apiserver/identity.ts'
import { loopbackOf } from '../apiserver/loopback.ts'
import { ensureBootstrapObjects, keepTrust } from '../apiserver/loops/bootstrap.ts'
import { startIdentityLease } from '../apiserver/loops/identity.ts'
import { keepSystemObjects } from '../apiserver/loops/keep-system-objects.ts'
import {
  type KubernetesEndpoints,
  startKubernetesEndpoints,
  stopKubernetesEndpoints,
} from '../apiserver/loops/kubernetes-endpoints.ts'
import {
  followReplicas,
  type OwnReplica,
  type Replica,
  readReplicas,
  startReplica,
} from '../apiserver/loops/replicas.ts'
import { createServerLeases } from '../apiserver/loops/server-leases.ts'
import type { ServiceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import type { Filter } from '../apiserver/request/server-request.ts'
import { createApiServer } from '../apiserver/server.ts'
import { readingKubernetes } from '../apiserver/stored-by-kubernetes.ts'
import { builtinStrategies } from '../apiserver/strategies/builtin.ts'
import type { Isolation } from '../apiserver/webhooks/unasked.ts'
import { sleep } from '../base/clock.ts'
import { collectGarbage, usedMemory } from '../base/memory.ts'
import type { Runtime } from '../base/runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import type { HttpsEndpoint } from '../http/client.ts'
import { MIGRATION_KEY } from '../storage/copy-to-another-store.ts'
import type { StoreState } from '../storage/engine.ts'
import type { ServedEtcd } from '../storage/etcd/served-etcd.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import type { StoreImage } from '../storage/image.ts'
import type { Memory } from '../storage/memory.ts'
import { openStorage } from '../storage/open.ts'
import { startCompactor } from '../storage/periodic-compaction.ts'
import { type Storage, StoreError } from '../storage/storage.ts'
import { transformed } from '../storage/transform.ts'
import { serverUrl } from './addresses.ts'
import { chainOf } from './chain.ts'
import type { Identity } from './identity.ts'
import { loadKubeletOptions } from './kubelet-options.ts'
import type { KubeletsHere } from './nodes.ts'
import type { Component } from './options.ts'
import { KUBELET_CLIENT, type Pki } from './pki.ts'
import { measuredNodes } from './resource-metrics/measured-nodes.ts'
import { RESOURCE_METRICS_OBJECTS, resourceMetrics } from './resource-metrics/resource-metrics.ts'
import { loadSecurity, SECURITY_OPTIONS, type Security, type SecurityOptions } from './security.ts'
import { serverAuth } from './server-auth.ts'
import type { ServerSettings } from './server-flags.ts'
import { endpointOfKubeconfig } from './webhook-endpoint.ts'
import { whenReadable } from './when-readable.ts'

export interface ControlPlaneOptions {
  readonly pki: Pki
  readonly identity: Identity
  readonly network: ServiceNetwork
  readonly storage: 'lmdb' | 'memory' | 'etcd'
  /** Where etcd is, for that storage. */
  readonly etcd?: EtcdOptions
  readonly storeDirectory: string
  /** memory: what its store begins with. */
  readonly memory?: Memory
  readonly disableAdmissionPlugins: readonly string[]
  readonly enableAdmissionPlugins: readonly string[]
  readonly allowPrivileged: boolean
  readonly security: SecurityOptions
  readonly settings: ServerSettings
  /** What runs in this process beside the API server. */
  readonly components: readonly Component[]
  /** Where the audit log is when no flag says otherwise. */
  readonly auditLog: string
  /** It begins with the objects of a cluster that works: what every cluster contains is there. */
  readonly forked?: { readonly entries: SharedEntries; readonly isolation?: Isolation }
  readonly kubelets?: KubeletsHere
  /** Decides the suffixes of generated names. */
  readonly seed?: number
  /** What goes wrong on purpose. */
  readonly faults?: FaultInjection
  /** The cluster's own controls. */
  readonly controls?: PathHandler
  /** Called each time that the store's state changes. */
  readonly onStoreState: (state: StoreState) => void
}

export interface ControlPlane {
  /** All that its store holds. @throws StoreError where that is an etcd */
  image(): StoreImage
  /** Of its store, now. */
  readonly revision: number
  /** The storage prefixes under which something is that cannot be read. */
  unreadable(): readonly string[]
  /** What its store keeps of the ends of objects, newer than a revision. */
  journal(after: number): Promise<Journal>
  storeStatus(): Promise<StoreStatus>
  /** Its store as the etcd of a version shows it, to clients of etcd; `prefix`: of its keys there, --etcd-prefix. The caller stops it. */
  servedEtcd(version: string, prefix?: string): Promise<ServedEtcd>
  readonly handler: Handler
  readonly answer: EagerHandler
  /** By what name what leads in this process holds its Leases, from bootstrap on. undefined: no other has the store. */
  leaseHolder(): string | undefined
  /** Makes what every cluster contains; /readyz is ok when it resolves. */
  bootstrap(at: {
    readonly url: string
    readonly port: number
    /** At which pods reach this server. */
    readonly addresses: readonly string[]
  }): Promise<void>
  /**
   * Before the server ends: /readyz fails, the `kubernetes` Service does not lead here any more, and all is served
   * for --shutdown-delay-duration; then clients are left as --shutdown-send-retry-after and --shutdown-watch-termination-grace-period
   * ask for it. `refuses`: called when each answer is to be the last of its connection.
   */
  beginStop(refuses: () => void): Promise<void>
  stop(): Promise<void>
}

export interface StoreStatus {
  readonly driver: 'memory' | 'lmdb' | 'etcd'
  /** The newest that this process has seen. */
  readonly revision: number
  /** Bytes of disk. */
  readonly size?: number
  /** What is wrong with it while it answers, a line each. */
  readonly faults?: readonly string[]
  /** Of a shared store: the API servers of skiff over it. */
  readonly replicas?: readonly Replica[]
  /** The id of this one. */
  readonly own?: string
}

/** As `kubectl get componentstatuses` tells it. The process stops when a component cannot go on, so what runs is healthy. */
function componentHealth(running: readonly Component[], { failure }: Storage): readonly ComponentHealth[] {
  const of = (name: string, runs: boolean): ComponentHealth => ({
    name,
    healthy: runs,
    message: runs ? 'ok' : 'not run by this process',
  })
  return [
    of('controller-manager', running.includes('controllers')),
    of('scheduler', running.includes('scheduler')),
    failure === undefined ? of('etcd-0', true) : { name: 'etcd-0', healthy: false, message: failure.message },
  ]
}

/** Asks kubelets what their pods use. */
const METRICS_READER = {
  userAgent: 'metrics-server',
  user: { name: 'system:metrics-server', groups: ['system:masters', 'system:authenticated'] },
}

function overloadOf(
  runtime: Runtime,
  reads: Parameters<typeof fairness>[1],
  { readOnly, mutating, isShared }: Security['inFlight'],
  memory: Pick<MaxInFlight, 'memory'>,
): Filter {
  if (!isShared) return maxInFlight({ readOnly, mutating, ...memory })
  return fairness(runtime, reads, { ...defaultFairness, inFlight: readOnly + mutating, ...memory })
}
/**
 * Between the mark of what is deleted at once (a pod without a node) and its removal, on a clock that goes by itself. With
 * Kubernetes these are two transactions of etcd, which watchers see 1.0 to 1.9 ms apart; a client's cache that is told of both
 * in one moment never shows the mark.
 */
const REMOVAL_DELAY_MS = 1
/** As long as a store with faults may take to tell of itself once these are known. */
const FAULTY_STORE_MS = 1000
const UNTOLD = [undefined, undefined] as const
/** As long as a start waits for an etcd that does not answer. */
const START_PATIENCE_MS = 30_000
const RBAC = 'rbac.authorization.k8s.io'
const ROLE_RESOURCES = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map((resource) => ({
  group: RBAC,
  resource,
}))

/** @throws StoreError when the store is held by another process or corrupt */
export async function startControlPlane(runtime: Runtime, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { pki, identity, network, settings } = options
  const isolation = options.forked?.isolation
  const isolated = isolation !== undefined
  const stopping = new AbortController()
  /** The `kubernetes` Service leads elsewhere. */
  const leaving = new AbortController()
  const scheme = schemeServing(settings.isServed)
  const kubelets = await loadKubeletOptions(options.security, pki)
  const security = await loadSecurity(runtime, scheme, options.security, {
    auditLog: options.auditLog,
    serviceAccounts: identity.serviceAccounts,
  })
  const disk = await openStorage({
    runtime,
    driver: options.storage,
    dir: options.storeDirectory,
    ...(options.memory === undefined ? {} : { memory: options.memory }),
    onState: options.onStoreState,
    removalDelayMs: runtime.clock === runtime.machineClock ? REMOVAL_DELAY_MS : 0,
    ...(options.etcd === undefined ? {} : { etcd: options.etcd }),
  })
  const isShared = options.storage === 'etcd'
  const chain = await chainOf(runtime, settings)
  if ((await disk.get(MIGRATION_KEY)).item !== undefined) {
    await disk.close()
    throw new StoreError('the store is half filled by skiff migrate: run that to its end, or empty the store')
  }
  const encryption = security.encryption?.transformer ?? notEncrypted
  const storage = transformed(disk, isShared ? readingKubernetes(scheme, encryption) : encryption)
  // etcd is compacted once for all that share it.
  const stopCompacting = isShared ? () => {} : startCompactor(runtime, disk)
  const limit = security.memoryLimit
  const memory =
    limit === undefined ? undefined : createMemoryLimit(runtime, { limit, used: usedMemory, collect: collectGarbage })
  stopping.signal.addEventListener('abort', () => memory?.stop())
  let auth: Auth | undefined
  let url = ''
  /** Where pods and others beside this machine reach this server, if anywhere; else the same. */
  let publicUrl = ''
  const keysUrl = () => options.security.serviceAccountJwksUri ?? `${publicUrl}/openid/v1/jwks`
  let ready = options.forked !== undefined
  let endpoints: KubernetesEndpoints | undefined
  let replica: OwnReplica | undefined
  const here = options.kubelets
  let replicas: Awaited<ReturnType<typeof followReplicas>> | undefined
  /** Where another process runs the simulated nodes: the API server there, which this one asks as it asks kubelets. */
  const peer = (): HttpsEndpoint | undefined => {
    const server = replicas?.withNodes()
    const { cert, key } = pki.kubeletClient
    return server === undefined ? undefined : { server, ca: pki.ca.cert, cert, key }
  }
  // Of an API server alone nothing is wanted but what kube-apiserver serves.
  const hasNodes = options.components.includes('kubelet') && !isolated
  const measured = measuredNodes(runtime, (node) => summaryOf(node), stopping.signal)
  let summaryOf: (node: string) => Promise<string> = () => Promise.reject(new Error('the server has not started'))
  try {
    const server = await createApiServer({
      runtime,
      storage,
      ...(options.forked === undefined ? {} : { entries: options.forked.entries }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      ...(options.faults === undefined ? {} : { faults: options.faults }),
      scheme,
      strategies: builtinStrategies({
        allowPrivileged: options.allowPrivileged,
        ...(settings.eventTtlSeconds === undefined ? {} : { eventTtlSeconds: settings.eventTtlSeconds }),
      }),
      admission: {
        plugins: builtinAdmissionPlugins(
          runtime,
          isolation && unaskedWebhooks(isolation),
          settings.tolerationSeconds,
          isolated ? undefined : endpointOfKubeconfig,
        ),
        configurationOf: settings.admissionConfigurationOf,
        enabled: options.enableAdmissionPlugins,
        disabled: options.disableAdmissionPlugins,
      },
      auth: (reads) => {
        const { authentication, authorization } = security
        auth = createAuth(runtime, {
          reads: reads.readable,
          podsOnNode: reads.podsOnNode,
          rolesChanged: reads.generationOf(ROLE_RESOURCES),
          serviceAccounts: identity.serviceAccounts,
          frontProxies: identity.frontProxies,
          clientCas: identity.clientCas.join('\n'),
          ...(security.tokens === undefined ? {} : { staticTokens: security.tokens }),
          ...(authentication === undefined
            ? {}
            : { otherTokens: authentication.otherTokens, anonymous: authentication.anonymous }),
          ...(authorization === undefined ? {} : { authorization: authorization.chain }),
          ...(security.audit === undefined ? {} : { audit: security.audit }),
          overload: overloadOf(
            runtime,
            { ...reads, ...reads.readable },
            security.inFlight,
            memory === undefined ? {} : { memory },
          ),
        })
        const { forget } = auth.authenticator
        authentication?.start(forget)
        return serverAuth(runtime, reads, auth, settings)
      },
      chain: chain.settings,
      collectsGarbage: settings.collectsGarbage,
      ...(settings.minRequestSeconds === undefined ? {} : { minRequestSeconds: settings.minRequestSeconds }),
      flags: flagsOf(options.security),
      bootstrapped: () => ready,
      registerDefinitions: true,
      repairAddresses: true,
      judgeFlowSchemas: security.inFlight.isShared,
      reloadsEncryption: security.encryption?.isReloaded === true,
      ...(security.encryption?.checkPlugins === undefined ? {} : { checkKmsPlugins: security.encryption.checkPlugins }),
      components: () => componentHealth(options.components, storage),
      ...(isolated ? {} : { frontProxy: identity.proxyClient }),
      ...(hasNodes ? { localApis: ({ reads }) => [resourceMetrics(runtime, reads, measured)] } : {}),
      network,
      kubelets: {
        ...kubelets,
        ...(isolated || here === undefined ? {} : { inProcess: (name) => here.get(name) }),
        ...(isShared ? { peer } : {}),
      },
      decodeProtobuf: (bytes, expected) => decodeProtobuf(bytes, expected),
      serverAddress: () => url.replace('https://', ''),
      paths: () => [
        (request) => (auth === undefined ? undefined : issuerResponse(auth.tokens, keysUrl(), request)),
        ...(options.controls === undefined ? [] : [options.controls]),
      ],
    })
    memory?.onPressure(server.caches.shrink)
    security.encryption?.start(server.caches.readAnew)
    auth?.legacyTokens.start(loopbackOf(server.handler))
    const asker = createClient(runtime, inProcessTransport(server.handler), METRICS_READER)
    summaryOf = async (node) => {
      const { status, body } = await asker.raw('GET', `/api/v1/nodes/${node}/proxy/stats/summary`)
      if (status !== 200) throw new Error(`${status}: ${body}`)
      return body
    }
    const leave = async () => {
      if (leaving.signal.aborted) return
      leaving.abort()
      // A store that takes no writes any more keeps them: the next start takes them away.
      if (endpoints !== undefined && endpoints.addresses.length > 0)
        await stopKubernetesEndpoints(endpoints).catch(() => {})
    }
    const readable = (act: () => Promise<void>) =>
      whenReadable(runtime, security.encryption?.checkPlugins, stopping.signal, act)
    server.addHealthCheck({
      name: 'poststarthook/bootstrap-controller',
      endpoints: ['readyz'],
      check: () => {
        if (!ready) throw new Error('not finished')
      },
    })
    return {
      get revision() {
        return disk.revision
      },
      image() {
        if (disk.image === undefined)
          throw new StoreError('the objects are in an etcd: skiff snapshot save FILE --etcd-servers …')
        return disk.image()
      },
      async journal(after) {
        const entries = await disk.journal(after)
        const records = entries.map(({ revision, value }) => decodeRecord(value, revision))
        return {
          ...JOURNAL_VERSION,
          revision: disk.revision,
          records: records.filter((record) => record !== undefined),
        }
      },
      async storeStatus() {
        // At once: each waits for members that are away.
        const asked = Promise.all([disk.size?.(), isShared ? readReplicas(storage) : undefined])
        asked.catch(() => {})
        const faults = (await disk.faults?.()) ?? []
        // Without most of its members nothing is read: then their faults are what there is to tell.
        const [size, replicas] =
          faults.length === 0
            ? await asked
            : await Promise.race([
                asked.catch(() => UNTOLD),
                sleep(runtime.machineClock, FAULTY_STORE_MS).then(() => UNTOLD),
              ])
        const own = replica?.id
        return {
          driver: options.storage,
          revision: disk.revision,
          ...(size === undefined ? {} : { size }),
          ...(faults.length === 0 ? {} : { faults }),
          ...(replicas === undefined ? {} : { replicas }),
          ...(own === undefined ? {} : { own }),
        }
      },
      leaseHolder: () => replica?.holder,
      servedEtcd: async (version, prefix = '/registry') => {
        const [{ serveEtcd }, { keyPrefix }] = await Promise.all([
          import('../storage/etcd/served-etcd.ts'),
          import('../storage/etcd/servers.ts'),
        ])
        return serveEtcd(disk, version, keyPrefix(prefix))
      },
      unreadable: () => {
        const prefixes = new Set(server.scheme.rows().map(({ storagePrefix }) => storagePrefix))
        prefixes.delete('')
        return [...prefixes].filter((prefix) => server.caches.resource(prefix).unreadable().length > 0)
      },
      handler: server.handler,
      answer: server.answer,
      bootstrap: async (at) => {
        url = at.url
        const [reached] = at.addresses
        publicUrl = reached === undefined ? url : serverUrl(reached, at.port)
        const { handler, reads } = server
        const kubeletClient = kubelets.client === pki.kubeletClient ? { kubeletClient: KUBELET_CLIENT } : {}
        const wanted = {
          runtime,
          handler,
          reads,
          scheme,
          port: at.port,
          network,
          nodePort: options.security.kubernetesServiceNodePort ?? 0,
          hasRoles: auth?.modes().includes('RBAC') !== false,
          trust: identity.trust,
          ...(isShared ? { patienceMs: START_PATIENCE_MS } : {}),
          ...(hasNodes ? { more: RESOURCE_METRICS_OBJECTS } : {}),
          ...kubeletClient,
        }
        const { signal } = stopping
        await readable(() => ensureBootstrapObjects(wanted))
        const leases = isShared ? { leases: createServerLeases(storage) } : {}
        endpoints = { runtime, handler, addresses: at.addresses, port: at.port, signal: leaving.signal, ...leases }
        await readable(() => startKubernetesEndpoints(endpoints as KubernetesEndpoints))
        const follow = (prefix: string, listener: () => void) => server.caches.resource(prefix).onChange(listener)
        keepTrust(wanted, (listener) => follow('configmaps', listener), signal)
        keepSystemObjects({ ...wanted, follow, signal })
        const address = new URL(at.url).hostname.replace(/^\[|\]$/g, '')
        if (isShared) {
          replica = await startReplica({ runtime, storage, url: at.url, host: hostname(), signal, kubelets: here })
          replicas = await followReplicas(storage, replica.id)
        }
        startIdentityLease({ runtime, handler, hostname: hostname(), address, signal })
        ready = true
      },
      beginStop: async (refuses) => {
        server.beginStop()
        await leave()
        if (security.shutdownDelayMs > 0) await sleep(runtime.machineClock, security.shutdownDelayMs)
        await chain.leave(refuses)
      },
      stop: async () => {
        stopping.abort()
        stopCompacting()
        await chain.close()
        replicas?.stop()
        await leave()
        await replica?.stop().catch(() => {})
        await server.stop()
        await storage.close()
        await security.close()
      },
    }
  } catch (error) {
    await storage.close().catch(() => {})
    throw error
  }
}

/** As they are on a command line; what they name are files, never secrets. */
const flagsOf = (security: SecurityOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    SECURITY_OPTIONS.flatMap((option) => {
      const value = security[option]
      return value === undefined ? [] : [[option.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), String(value)]]
    }),
  )
