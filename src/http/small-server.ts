/** A server of plain HTTP for health and metrics: short questions of machines nearby, each answered at once, from little. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createServer } from './node-http.ts'

/** Nothing but a request line and some headers is expected. */
const REQUEST_MS = 10_000
/** Of more the oldest is given up: a question is answered at once, so that the oldest is one that asks nothing. */
const MOST_CONNECTIONS = 100

export interface SmallServer {
  /** @throws the listen error as Node gives it */
  listen(host: string, port: number): Promise<void>
  close(): Promise<void>
}

/** Answers every request; `path` is without its query. */
export function smallServer(answer: (response: ServerResponse, path: string, query: string) => void): SmallServer {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    request.resume()
    const [path = '', ...query] = (request.url ?? '').split('?')
    answer(response, path, query.join('?'))
  })
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    const [oldest] = open
    if (open.size <= MOST_CONNECTIONS || oldest === undefined) return
    open.delete(oldest)
    oldest.destroy()
  })
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          // One that fails to take a connection says so in vain.
          server.on('error', () => {})
          resolve()
        })
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
