/**
 * Clients of servers that come and go (webhooks, aggregated APIs, kubelets, proxied pods): those asked last are kept, with their
 * connections. What a client that is no longer kept has under way goes on to its end.
 */
import { createLruMap } from '../base/lru.ts'
import { createHttpsClient, type HttpsClient, type HttpsEndpoint } from './client.ts'

export interface ClientPool {
  /** The same client for the same endpoint, as long as it is kept. */
  clientOf(endpoint: HttpsEndpoint): HttpsClient
  /** Cuts what is under way, of clients that are no longer kept too. */
  close(): void
}

export function createClientPool(most: number, create = createHttpsClient): ClientPool {
  const clients = createLruMap<string, HttpsClient>(most, (client) => {
    client.retire()
    retired = [...retired, client].filter(({ inUse }) => inUse)
  })
  /** No longer kept, but in use when last looked at. */
  let retired: readonly HttpsClient[] = []

  return {
    clientOf(endpoint) {
      const key = JSON.stringify(endpoint)
      let client = clients.get(key)
      if (client === undefined) {
        client = create(endpoint)
        clients.set(key, client)
      }
      return client
    },
    close() {
      for (const client of [...clients.values(), ...retired]) client.close()
      clients.clear()
      retired = []
    },
  }
}
