/**
 * Servers of the cluster's own that are never called, in a cluster that opens no connection outward (a twin): what is known of them is
 * whether they could be reached. One that leads nowhere fails, in the words of a call; any other is taken to agree to all there is.
 */
import type { CacheReads } from '../reads.ts'
import { type ClientConfig, urlOf, webhookEndpoint } from './endpoint.ts'

/** Of a cluster that opens no connection to anything that its objects name. */
export interface Isolation {
  /** Whether it is known where Services of that namespace lead: whether all that says so was read. */
  knowsServices(namespace: string): boolean
}

/** @throws Error in the words of a call that fails, where the Service is known to lead nowhere */
export function requireReachable(
  { knowsServices }: Isolation,
  reads: CacheReads,
  clientConfig: ClientConfig,
  timeoutSeconds: number,
): void {
  const { service } = clientConfig
  if (service === undefined || !knowsServices(service.namespace)) return
  try {
    webhookEndpoint(clientConfig, timeoutSeconds, reads)
  } catch (error) {
    const why = (error as Error).message
    throw new Error(`Post ${JSON.stringify(urlOf(clientConfig, timeoutSeconds))}: ${why}`, { cause: error })
  }
}
