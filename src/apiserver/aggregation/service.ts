/**
 * aggregation: APIs that other servers serve (API concept: API aggregation layer). An APIService names a group version and the
 * Service behind it; requests for it are passed on, and its availability is looked after. Called by dispatch and discovery;
 * what a service reference means is also the webhooks' question.
 */
import type { Fields } from '../../api/object.ts'
import type { CacheReads } from '../admission/plugin.ts'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** Why a Service leads nowhere; `reason` and message are those of an APIService's Available condition. */
export class ServiceUnresolved extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** `https://host:port` of a ready endpoint. @throws ServiceUnresolved */
export function resolveService(reads: CacheReads, { namespace, name, port }: ServiceReference): string {
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const service = reads.get('', 'services', namespace, name)
  if (service === undefined) throw new ServiceUnresolved('ServiceNotFound', `${where} is not present`)
  const spec: Fields = service['spec'] ?? {}
  if (spec['type'] === 'ExternalName') return `https://${spec['externalName']}:${port}`
  const declared = ((spec['ports'] ?? []) as readonly Fields[]).find((candidate) => candidate['port'] === port)
  if (declared === undefined)
    throw new ServiceUnresolved('ServicePortError', `${where} is not listening on port ${port}`)
  const slices = reads
    .list('discovery.k8s.io', 'endpointslices', namespace)
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name)
  if (slices.length === 0) throw new ServiceUnresolved('EndpointsNotFound', `cannot find endpointslices for ${where}`)
  for (const slice of slices) {
    const target = ((slice['ports'] ?? []) as readonly Fields[]).find(
      (candidate) => (candidate['name'] ?? '') === (declared['name'] ?? ''),
    )
    const ready = ((slice['endpoints'] ?? []) as readonly Fields[]).find(
      (endpoint) => endpoint['conditions']?.ready !== false && endpoint['addresses']?.length > 0,
    )
    if (target?.['port'] === undefined || ready === undefined) continue
    const address: string = ready['addresses'][0]
    return `https://${address.includes(':') ? `[${address}]` : address}:${target['port']}`
  }
  throw new ServiceUnresolved(
    'MissingEndpoints',
    `endpointslices for ${where} have no addresses with port name ${JSON.stringify(declared['name'] ?? '')}`,
  )
}
