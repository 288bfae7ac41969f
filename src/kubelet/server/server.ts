/**
 * A kubelet's own server (port 10250): the API server asks it for users; any other client must be allowed to by the API server.
 */
import type { Handler } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import { startPlainServer } from '../../http/plain-server.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import { countedServer } from '../metrics/server-metrics.ts'
import { type AccessRules, type AccessTimes, createAccess, subresourcesOf } from './access.ts'
import { keepListening } from './keep-listening.ts'
import { answerToAll } from './paths.ts'
import { Refused, textAnswer } from './refused.ts'
import { kubeletRoutes, type RoutesOptions } from './routes.ts'

/** PEM: its own certificate, without which no connection comes about, and the authority of its clients. */
export interface ServerTls {
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly clientCa: string
}

export interface KubeletServerOptions extends RoutesOptions {
  /** Default: kubelet's own. */
  readonly accessTimes?: AccessTimes
  /** Default: certificates and tokens, judged by the API server. */
  readonly accessRules?: AccessRules
  /** Where what it answers without them is served by plain HTTP to all; 0: nowhere, the default. */
  readonly readOnlyPort?: number
  readonly client: Client
  readonly host: string
  /** Default: the usual one. Where it is taken a free one is. */
  readonly port?: number
  readonly tls: ServerTls
}

export const KUBELET_PORT = 10250

/** Listens on its port, or on a free one where that is taken. */
export async function startKubeletServer(options: KubeletServerOptions): Promise<HttpServer> {
  const { runtime, host, tls } = options
  const handler = handlerOf(options)
  const listen = (port: number) =>
    startHttpServer(runtime, {
      handler,
      host,
      port,
      tls: { cert: tls.cert, key: tls.key, clientCas: [tls.clientCa] },
    })
  try {
    return await listen(options.port ?? KUBELET_PORT)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen(0)
  }
}

/**
 * Of --read-only-port: what a kubelet tells of itself and its pods, to whatever client asks. Gives what ends it. Has tried to listen; a port that is
 * taken is tried again until it is free, and the kubelet's other server does not hang on it.
 */
export async function serveReadOnly(
  options: RoutesOptions & Pick<KubeletServerOptions, 'host' | 'readOnlyPort'>,
): Promise<() => Promise<void>> {
  const { host, readOnlyPort: port = 0, runtime } = options
  if (port === 0) return async () => {}
  const handler = countedServer(runtime, 'readonly', kubeletRoutes({ ...options, debugging: false }))
  const stopping = new AbortController()
  const tried = Promise.withResolvers<void>()
  const listen = () => startPlainServer(runtime, { handler, host, port, maxBodyBytes: 0 }).finally(tried.resolve)
  const failure = 'Failed to start the read-only server'
  const listening = keepListening(runtime, failure, { host, port }, listen, stopping.signal)
  await tried.promise
  return async () => {
    stopping.abort()
    await (await listening)?.stop()
  }
}

export function handlerOf(options: KubeletServerOptions): Handler {
  const { runtime, client, nodeName } = options
  const access = createAccess(runtime.clock, client, nodeName, options.accessTimes, options.accessRules)
  const route = kubeletRoutes(options)
  return countedServer(runtime, 'readwrite', async (request) => {
    try {
      const unasked = answerToAll(request, options.debugging ?? true)
      if (unasked !== undefined) return unasked
      const user = await access.user(request)
      if (user === undefined) throw new Refused(401, 'Unauthorized')
      if ((await access.allowed(user, request)) === undefined) {
        const verb =
          request.method === 'GET' ? 'get' : request.method === 'POST' ? 'create' : request.method.toLowerCase()
        const subresources = subresourcesOf(request.path).join(' ')
        throw new Refused(
          403,
          `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])\n`,
        )
      }
    } catch (error) {
      if (error instanceof Refused) return textAnswer(error.status, error.message, undefined, error.headers)
      runtime.log.info(2, 'Kubelet server failed', { path: request.path, err: messageOf(error) })
      return textAnswer(500, messageOf(error))
    }
    return route(request)
  })
}
