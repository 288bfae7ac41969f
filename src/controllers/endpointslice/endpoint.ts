/** A pod as an endpoint of a service. */
import type { Endpoint, Pod, Service } from '../../api/generated/types.ts'
import { addressesOf, type EndpointPort, hostnameOf, isHeadless, portsOf } from '../endpoints/service-pods-and-ports.ts'
import { isReady } from '../pods/pod.ts'

export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** The service's endpoints of one address family, by the ports they have (JSON of the ports as the key). */
export function endpointsByPorts(
  service: Service,
  pods: readonly Pod[],
  family: string,
  zoneOf: (node: string) => string | undefined,
): ReadonlyMap<string, EndpointGroup> {
  const withoutPorts = isHeadless(service) && (service.spec?.ports ?? []).length === 0
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>()
  for (const pod of pods) {
    const ports = portsOf(service, pod)
    if (ports.length === 0 && !withoutPorts) continue
    const addresses = addressesOf(pod).filter((address) => address.includes(':') === (family === 'IPv6'))
    if (addresses.length === 0) continue
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    groups.set(key, group)
    group.endpoints.push(endpointOf(service, pod, addresses, zoneOf))
  }
  return groups
}

export const portsKey = (ports: readonly EndpointPort[]): string => JSON.stringify(ports)

function endpointOf(
  service: Service,
  pod: Pod,
  addresses: readonly string[],
  zoneOf: (node: string) => string | undefined,
): Endpoint {
  const serving = isReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const nodeName: string | undefined = pod.spec?.nodeName
  const zone = nodeName ? zoneOf(nodeName) : undefined
  const hostname = hostnameOf(service, pod)
  const hints = ready ? hintsOf(service, nodeName, zone) : undefined
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
    ...(hints === undefined ? {} : { hints }),
  }
}

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
function hintsOf(service: Service, node: string | undefined, zone: string | undefined) {
  const { trafficDistribution: wanted = '' } = service.spec ?? {}
  if (asksForZoneHints(service)) return undefined
  if (!['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(wanted)) return undefined
  const forNodes = wanted === 'PreferSameNode' && node ? [{ name: node }] : undefined
  if (!zone && forNodes === undefined) return undefined
  return { ...(zone ? { forZones: [{ name: zone }] } : {}), ...(forNodes === undefined ? {} : { forNodes }) }
}
