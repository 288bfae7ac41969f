/** Clients of servers that come and go (webhooks, aggregated APIs): those asked last are kept, with their connections. */
import { createHttpsClient, type HttpsClient, type HttpsEndpoint } from './client.ts'

export interface ClientPool {
  /** The same client for the same endpoint, as long as it is kept. */
  clientOf(endpoint: HttpsEndpoint): HttpsClient
  close(): void
}

export function createClientPool(most: number, create = createHttpsClient): ClientPool {
  /** In the order in which they were asked. */
  const clients = new Map<string, HttpsClient>()
  return {
    clientOf(endpoint) {
      const key = JSON.stringify(endpoint)
      const client = clients.get(key) ?? create(endpoint)
      clients.delete(key)
      clients.set(key, client)
      for (const [oldest, unused] of clients) {
        if (clients.size <= most) break
        clients.delete(oldest)
        unused.close()
      }
      return client
    },
    close() {
      for (const client of clients.values()) client.close()
      clients.clear()
    },
  }
}
