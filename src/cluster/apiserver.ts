/** The API server of this cluster: storage, the server over it, and what it does by itself, started and stopped in order. */
import { hostname } from 'node:os'
import { decodeProtobuf } from '../api/codec/protobuf.ts'
import type { EagerHandler, Handler } from '../api/request.ts'
import { builtinScheme } from '../api/scheme/scheme.ts'
import { builtinAdmissionPlugins } from '../apiserver/admission/plugins/index.ts'
import { answerTokenRequest } from '../apiserver/auth/tokenrequest.ts'
import { reviewToken } from '../apiserver/auth/tokenreview.ts'
import { defaultFairness, fairness } from '../apiserver/filters/fairness.ts'
import type { ComponentHealth } from '../apiserver/handlers/component-status.ts'
import { issuerResponse } from '../apiserver/handlers/issuer.ts'
import { createReviews } from '../apiserver/handlers/reviews.ts'
import { type Auth, createAuth } from '../apiserver/identity.ts'
import { ensureBootstrapObjects, keepTrust } from '../apiserver/loops/bootstrap.ts'
import { startIdentityLease } from '../apiserver/loops/identity.ts'
import type { ServerReads } from '../apiserver/reads.ts'
import type { ServiceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { builtinStrategies } from '../apiserver/registry/strategies/builtin.ts'
import { createApiServer, type ServerAuth } from '../apiserver/server.ts'
import type { Runtime } from '../base/runtime.ts'
import type { StoreState } from '../storage/engine.ts'
import { openStorage } from '../storage/open.ts'
import { startCompactor } from '../storage/periodic-compaction.ts'
import type { Storage } from '../storage/storage.ts'
import { transformed } from '../storage/transform.ts'
import type { Identity } from './identity.ts'
import { loadKubeletOptions } from './kubelet-options.ts'
import type { Component } from './options.ts'
import { KUBELET_CLIENT, type Pki } from './pki.ts'
import { loadSecurity, SECURITY_OPTIONS, type SecurityOptions } from './security.ts'

export interface ControlPlaneOptions {
  readonly pki: Pki
  readonly identity: Identity
  readonly network: ServiceNetwork
  readonly storage: 'lmdb' | 'memory'
  readonly storeDirectory: string
  readonly disableAdmissionPlugins: readonly string[]
  readonly enableAdmissionPlugins: readonly string[]
  readonly allowPrivileged: boolean
  readonly security: SecurityOptions
  /** What runs in this process beside the API server. */
  readonly components: readonly Component[]
  /** Where the audit log is when nobody says otherwise. */
  readonly auditLog: string
  /** Called each time that the store's state changes. */
  readonly onStoreState: (state: StoreState) => void
}

export interface ControlPlane {
  readonly handler: Handler
  readonly answer: EagerHandler
  /** Makes what every cluster contains; /readyz is ok when it resolves. */
  bootstrap(at: { readonly url: string; readonly port: number }): Promise<void>
  stop(): Promise<void>
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

const RBAC = 'rbac.authorization.k8s.io'
const ROLE_RESOURCES = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map((resource) => ({
  group: RBAC,
  resource,
}))

/** @throws StoreError when the store is held by another process or corrupt */
export async function startControlPlane(runtime: Runtime, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { pki, identity, network } = options
  const stopping = new AbortController()
  const scheme = builtinScheme()
  const kubelets = await loadKubeletOptions(options.security, pki)
  const security = await loadSecurity(runtime, scheme, options.security, {
    auditLog: options.auditLog,
    serviceAccounts: identity.serviceAccounts,
  })
  const disk = await openStorage({
    runtime,
    driver: options.storage,
    dir: options.storeDirectory,
    onState: options.onStoreState,
  })
  const storage = security.transformer === undefined ? disk : transformed(disk, security.transformer)
  const stopCompacting = startCompactor(runtime, disk)
  let auth: Auth | undefined
  let url = ''
  let ready = false
  try {
    const server = await createApiServer({
      runtime,
      storage,
      scheme,
      strategies: builtinStrategies({ allowPrivileged: options.allowPrivileged }),
      admission: {
        plugins: builtinAdmissionPlugins(runtime),
        enabled: options.enableAdmissionPlugins,
        disabled: options.disableAdmissionPlugins,
      },
      auth: (reads) => {
        const { authentication, authorization } = security
        auth = createAuth(runtime, {
          reads,
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
          overload: fairness(runtime, reads, { ...defaultFairness, inFlight: security.inFlight }),
        })
        const { forget } = auth.authenticator
        authentication?.start(forget)
        return serverAuth(runtime, reads, auth)
      },
      flags: flagsOf(options.security),
      bootstrapped: () => ready,
      registerDefinitions: true,
      repairAddresses: true,
      judgeFlowSchemas: true,
      components: () => componentHealth(options.components, storage),
      frontProxy: identity.proxyClient,
      network,
      kubelets,
      decodeProtobuf: (bytes, expected) => decodeProtobuf(bytes, expected),
      serverAddress: () => url.replace('https://', ''),
      paths: () => [(request) => (auth === undefined ? undefined : issuerResponse(auth.tokens, url, request))],
    })
    server.addHealthCheck({
      name: 'poststarthook/bootstrap-controller',
      endpoints: ['readyz'],
      check: () => {
        if (!ready) throw new Error('not finished')
      },
    })
    return {
      handler: server.handler,
      answer: server.answer,
      bootstrap: async (at) => {
        url = at.url
        const { handler, reads } = server
        const kubeletClient = kubelets.client === pki.kubeletClient ? { kubeletClient: KUBELET_CLIENT } : {}
        const wanted = {
          runtime,
          handler,
          reads,
          scheme,
          port: at.port,
          network,
          trust: identity.trust,
          ...kubeletClient,
        }
        await ensureBootstrapObjects(wanted)
        keepTrust(wanted, (listener) => server.caches.resource('configmaps').onChange(listener), stopping.signal)
        const address = new URL(at.url).hostname.replace(/^\[|\]$/g, '')
        startIdentityLease({ runtime, handler, hostname: hostname(), address, signal: stopping.signal })
        ready = true
      },
      stop: async () => {
        stopping.abort()
        stopCompacting()
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

function serverAuth(runtime: Runtime, reads: ServerReads, auth: Auth): ServerAuth {
  const { tokens, authenticator, authorizer, modes, roles, filters, guard } = auth
  return {
    filters,
    guard,
    authorizer,
    reviews: {
      ...createReviews({ authorizer, roles, modes }),
      'authentication.k8s.io/TokenReview': (object) => reviewToken(authenticator, object),
    },
    answerTokenRequest: (namespace, name, object) =>
      answerTokenRequest({ runtime, reads, tokens }, namespace, name, object),
  }
}
