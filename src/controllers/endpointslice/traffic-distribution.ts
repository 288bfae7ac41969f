/** Which clients an endpoint is for: those of its zone, or of its node. */
import type { EndpointHints, Service } from '../../api/generated/types.ts'

/**
 * Whether the Service asks by annotation for hints by the zones' shares of processors (topology-aware routing); its
 * trafficDistribution does not count then.
 */
export function asksForZoneHints({ metadata: { annotations = {} } }: Service): boolean {
  const mode =
    annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode']
  return mode === 'Auto' || mode === 'auto'
}

/** The zone and the node whose clients should use the endpoint, by the Service's trafficDistribution (KEP-4444, KEP-3015). */
export function trafficDistributionHints(
  service: Service,
  node: string | undefined,
  zone: string | undefined,
): EndpointHints | undefined {
  const { trafficDistribution: wanted = '' } = service.spec ?? {}
  if (asksForZoneHints(service)) return undefined
  if (!['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(wanted)) return undefined
  const forNodes = wanted === 'PreferSameNode' && node ? [{ name: node }] : undefined
  if (!zone && forNodes === undefined) return undefined
  return { ...(zone ? { forZones: [{ name: zone }] } : {}), ...(forNodes === undefined ? {} : { forNodes }) }
}
