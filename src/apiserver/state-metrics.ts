/** What the server can tell of its state when it is asked for its metrics, without counting anything before. */

import type { APIService, Service } from '../api/generated/types.ts'
import type { Scheme } from '../api/scheme/resource.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Storage } from '../storage/storage.ts'
import type { Caches } from './cache/caches.ts'
import type { ResourceCache } from './cache/resource-cache.ts'
import type { ServerReads } from './reads.ts'
import { holds, lastOffset, rangesInUse } from './registry/allocators/service-network.ts'
import type { Pools } from './registry/strategy.ts'

export interface ServerState {
  readonly scheme: Scheme
  readonly caches: Caches
  readonly reads: Pick<ServerReads, 'readable'>
  readonly storage: Pick<Storage, 'size'>
  readonly pools: Pick<Pools, 'network' | 'serviceCidrs' | 'services'>
}

export function stateMetrics(metrics: Metrics, { scheme, caches, reads, storage, pools }: ServerState): void {
  storageSizeMetric(metrics, storage)
  servicePools(metrics, pools)
  const byResource = (of: (cache: ResourceCache) => number) =>
    function* () {
      const seen = new Set<string>()
      for (const { storagePrefix, group, resource } of scheme.rows()) {
        if (storagePrefix === '' || seen.has(storagePrefix)) continue
        seen.add(storagePrefix)
        yield [of(caches.resource(storagePrefix)), group, resource] as const
      }
    }
  const labels = ['group', 'resource']
  metrics.sampled(
    'apiserver_resource_objects',
    'Stored objects.',
    labels,
    byResource((cache) => cache.size),
  )
  // A cache's generation rises once when it is loaded, and with every event after.
  const changes = byResource((cache) => cache.generation - 1)
  const events = () => [...changes()].filter(([count]) => count > 0)
  for (const name of ['apiserver_watch_cache_events_received_total', 'apiserver_storage_events_received_total'])
    metrics.sampled(name, 'Changes of stored objects that the watch cache has taken.', labels, events, 'counter')
  metrics.sampled(
    'apiserver_watch_cache_resource_version',
    'The revision that the watch cache has reached.',
    labels,
    byResource(() => caches.revision),
  )
  metrics.sampled(
    'aggregator_unavailable_apiservice',
    'APIServices that cannot be reached: 1, others 0.',
    ['name'],
    function* () {
      for (const { metadata, status } of reads.readable.list<APIService>('apiregistration.k8s.io', 'apiservices')) {
        const available = status?.conditions?.find(({ type }) => type === 'Available')
        yield [available?.status === 'True' ? 0 : 1, metadata.name ?? ''] as const
      }
    },
  )
}

/** An etcd is asked for it, so what is told is what the question before this one found. */
export function storageSizeMetric(metrics: Metrics, storage: ServerState['storage']): void {
  if (storage.size === undefined) return
  let known: number | undefined
  const look = () =>
    storage.size?.().then(
      (bytes) => {
        known = bytes
      },
      () => {
        known = undefined
      },
    )
  void look()
  // Kubernetes names the first etcd so.
  const help = 'Bytes of disk that the storage takes.'
  metrics.sampled('apiserver_storage_size_bytes', help, ['storage_cluster_id'], () => {
    void look()
    return known === undefined ? [] : [[known, 'etcd-0']]
  })
}

/** Addresses and ports of Services: how many are given, and how many are left. */
function servicePools(metrics: Metrics, pools: ServerState['pools']): void {
  const addresses = () =>
    pools.services().flatMap(({ spec }: Service) => (spec?.clusterIPs ?? []).filter((ip) => ip !== 'None'))
  const ranges = () =>
    (['IPv4', 'IPv6'] as const).flatMap((family) => rangesInUse(pools.network, pools.serviceCidrs(), family))
  const ports = () =>
    new Set(
      pools.services().flatMap(({ spec }: Service) => {
        const own = (spec?.ports ?? []).map(({ nodePort }) => nodePort)
        return [...own, spec?.healthCheckNodePort].filter((port) => port)
      }),
    ).size
  const gauge = (
    name: string,
    help: string,
    labels: readonly string[],
    sample: () => Iterable<readonly [number, ...string[]]>,
  ) => metrics.sampled(`kube_apiserver_${name}`, help, labels, sample)
  const byRange = (count: (size: number, given: number) => number) => () => {
    const given = addresses()
    return ranges().map((range) => {
      const held = given.filter((address) => holds(range, address)).length
      return [count(Number(lastOffset(range)), held), range.cidr] as const
    })
  }
  gauge(
    'clusterip_allocator_allocated_ips',
    'Cluster IPs that Services have.',
    ['cidr'],
    byRange((_, held) => held),
  )
  gauge(
    'clusterip_allocator_available_ips',
    'Cluster IPs that are left.',
    ['cidr'],
    byRange((size, held) => size - held),
  )
  const { first, last } = pools.network.ports
  gauge('nodeport_allocator_allocated_ports', 'Node ports that Services have.', [], () => [[ports()]])
  gauge('nodeport_allocator_available_ports', 'Node ports that are left.', [], () => [[last - first + 1 - ports()]])
}
