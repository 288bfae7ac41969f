/** What the node lifecycle controller tells of nodes and their zones, under kube-controller-manager's names; nothing where no metrics are kept. */
import { exponentialBuckets } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'

export interface ZoneMetrics {
  /** One node, or all of them, were looked at since `began`, in milliseconds of the monotonic clock. */
  looked(at: 'node' | 'all', began: number): void
  /** Whether each node is ready, by zone. A zone that is told of no more has no nodes. */
  zones(ready: ReadonlyMap<string, readonly boolean[]>): void
  /** A node has its NoExecute taint. */
  evicted(zone: string): void
}

const silent: ZoneMetrics = { looked: () => {}, zones: () => {}, evicted: () => {} }

export function zoneMetrics({ metrics, clock }: Pick<Runtime, 'metrics' | 'clock'>): ZoneMetrics {
  if (metrics === undefined) return silent
  const gauge = (name: string, help: string) => metrics.gauge(`node_collector_${name}`, help, ['zone'])
  const health = gauge('zone_health', 'Percent of the nodes that are ready.')
  const size = gauge('zone_size', 'Nodes that there are.')
  const unhealthy = gauge('unhealthy_nodes_in_zone', 'Nodes that are not ready.')
  const evictions = metrics.counter('node_collector_evictions_total', 'Nodes whose pods were told to go.', ['zone'])
  const duration = (what: string, help: string, buckets: readonly number[]) =>
    metrics.histogram(`node_collector_update_${what}_health_duration_seconds`, help, [], buckets).child()
  const durations = {
    node: duration('node', 'Seconds that a look at one node took.', exponentialBuckets(0.001, 4, 8)),
    all: duration('all_nodes', 'Seconds that a look at all nodes took.', exponentialBuckets(0.01, 4, 8)),
  }
  const known = new Set<string>()
  return {
    looked: (at, began) => durations[at].observe((clock.monotonic() - began) / 1000),
    zones(ready) {
      for (const zone of ready.keys()) known.add(zone)
      for (const zone of known) {
        const nodes = ready.get(zone) ?? []
        const down = nodes.filter((isReady) => !isReady).length
        health.child(zone).set(nodes.length === 0 ? 100 : (100 * (nodes.length - down)) / nodes.length)
        size.child(zone).set(nodes.length)
        unhealthy.child(zone).set(down)
        evictions.child(zone)
      }
    },
    evicted: (zone) => evictions.child(zone).add(),
  }
}
