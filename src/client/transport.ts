/**
 * How requests reach an API server: straight into a Handler of this process (no serialization), or over HTTPS
 * (https-transport.ts). The holder of a Client does not know which one it is.
 */
import type { ApiRequest, ApiResponse, Handler, UserInfo } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { encodeJson } from '../api/values/json.ts'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import { inTurns } from '../base/turns.ts'
import type { Client } from './client.ts'
import { discover, discoveryTag } from './discovery.ts'
import { type ClientRequestMetrics, clientRequestMetrics } from './request-metrics.ts'
import { createResourceClient } from './resource-client.ts'
import { statusOf, wholeText } from './response.ts'

export interface Transport {
  /**
   * Rejects with a StatusError, or with the transport's own error when no answer came. `beforeItBegins` is called when a connection is
   * there and nothing was sent yet; what it throws is what the request fails with.
   */
  send(request: ApiRequest, beforeItBegins?: () => void): Promise<ApiResponse>
  /** Answers carry the server's own objects. */
  readonly inProcess: boolean
  /** `host:port` of the server; of one in this process there is none. */
  readonly host?: string
}

export interface ClientIdentity {
  readonly userAgent: string
  /** The user, for the in-process transport; HTTPS tells it by certificate or token. */
  readonly user?: UserInfo
}

export interface RequestParts {
  readonly method: string
  readonly path: string
  readonly query?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: NonNullable<ApiRequest['body']>
  readonly signal?: AbortSignal
}

/** What resource clients and discovery send through. */
export interface Requester {
  readonly inProcess: boolean
  request(parts: RequestParts): Promise<ApiResponse>
  /** What `act` makes of each item; others have their turn in between. */
  inTurns<T, R>(items: readonly T[], act: (item: T) => R): Promise<R[]>
}

/** Requests go into `handler` as they are: its filters see the component's own identity. */
export function inProcessTransport(handler: Handler): Transport {
  return { inProcess: true, send: (request) => handler(request) }
}

/** Service accounts of the control plane, as on a real cluster: each controller speaks as its own. */
export function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

const noQuery = new URLSearchParams()
const never = new AbortController().signal

/**
 * A client that speaks through `transport` as `identity`.
 *
 * In-process, every request and every answer is a hand-over of the scheduler, so a simulation can let other components
 * run between asking, doing and knowing.
 */
export function createClient(runtime: Runtime, transport: Transport, identity: ClientIdentity): Client {
  return createClients(runtime, transport)(identity)
}

/** The same for many callers: what counts their requests is one for all of them. */
export function createClients(runtime: Runtime, transport: Transport): (identity: ClientIdentity) => Client {
  const metrics = clientRequestMetrics(runtime, transport.host ?? 'in-process')
  return (identity) => clientOf(runtime, transport, identity, metrics)
}

function clientOf(
  runtime: Runtime,
  transport: Transport,
  identity: ClientIdentity,
  metrics: ClientRequestMetrics,
): Client {
  const baseHeaders = { 'user-agent': identity.userAgent }
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    const began = metrics.now()
    try {
      const response = await transport.send(request)
      metrics.ended(request.method, response.status, began)
      return response
    } catch (error) {
      metrics.ended(request.method, error instanceof StatusError ? error.code : undefined, began)
      throw error
    }
  }
  const requester: Requester = {
    inProcess: transport.inProcess,
    inTurns: (items, act) => inTurns(runtime, 'answer', items, act),
    async request(parts) {
      const request: ApiRequest = {
        method: parts.method,
        path: parts.path,
        query: parts.query ?? noQuery,
        headers: parts.headers === undefined ? baseHeaders : { ...baseHeaders, ...parts.headers },
        signal: parts.signal ?? never,
        ...(parts.body === undefined ? {} : { body: parts.body }),
        ...(transport.inProcess && identity.user !== undefined ? { user: identity.user } : {}),
      }
      if (!transport.inProcess) return send(request)
      await turn(runtime.scheduler, 'request')
      try {
        return await send(request)
      } finally {
        await turn(runtime.scheduler, 'answer')
      }
    },
  }
  return {
    inProcess: transport.inProcess,
    resource: (gvr) => createResourceClient(requester, gvr, ''),
    discover: (groups) => discover(requester, groups),
    discoveryTag: (last) => discoveryTag(requester, last),
    async raw(method, path, body) {
      const at = path.indexOf('?')
      try {
        const response = await requester.request({
          method,
          path: at < 0 ? path : path.slice(0, at),
          query: new URLSearchParams(at < 0 ? '' : path.slice(at + 1)),
          ...(body === undefined
            ? {}
            : {
                body: {
                  kind: 'bytes' as const,
                  bytes: encodeJson(body),
                  contentType: 'application/json',
                },
              }),
        })
        return { status: response.status, body: await wholeText(response) }
      } catch (error) {
        const status = statusOf(error)
        if (status === undefined) throw error
        return { status: status.code, body: JSON.stringify(status.toStatus()) }
      }
    },
  }
}
