/** Where a Service leads (API concept: Services and EndpointSlices): asked for webhooks and aggregated APIs. */

import type { Endpoint, EndpointSlice, Node, Service, ServiceSpec } from '../api/generated/types.ts'
import { isSimulatedNode } from './nodes/kubelets.ts'
import type { CacheReads } from './reads.ts'

export type ServiceAddress =
  /** `host:port` of a ready endpoint, or of the external name. `simulated`: of a pod that has no network. */
  | { readonly kind: 'found'; readonly address: string; readonly simulated?: true }
  | { readonly kind: 'no service' | 'no port' | 'no slices' }
  | { readonly kind: 'no endpoints'; readonly portName: string }

/** By the port's number in the Service. What is missing is the caller's to put into words. */
export function serviceAddress(reads: CacheReads, namespace: string, name: string, port: number): ServiceAddress {
  const service = reads.get<Service>('', 'services', namespace, name)
  if (service === undefined) return { kind: 'no service' }
  const spec: ServiceSpec = service.spec ?? {}
  if (spec.type === 'ExternalName') return { kind: 'found', address: `${spec.externalName}:${port}` }
  const declared = (spec.ports ?? []).find((candidate) => candidate.port === port)
  if (declared === undefined) return { kind: 'no port' }
  const portName: string = declared.name ?? ''
  const slices = reads
    .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name)
  if (slices.length === 0) return { kind: 'no slices' }
  for (const slice of slices) {
    const target = (slice.ports ?? []).find((candidate) => (candidate.name ?? '') === portName)
    const ready = (slice.endpoints ?? []).find(
      (endpoint) => endpoint.conditions?.ready !== false && endpoint.addresses?.length > 0,
    )
    if (target?.port === undefined || ready === undefined) continue
    const address = ready.addresses[0] ?? ''
    return {
      kind: 'found',
      address: `${address.includes(':') ? `[${address}]` : address}:${target.port}`,
      ...(isSimulated(reads, ready) ? { simulated: true } : {}),
    }
  }
  return { kind: 'no endpoints', portName }
}

function isSimulated(reads: CacheReads, endpoint: Endpoint): boolean {
  if (endpoint.targetRef?.kind !== 'Pod' || endpoint.nodeName === undefined) return false
  return isSimulatedNode(reads.get<Node>('', 'nodes', '', endpoint.nodeName))
}
