/**
 * proxy: leads what is sent to Services to their endpoints, on a real node, by nftables. Started by the cluster; it knows the API by its
 * client, and the kernel by two commands, nft and conntrack. What the kernel must hold is a pure function of Services and slices: service-port.ts
 * reads them, choose-endpoints.ts and service-rules.ts say what one port needs, table.ts what of it the kernel has not been told yet.
 *
 * A change costs what it touches: the ports of one Service are reckoned anew, and one script of what differs is run (keep-table.ts). Each family of
 * addresses has a table of its own (proxier.ts).
 */
import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/generated/types.ts'
import { command } from '../base/command.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory } from '../client/informer.ts'
import { objectKey } from '../client/store.ts'
import type { TableState } from './keep-table.ts'
import { serveOwnHealth } from './own-health.ts'
import { createProxier, type ProxiedFamily } from './proxier.ts'
import { proxyMetrics } from './proxy-metrics.ts'
import { SERVICE_NAME } from './service-port.ts'

export interface ProxyOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** Of the tables. */
  readonly tableName: string
  readonly families: readonly ProxiedFamily[]
  readonly signal: AbortSignal
  /** Runs nft and conntrack. Default: this machine's. */
  readonly run?: typeof command
}

export interface ServiceProxy {
  /** Resolves when nothing is under way any more, once the signal is aborted. The tables stay: they go with the node. */
  stopped(): Promise<void>
}

const SERVICES = { group: '', version: 'v1', resource: 'services' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const SERVICE_CIDRS = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' }
const BY_SERVICE = 'service'
const ZONE = 'topology.kubernetes.io/zone'

/** Resolves once the tables hold what there is. @throws Error when the kernel does not take it */
export async function startProxy(options: ProxyOptions): Promise<ServiceProxy> {
  const { runtime, client, nodeName, tableName, families, signal, run = command } = options
  const factory = createInformerFactory(runtime, client, signal)
  const services = factory.informer<Service>(SERVICES)
  const slices = factory.informer<EndpointSlice>(SLICES)
  const nodes = factory.informer<Node>(NODES, { fieldSelector: `metadata.name=${nodeName}` })
  const ranges = factory.informer<ServiceCIDR>(SERVICE_CIDRS)
  slices.addIndex(BY_SERVICE, (slice) => [serviceOf(slice)])

  let zone: string | undefined
  const known = {
    service: (key: string) => services.store.get(key),
    slices: (key: string) => slices.store.byIndex(BY_SERVICE, key),
    serviceRanges: () => ranges.store.list().flatMap(({ spec }) => spec?.cidrs ?? []),
    zone: () => zone,
  }
  const proxiers = families.map((family) =>
    createProxier({ ...family, runtime, nodeName, tableName, known, run, signal }),
  )
  function changed(key: string): void {
    for (const proxier of proxiers) proxier.changed(key)
  }

  services.addHandlers({
    added: (service) => changed(objectKey(service)),
    updated: (_, service) => changed(objectKey(service)),
    deleted: (service) => changed(objectKey(service)),
  })
  slices.addHandlers({
    added: (slice) => changed(serviceOf(slice)),
    updated(old, slice) {
      changed(serviceOf(old))
      changed(serviceOf(slice))
    },
    deleted: (slice) => changed(serviceOf(slice)),
  })
  const moved = ({ metadata }: Node) => {
    const now = metadata.labels?.[ZONE]
    if (now === zone) return
    zone = now
    for (const key of services.store.keys()) changed(key)
  }
  nodes.addHandlers({ added: moved, updated: (_, now) => moved(now) })
  const ranged = () => {
    for (const proxier of proxiers) proxier.rangesChanged()
  }
  ranges.addHandlers({ added: ranged, updated: ranged, deleted: ranged })

  factory.start()
  await factory.whenSynced(signal)
  // Of two Services that want one address the older has it, as it had before a restart.
  const keys = services.store.list().toSorted(byAge).map(objectKey)
  for (const proxier of proxiers) await proxier.start(keys)
  const state = () => together(proxiers.map((proxier) => proxier.state()))
  const endOwn = await serveOwnHealth({
    runtime,
    addresses: families.flatMap(({ nodePortAddresses }) => nodePortAddresses),
    isHealthy: () => proxiers.every((proxier) => proxier.isHealthy()),
    lastToldMs: () => state().toldMs,
    node: () => nodes.store.get(nodeName),
    metrics: proxyMetrics(state),
  })
  return {
    async stopped() {
      await Promise.all([...proxiers.map((proxier) => proxier.stopped()), endOwn()])
    },
  }
}

/** Of all tables: as far as the last of them. */
const together = (states: readonly TableState[]): TableState => ({
  toldMs: Math.min(...states.map(({ toldMs }) => toldMs)),
  tookMs: Math.max(...states.map(({ tookMs }) => tookMs)),
  behindMs: Math.max(...states.map(({ behindMs }) => behindMs)),
  times: states.reduce((sum, { times }) => sum + times, 0),
  failures: states.reduce((sum, { failures }) => sum + failures, 0),
})

const serviceOf = ({ metadata }: EndpointSlice) => `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`

const byAge = ({ metadata: a }: Service, { metadata: b }: Service): number => {
  const [one, other] = [a, b].map(
    ({ creationTimestamp, namespace, name }) => `${creationTimestamp} ${namespace}/${name}`,
  )
  return (one ?? '') < (other ?? '') ? -1 : 1
}
