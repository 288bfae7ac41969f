/** A pod as an endpoint of a service. */
import type { Endpoint, Pod, Service } from '../../api/generated/types.ts'
import { addressesOf, type EndpointPort, hostnameOf, portsOf } from '../endpoints/service-pods-and-ports.ts'
import { isReady } from '../pods/pod.ts'
import { trafficDistributionHints } from './traffic-distribution.ts'

export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** The service's endpoints of one address family, by the ports they have (JSON of the ports as the key); one may have none of them. */
export function endpointsByPorts(
  service: Service,
  pods: readonly Pod[],
  family: string,
  zoneOf: (node: string) => string | undefined,
): ReadonlyMap<string, EndpointGroup> {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>()
  for (const pod of pods) {
    const ports = portsOf(service, pod)
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
  const hints = ready ? trafficDistributionHints(service, nodeName, zone) : undefined
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
