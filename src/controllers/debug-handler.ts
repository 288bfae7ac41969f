/**
 * What the controller manager answers on its own loopback HTTPS port: health, metrics, and the garbage collector's graph as
 * DOT. `cluster` puts the http room's server before it. Who asks is found by TokenReview and allowed by SubjectAccessReview.
 */
import type { Fields, KubeObject } from '../api/object.ts'
import type { ApiRequest, ApiResponse, Handler, UserInfo } from '../api/request.ts'
import { StatusError, unauthorized } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import type { ControllerManager } from './manager.ts'

const tokenReviews = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' }
const accessReviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' }
const openPaths = new Set(['/healthz', '/livez', '/readyz'])
const graphPath = '/debug/controllers/garbagecollector/graph'

export interface DebugHandlerOptions {
  /** Speaks as system:kube-controller-manager. */
  readonly client: Client
  readonly manager: ControllerManager
  /** The user of a verified client certificate, when the server before it takes them. */
  readonly certificateUser?: (request: ApiRequest) => UserInfo | undefined
  /** Answers health in full; without it health is ok. undefined for what it does not know. */
  readonly health?: (request: ApiRequest) => Promise<ApiResponse | undefined>
  /** Pages for whom a role lets see them, by any method: metrics. */
  readonly pages?: (request: ApiRequest) => ApiResponse | undefined
}

/** Health needs no identity; all else needs the method as a verb on its path. */
export function createDebugHandler(options: DebugHandlerOptions): Handler {
  return async (request) => {
    if (openPaths.has(request.path)) return (await options.health?.(request)) ?? text('ok')
    await authorize(options, request)
    const page = options.pages?.(request)
    if (page !== undefined) return page
    if (request.method !== 'GET') throw new StatusError(405, 'MethodNotAllowed', 'only GET is answered here')
    if (request.path !== graphPath || options.manager.garbageCollector === undefined)
      throw new StatusError(404, 'NotFound', 'the server could not find the requested resource')
    const uids = request.query.getAll('uid')
    return text(options.manager.garbageCollector.dot(uids.length > 0 ? uids : undefined), 'text/vnd.graphviz')
  }
}

const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

async function authorize(options: DebugHandlerOptions, request: ApiRequest): Promise<void> {
  const user = options.certificateUser?.(request) ?? (await tokenUser(options.client, request)) ?? ANONYMOUS
  const review: KubeObject = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user: user.name,
      groups: user.groups,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      nonResourceAttributes: { path: request.path, verb: request.method.toLowerCase() },
    },
  }
  const answer = await options.client.resource(accessReviews).create(review)
  if (answer['status']?.allowed !== true)
    throw new StatusError(
      403,
      'Forbidden',
      `forbidden: User "${user.name}" cannot ${request.method.toLowerCase()} path "${request.path}"`,
    )
}

/** undefined when the request has no token. @throws 401 for one that is not believed */
async function tokenUser(client: Client, request: ApiRequest): Promise<UserInfo | undefined> {
  const [scheme, token] = (request.headers['authorization'] ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || !token) return undefined
  const review: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token },
  }
  const status: Fields = (await client.resource(tokenReviews).create(review))['status'] ?? {}
  if (status['authenticated'] !== true) throw unauthorized()
  const { username = '', uid, groups = [] } = status['user'] ?? {}
  return { name: username, groups, ...(uid ? { uid } : {}) }
}

function text(body: string, contentType = 'text/plain; charset=utf-8'): ApiResponse {
  return { kind: 'bytes', status: 200, contentType, bytes: [new TextEncoder().encode(body)] }
}
