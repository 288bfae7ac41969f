/**
 * proxy: leads what is sent to Services to their endpoints, on a real node, by nftables. Started by the cluster; it knows the API by its
 * client, and the kernel by two commands (system.ts). What the kernel must hold is a pure function of Services and slices: service-port.ts
 * reads them, choose-endpoints.ts and service-rules.ts say what one port needs, table.ts what of it the kernel has not been told yet.
 *
 * A change costs what it touches: the ports of one Service are reckoned anew, and one script of what differs is run (keep-table.ts).
 */
import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory } from '../client/informer.ts'
import { objectKey } from '../client/store.ts'
import { createHealthChecks, healthCheckOf } from './health-checks.ts'
import { keepTable } from './keep-table.ts'
import { serveOwnHealth } from './own-health.ts'
import { proxyMetrics } from './proxy-metrics.ts'
import { isRange, SERVICE_NAME, type ServicePort, servicePorts } from './service-port.ts'
import { type NodeNetwork, rulesOf } from './service-rules.ts'
import { createServiceTable, SERVICE_RANGES } from './service-table.ts'
import { type Asked, askedOf, forgetArguments, parseFlows, staleFlows } from './stale-flows.ts'
import { command } from './system.ts'

export interface ProxyOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** Of the table. */
  readonly tableName: string
  readonly podRanges: readonly string[]
  /** Where NodePorts are open. */
  readonly nodePortAddresses: readonly string[]
  readonly signal: AbortSignal
  /** Runs nft and conntrack. Default: this machine's. */
  readonly run?: typeof command
}

export interface ServiceProxy {
  /** Resolves when nothing is under way any more, once the signal is aborted. The table stays: it goes with the node. */
  stopped(): Promise<void>
}

const SERVICES = { group: '', version: 'v1', resource: 'services' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const SERVICE_CIDRS = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' }
const BY_SERVICE = 'service'
const ZONE = 'topology.kubernetes.io/zone'

const FORGETTING_AT_ONCE = 8
/** As kube-proxy: twice the time after which all is told again. */
const MOST_BEHIND_MS = 60_000

/** Resolves once the table holds what there is. @throws Error when the kernel does not take it */
export async function startProxy(options: ProxyOptions): Promise<ServiceProxy> {
  const { runtime, client, nodeName, tableName, podRanges, nodePortAddresses, signal } = options
  const { log } = runtime
  const run = options.run ?? command
  const factory = createInformerFactory(runtime, client, signal)
  const services = factory.informer<Service>(SERVICES)
  const slices = factory.informer<EndpointSlice>(SLICES)
  const nodes = factory.informer<Node>(NODES, { fieldSelector: `metadata.name=${nodeName}` })
  const ranges = factory.informer<ServiceCIDR>(SERVICE_CIDRS)
  slices.addIndex(BY_SERVICE, (slice) => [serviceOf(slice)])

  const table = createServiceTable(tableName, podRanges)
  const due = new Set<string>()
  let rangesDue = true
  /** The ports that each Service has now. */
  const ports = new Map<string, readonly ServicePort[]>()
  let node: NodeNetwork = { nodeName, zone: undefined, nodePortAddresses }
  const isDue = () => due.size > 0 || rangesDue
  const kept = keepTable({ runtime, table, tableName, what: 'Services', run, signal, work, isDue })

  const isHealthy = () => kept.state().behindMs < MOST_BEHIND_MS
  const checks = createHealthChecks({ runtime, addresses: nodePortAddresses, isHealthy })

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
    const zone = metadata.labels?.[ZONE]
    if (zone === node.zone) return
    node = { ...node, zone }
    for (const key of services.store.keys()) changed(key)
  }
  nodes.addHandlers({ added: moved, updated: (_, now) => moved(now) })
  const ranged = () => {
    rangesDue = true
    kept.changed()
  }
  ranges.addHandlers({ added: ranged, updated: ranged, deleted: ranged })

  /** TCP notices by itself. */
  const askedByUdp = (all: readonly ServicePort[]): Asked =>
    new Map(all.filter(({ protocol }) => protocol === 'udp').flatMap((port) => [...askedOf(port, nodePortAddresses)]))

  function changed(key: string): void {
    due.add(key)
    kept.changed()
  }

  async function work(tell: () => Promise<void>): Promise<void> {
    if (rangesDue) {
      rangesDue = false
      const cidrs = ranges.store.list().flatMap(({ spec }) => spec?.cidrs ?? [])
      table.fill(SERVICE_RANGES, [...new Set(cidrs.filter(isRange))].sort())
    }
    const asked: Map<string, ReadonlySet<string>> = new Map()
    const keys = [...due]
    due.clear()
    for (const key of keys) {
      const before = ports.get(key) ?? []
      const service = services.store.get(key)
      const now = service === undefined ? [] : servicePorts(service, slices.store.byIndex(BY_SERVICE, key))
      if (now.length === 0) ports.delete(key)
      else ports.set(key, now)
      const there = new Set(now.map(idOf))
      for (const port of before) if (!there.has(idOf(port))) table.set(idOf(port), undefined)
      for (const port of now) table.set(idOf(port), rulesOf(port, node))
      checks.set(key, service === undefined ? undefined : healthCheckOf(service, now, nodeName))
      for (const [at, serving] of differences(askedByUdp(before), askedByUdp(now))) asked.set(at, serving)
    }
    await tell()
    if (asked.size > 0) await forgetFlows(asked)
  }

  async function forgetFlows(asked: Asked): Promise<void> {
    try {
      const stale = staleFlows(parseFlows(await run('conntrack', ['-L', '-f', 'ipv4', '-p', 'udp'])), asked)
      for (let from = 0; from < stale.length && !signal.aborted; from += FORGETTING_AT_ONCE)
        await Promise.all(
          stale.slice(from, from + FORGETTING_AT_ONCE).map((flow) =>
            // One that has ended by itself in the meantime is what was wanted.
            run('conntrack', forgetArguments(flow)).catch(() => {}),
          ),
        )
    } catch (error) {
      log.info(0, 'Flows of UDP to former endpoints were not forgotten', { err: messageOf(error) })
    }
  }

  factory.start()
  await factory.whenSynced(signal)
  // Of two Services that want one address the older has it, as it had before a restart.
  for (const service of services.store.list().toSorted(byAge)) due.add(objectKey(service))
  await kept.start()
  const endOwn = await serveOwnHealth({
    runtime,
    addresses: nodePortAddresses,
    isHealthy,
    lastToldMs: () => kept.state().toldMs,
    node: () => nodes.store.get(nodeName),
    metrics: proxyMetrics(kept.state),
  })
  return {
    async stopped() {
      await Promise.all([kept.stopped(), checks.stop(), endOwn()])
    },
  }
}

const serviceOf = ({ metadata }: EndpointSlice) => `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`

const idOf = ({ key, protocol }: ServicePort) => `${key}/${protocol}`

const byAge = ({ metadata: a }: Service, { metadata: b }: Service): number => {
  const [one, other] = [a, b].map(
    ({ creationTimestamp, namespace, name }) => `${creationTimestamp} ${namespace}/${name}`,
  )
  return (one ?? '') < (other ?? '') ? -1 : 1
}

/** What is gone is answered by nothing; what is there, by what serves. */
function differences(before: Asked, now: Asked): Asked {
  const changed = new Map<string, ReadonlySet<string>>()
  for (const at of before.keys()) if (!now.has(at)) changed.set(at, new Set())
  for (const [at, serving] of now) {
    const old = before.get(at)
    if (old?.size !== serving.size || serving.difference(old).size > 0) changed.set(at, serving)
  }
  return changed
}
