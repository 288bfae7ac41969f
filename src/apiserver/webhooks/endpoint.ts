/** Where a webhook answers: its URL, or one of the endpoints of its Service. */

import type {
  AdmissionregistrationV1WebhookClientConfig,
  ApiextensionsV1WebhookClientConfig,
} from '../../api/generated/types.ts'
import type { CacheReads } from '../reads.ts'
import { serviceAddress } from '../service-address.ts'

/** How a configuration of admission, or a definition's conversion, names a webhook. */
export type ClientConfig = AdmissionregistrationV1WebhookClientConfig | ApiextensionsV1WebhookClientConfig

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
export function urlOf({ url: given = '', service }: ClientConfig, timeoutSeconds: number): string {
  const query = `?timeout=${timeoutSeconds}s`
  if (service === undefined) {
    const url = new URL(given)
    return `${url.protocol}//${hostOf(given)}${requestPath(url.pathname)}${query}`
  }
  const { namespace, name, port = 443, path = '' } = service
  return `https://${name}.${namespace}.svc:${port}${requestPath(path)}${query}`
}

/** As it is written: a URL that is taken apart loses the port that its protocol has anyway. */
const hostOf = (url: string): string => /^[a-z]+:\/\/([^/]*)/i.exec(url)?.[1] ?? ''

/**
 * The path that a webhook is asked at: Kubernetes' client joins the parts of the path that it is given, so that empty ones, `.`
 * and `..` go, and a slash at the end too; it is then escaped anew.
 */
function requestPath(given: string): string {
  const parts: string[] = []
  for (const part of unescaped(given).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${encodeURIComponent(parts.join('/'))
    .replace(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, (sign) => decodeURIComponent(sign))
    .replace(/[!*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`
}

/** What cannot be unescaped stands for itself. */
function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** @throws Error in the words of the reference, without the URL */
export function webhookEndpoint(
  { url: text = '', service, caBundle }: ClientConfig,
  timeoutSeconds: number,
  reads: CacheReads,
): WebhookEndpoint {
  const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('latin1') : undefined
  const query = `timeout=${timeoutSeconds}s`
  if (service === undefined) {
    const url = new URL(text)
    return {
      server: `${url.protocol}//${url.host}`,
      path: `${requestPath(url.pathname)}?${query}`,
      serverName: url.hostname.replace(/^\[|\]$/g, ''),
      ca,
    }
  }
  const { namespace, name, port = 443, path: given = '' } = service
  const host = `${name}.${namespace}.svc`
  const path = `${requestPath(given)}?${query}`
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
