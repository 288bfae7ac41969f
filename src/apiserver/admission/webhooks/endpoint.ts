/** Where a webhook answers: its URL, or one of the endpoints of its Service. */
import type { Fields } from '../../../api/object.ts'
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
  return { url, server: `https://${serviceAddress(reads, namespace, name, port)}`, path, serverName: host, ca }
}

/** host:port of a ready endpoint, by the service's port number. */
export function serviceAddress(reads: CacheReads, namespace: string, name: string, port: number): string {
  const service = reads.get('', 'services', namespace, name)
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
  const spec: Fields = service['spec'] ?? {}
  if (spec['type'] === 'ExternalName') return `${spec['externalName']}:${port}`
  const servicePort = ((spec['ports'] ?? []) as readonly Fields[]).find((candidate) => candidate['port'] === port)
  if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  const portName: string = servicePort['name'] ?? ''
  for (const slice of reads.list('discovery.k8s.io', 'endpointslices', namespace)) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== name) continue
    const target = ((slice['ports'] ?? []) as readonly Fields[]).find(
      (candidate) => (candidate['name'] ?? '') === portName,
    )
    const ready = ((slice['endpoints'] ?? []) as readonly Fields[]).find(
      ({ conditions }) => conditions?.ready !== false,
    )
    const address: string | undefined = ready?.['addresses']?.[0]
    if (target?.['port'] !== undefined && address !== undefined)
      return `${address.includes(':') ? `[${address}]` : address}:${target['port']}`
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
}
