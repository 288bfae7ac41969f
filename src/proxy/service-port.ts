/**
 * One port of one Service as the proxy sees it, for addresses of one family: where it is asked for, by which rules, and what answers. Nothing unsound
 * passes.
 */
import type { EndpointSlice, Service } from '../api/generated/types.ts'
import { type IPFamily, otherFamily } from '../api/values/ip.ts'
import { addressOf, firstOf, rangeOf, withPort } from './families.ts'
import { affinitySeconds } from './session-affinity.ts'

export type Protocol = 'tcp' | 'udp' | 'sctp'

export interface ServedPort {
  /** `namespace/name:port name`: unique in the cluster. */
  readonly key: string
  readonly protocol: Protocol
  readonly port: number
  readonly clusterIP: string
  readonly nodePort: number | undefined
  readonly externalIPs: readonly string[]
  readonly loadBalancerIPs: readonly string[]
  /** Undefined: from everywhere. */
  readonly sourceRanges: readonly string[] | undefined
  /** Seconds that a client stays with its endpoint. */
  readonly affinity: number | undefined
  readonly internalLocal: boolean
  readonly externalLocal: boolean
  readonly endpoints: readonly ServedEndpoint[]
}

export interface ServedEndpoint {
  readonly address: string
  readonly port: number
  readonly ready: boolean
  readonly serving: boolean
  readonly terminating: boolean
  readonly nodeName: string | undefined
  readonly forZones: readonly string[]
  readonly forNodes: readonly string[]
}

const NOT_OURS = 'service.kubernetes.io/service-proxy-name'
const HEADLESS = 'service.kubernetes.io/headless'
export const SERVICE_NAME = 'kubernetes.io/service-name'

/** None of a Service that has no address of its own of that family, or another proxy. `slices`: its own. */
export function servicePorts(
  service: Service,
  slices: readonly EndpointSlice[],
  family: IPFamily,
): readonly ServedPort[] {
  const { metadata, spec = {}, status } = service
  const { type = 'ClusterIP' } = spec
  const clusterIP = firstOf(spec.clusterIPs ?? [spec.clusterIP ?? ''], family)
  const own = (texts: readonly string[]) => texts.flatMap((text) => addressOf(text, family) ?? [])
  const labels = metadata.labels ?? {}
  if (type === 'ExternalName' || clusterIP === undefined) return []
  if (labels[NOT_OURS] !== undefined || labels[HEADLESS] !== undefined) return []
  const isBalanced = type === 'LoadBalancer'
  const isExposed = isBalanced || type === 'NodePort'
  const ingress = isBalanced ? (status?.loadBalancer?.ingress ?? []) : []
  const ranges = isBalanced ? (spec.loadBalancerSourceRanges ?? []) : []
  const shared = {
    clusterIP,
    externalIPs: own(spec.externalIPs ?? []),
    // With ipMode Proxy the balancer leads to the nodes itself, and must not be passed by.
    loadBalancerIPs: own(ingress.flatMap(({ ip = '', ipMode }) => (ipMode === 'Proxy' ? [] : [ip]))),
    sourceRanges: sourceRanges(
      ranges.map((range) => range.trim()),
      family,
    ),
    affinity: affinitySeconds(spec),
    internalLocal: spec.internalTrafficPolicy === 'Local',
    externalLocal: spec.externalTrafficPolicy === 'Local',
  }
  return (spec.ports ?? []).flatMap(({ name = '', port, protocol: said = 'TCP', nodePort = 0 }) => {
    const protocol = protocolOf(said)
    if (protocol === undefined || !isPort(port)) return []
    return {
      ...shared,
      key: `${metadata.namespace}/${metadata.name}:${name}`,
      protocol,
      port,
      nodePort: isExposed && isPort(nodePort) ? nodePort : undefined,
      endpoints: endpointsOf(slices, name, said, family),
    }
  })
}

/** Undefined where no range is of this family and some are of the other: those hold for the other alone. */
function sourceRanges(ranges: readonly string[], family: IPFamily): readonly string[] | undefined {
  const of = (one: IPFamily) => ranges.flatMap((range) => rangeOf(range, one) ?? [])
  const own = of(family)
  return ranges.length === 0 || (own.length === 0 && of(otherFamily(family)).length > 0) ? undefined : own
}

/** Each address and port once, in an order that does not depend on the slices'. */
function endpointsOf(
  slices: readonly EndpointSlice[],
  name: string,
  protocol: string,
  family: IPFamily,
): readonly ServedEndpoint[] {
  const found = new Map<string, ServedEndpoint>()
  for (const { addressType, ports, endpoints } of slices) {
    if (addressType !== family) continue
    for (const { port = 0 } of (ports ?? []).filter((one) => (one.name ?? '') === name && of(one) === protocol)) {
      if (!isPort(port)) continue
      for (const { addresses, conditions = {}, nodeName, hints } of endpoints ?? []) {
        const address = addressOf(addresses[0] ?? '', family)
        if (address === undefined) continue
        const ready = conditions.ready !== false
        const key = withPort(address, port)
        // While an endpoint moves from one slice to another it may stand in both.
        if (found.get(key)?.ready === true) continue
        found.set(key, {
          address,
          port,
          ready,
          serving: conditions.serving ?? ready,
          terminating: conditions.terminating === true,
          nodeName,
          forZones: (hints?.forZones ?? []).map((zone) => zone.name),
          forNodes: (hints?.forNodes ?? []).map((node) => node.name),
        })
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint)
}

const of = ({ protocol = 'TCP' }: { readonly protocol?: string }) => protocol

function protocolOf(said: string): Protocol | undefined {
  switch (said) {
    case 'TCP':
      return 'tcp'
    case 'UDP':
      return 'udp'
    case 'SCTP':
      return 'sctp'
    default:
      return undefined
  }
}

const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536
