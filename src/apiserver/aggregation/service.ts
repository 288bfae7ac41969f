/**
 * aggregation: APIs that other servers serve (API concept: API aggregation layer). An APIService names a group version and the
 * Service behind it; requests for it are passed on, and its availability is looked after. Called by dispatch and discovery;
 * what a service reference means is also the webhooks' question.
 */
import type { CacheReads } from '../reads.ts'
import { serviceAddress } from '../service-address.ts'

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

export interface ResolvedService {
  /** `https://host:port` of a ready endpoint. */
  readonly server: string
  /** It is a simulated pod, where nothing listens. */
  readonly refused: boolean
}

/** @throws ServiceUnresolved */
export function resolveService(reads: CacheReads, { namespace, name, port }: ServiceReference): ResolvedService {
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const found = serviceAddress(reads, namespace, name, port)
  switch (found.kind) {
    case 'found':
      return { server: `https://${found.address}`, refused: found.simulated === true }
    case 'no service':
      throw new ServiceUnresolved('ServiceNotFound', `${where} is not present`)
    case 'no port':
      throw new ServiceUnresolved('ServicePortError', `${where} is not listening on port ${port}`)
    case 'no slices':
      throw new ServiceUnresolved('EndpointsNotFound', `cannot find endpointslices for ${where}`)
    case 'no endpoints':
      throw new ServiceUnresolved(
        'MissingEndpoints',
        `endpointslices for ${where} have no addresses with port name ${JSON.stringify(found.portName)}`,
      )
  }
}
