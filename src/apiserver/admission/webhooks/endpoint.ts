/** Where a webhook answers: its URL, or one of the endpoints of its Service. */
import type { Fields } from '../../../api/object.ts'
import { serviceAddress } from '../../service-address.ts'
import type { CacheReads } from '../plugin.ts'

export interface WebhookEndpoint {
  /** As errors print it. */
  readonly url: string
  /** `https://host:port` to connect to. */
  readonly server: string
  /** Path and query. */
  readonly path: string
  /** The name its certificate must have. */
  readonly serverName: string
  readonly ca: string | undefined
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
      url: `${url.protocol}//${url.host}${path}`,
      server: `${url.protocol}//${url.host}`,
      path,
      serverName: url.hostname.replace(/^\[|\]$/g, ''),
      ca,
    }
  }
  const { namespace, name, port = 443, path: given = '' } = service
  const host = `${name}.${namespace}.svc`
  const path = `/${String(given).replace(/^\//, '')}?${query}`
  const url = `https://${host}:${port}${path}`
  return { url, server: `https://${addressOf(reads, namespace, name, port)}`, path, serverName: host, ca }
}

function addressOf(reads: CacheReads, namespace: string, name: string, port: number): string {
  const found = serviceAddress(reads, namespace, name, port)
  switch (found.kind) {
    case 'found':
      return found.address
    case 'no service':
      throw new Error(`service ${JSON.stringify(name)} not found`)
    case 'no port':
      throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    default:
      throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
  }
}
