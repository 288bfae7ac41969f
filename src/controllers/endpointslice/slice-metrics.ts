/** What the EndpointSlice controller tells of its work, under kube-controller-manager's names; nothing where no metrics are kept. */
import type { Service } from '../../api/generated/types.ts'
import { exponentialBuckets } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { objectKey } from '../../client/store.ts'
import type { SliceCounts, SlicePlan } from './distribute-endpoints.ts'
import { asksForZoneHints } from './traffic-distribution.ts'

export interface SliceMetrics {
  synced(result: 'success' | 'error' | 'stale'): void
  wrote(operation: 'create' | 'update' | 'delete'): void
  /** What was planned for a service in one address family has been done. */
  done(service: Service, family: string, counts: SliceCounts, plan: SlicePlan): void
  /** A service is there no more. */
  forget(key: string): void
}

const silent: SliceMetrics = { synced: () => {}, wrote: () => {}, done: () => {}, forget: () => {} }
const ENDPOINTS = exponentialBuckets(2, 2, 15)

/** Of one service: by address family what it has and should have, and how its traffic is distributed. */
interface Held {
  readonly families: Map<string, readonly [endpoints: number, wanted: number, there: number]>
  traffic: string
}

export function sliceMetrics({ metrics }: Pick<Runtime, 'metrics'>): SliceMetrics {
  if (metrics === undefined) return silent
  const of = (name: string) => `endpoint_slice_controller_${name}`
  const changes = metrics.counter(of('changes'), 'EndpointSlices that were written, by operation.', ['operation'])
  const syncs = metrics.counter(of('syncs'), 'Syncs of services, by result.', ['result'])
  const perSync = (what: string) =>
    metrics.histogram(of(`endpoints_${what}_per_sync`), `Endpoints that a sync has ${what}.`, [], ENDPOINTS).child()
  const [added, removed] = [perSync('added'), perSync('removed')]
  const changed = metrics.histogram(
    of('endpointslices_changed_per_sync'),
    'EndpointSlices that a sync has written.',
    ['topology', 'traffic_distribution'],
    [],
  )
  const gauge = (name: string, help: string) => metrics.gauge(of(name), help).child()
  const totals = [
    gauge('endpoints_desired', 'Endpoints that there should be.'),
    gauge('desired_endpoint_slices', 'EndpointSlices that there would be if none had room left.'),
    gauge('num_endpoint_slices', 'EndpointSlices that there are.'),
  ] as const
  const byTraffic = metrics.gauge(
    of('services_count_by_traffic_distribution'),
    'Services that ask for a distribution of their traffic.',
    ['traffic_distribution'],
  )
  const services = new Map<string, Held>()
  const countTraffic = (traffic: string, amount: number) => {
    if (traffic !== '') byTraffic.child(traffic).add(amount)
  }
  return {
    synced: (result) => syncs.child(result).add(),
    wrote: (operation) => changes.child(operation).add(),
    done(service, family, counts, plan) {
      const key = objectKey(service)
      const isAuto = asksForZoneHints(service)
      const traffic = isAuto ? '' : (service.spec?.trafficDistribution ?? '')
      added.observe(counts.added)
      removed.observe(counts.removed)
      const writes = plan.create.length + plan.update.length + plan.remove.length
      changed.child(isAuto ? 'Auto' : 'Disabled', traffic).observe(writes)
      let held = services.get(key)
      if (held === undefined) {
        held = { families: new Map(), traffic: '' }
        services.set(key, held)
      }
      const there = plan.create.length + plan.update.length + plan.unchanged.length
      const now = [counts.endpoints, counts.slices, there] as const
      const before = held.families.get(family) ?? [0, 0, 0]
      for (const [at, total] of totals.entries()) total.add(now[at]! - before[at]!)
      held.families.set(family, now)
      if (held.traffic === traffic) return
      countTraffic(held.traffic, -1)
      countTraffic(traffic, 1)
      held.traffic = traffic
    },
    forget(key) {
      const held = services.get(key)
      if (held === undefined) return
      services.delete(key)
      for (const numbers of held.families.values()) for (const [at, total] of totals.entries()) total.add(-numbers[at]!)
      countTraffic(held.traffic, -1)
    },
  }
}
