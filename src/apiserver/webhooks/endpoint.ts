/** Where a webhook answers: its URL, or one of the endpoints of its Service. */
import type { Fields } from '../../api/object.ts'
import type { CacheReads } from '../admission/plugin.ts'
import { serviceAddress } from '../service-address.ts'

export interface WebhookEndpoint {
  /** `https://host:port` to connect to. */
  readonly server: string
  /** Path and query. */
  readonly path: string
  /** The name its certificate must have. */
  readonly serverName: string
  readonly ca: string | undefined
  /** A simulated pod is behind the Service. */
  readonly refused?: boolean
}

/** The URL that errors print. */
export function urlOf(config: Fields, timeoutSeconds: number): string {
  const service: Fields | undefined = config['service']
  const base = service
    ? `https://${service['name']}.${service['namespace']}.svc:${service['port'] ?? 443}/${String(service['path'] ?? '').replace(/^\//, '')}`
    : String(config['url'] ?? '')
  return `${base}${base.includes('?') ? '&' : '?'}timeout=${timeoutSeconds}s`
}

/** @throws Error in the words of the reference, without the URL */
export function endpointOf(clientConfig: Fields, timeoutSeconds: number, reads: CacheReads): WebhookEndpoint {
  const bundle: string | undefined = clientConfig['caBundle']
  const ca = bundle ? Buffer.from(bundle, 'base64').toString('latin1') : undefined
  const query = `timeout=${timeoutSeconds}s`
  const service: Fields | undefined = clientConfig['service']
  if (service === undefined) {
    const url = new URL(clientConfig['url'] ?? '')
    const path = url.pathname + (url.search === '' ? `?${query}` : `${url.search}&${query}`)
    return {
      server: `${url.protocol}//${url.host}`,
      path,
      serverName: url.hostname.replace(/^\[|\]$/g, ''),
      ca,
    }
  }
  const { namespace, name, port = 443, path: given = '' } = service
  const host = `${name}.${namespace}.svc`
  const path = `/${String(given).replace(/^\//, '')}?${query}`
  const { address, simulated = false } = addressOf(reads, namespace, name, port)
  return { server: `https://${address}`, path, serverName: host, ca, refused: simulated }
}

function addressOf(
  reads: CacheReads,
  namespace: string,
  name: string,
  port: number,
): { readonly address: string; readonly simulated?: true } {
  const found = serviceAddress(reads, namespace, name, port)
  switch (found.kind) {
    case 'found':
      return found
    case 'no service':
      throw new Error(`service ${JSON.stringify(name)} not found`)
    case 'no port':
      throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    default:
      throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
  }
}
