/** What the server can tell of its state when it is asked for its metrics, without counting anything before. */

import type { APIService } from '../api/generated/types.ts'
import type { Scheme } from '../api/scheme/resource.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Caches } from './cache/caches.ts'
import type { ResourceCache } from './cache/resource-cache.ts'
import type { ServerReads } from './reads.ts'

export interface ServerState {
  readonly scheme: Scheme
  readonly caches: Caches
  readonly reads: Pick<ServerReads, 'readable'>
}

export function stateMetrics(metrics: Metrics, { scheme, caches, reads }: ServerState): void {
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
