/**
 * Clients of servers that come and go (webhooks, aggregated APIs, kubelets, proxied pods): those asked last are kept, with their
 * connections. What a client that is no longer kept has under way goes on to its end.
 */
import { createHttpsClient, type HttpsClient, type HttpsEndpoint } from './client.ts'

export interface ClientPool {
  /** The same client for the same endpoint, as long as it is kept. */
  clientOf(endpoint: HttpsEndpoint): HttpsClient
  /** Cuts what is under way, of clients that are no longer kept too. */
  close(): void
}

export function createClientPool(most: number, create = createHttpsClient): ClientPool {
  /** In the order in which they were asked. */
  const clients = new Map<string, HttpsClient>()
  /** No longer kept, but in use when last looked at. */
  let retired: readonly HttpsClient[] = []

  function retireOldest(): void {
    for (const [key, client] of clients) {
      if (clients.size <= most) break
      clients.delete(key)
      client.retire()
      retired = [...retired, client].filter(({ inUse }) => inUse)
    }
  }

  return {
    clientOf(endpoint) {
      const key = JSON.stringify(endpoint)
      const client = clients.get(key) ?? create(endpoint)
      clients.delete(key)
      clients.set(key, client)
      retireOldest()
      return client
    },
    close() {
      for (const client of [...clients.values(), ...retired]) client.close()
      clients.clear()
      retired = []
    },
  }
}
