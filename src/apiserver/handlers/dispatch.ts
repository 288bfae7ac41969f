/** The end of the filter chain: a request that may be served finds its handler. */

import type { ApiResponse, RequestInfo } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import type { ResourceEndpoint } from '../registry/endpoint.ts'
import type { ServedAs } from '../request/served.ts'
import type { ServerHandler, ServerRequest } from '../request/server-request.ts'
import type { ResourceHandler, ResourceRequest, ServerContext } from './context.ts'
import { handleCreate } from './create.ts'
import { handleDelete } from './delete.ts'
import { handleDeleteCollection } from './deletecollection.ts'
import { handleGet } from './get.ts'
import { handleList } from './list.ts'
import { handlePatch } from './patch.ts'
import { pageNotFound, type Route, routeOf } from './route.ts'
import { pathServedAs, servedAs } from './served-as.ts'
import { subresourceHandler } from './subresources/index.ts'
import { handleUpdate } from './update.ts'
import { handleWatch } from './watch.ts'

/** Answers paths that name no resource; undefined when the path is not its own. */
export type PathHandler = (request: ServerRequest) => ApiResponse | undefined | Promise<ApiResponse | undefined>

const HANDLERS: Readonly<Record<string, ResourceHandler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
}

export function createDispatch(context: ServerContext, paths: readonly PathHandler[]): ServerHandler {
  const plans = new WeakMap<RequestInfo, Plan>()

  /** undefined when not even the group is known. @throws StatusError 404, 405 */
  function planOf(request: ServerRequest, info: RequestInfo): Plan | undefined {
    const generation = context.scheme.groups().get(info.group)?.generation
    if (generation === undefined) return undefined
    const known = plans.get(info)
    if (known?.generation === generation) return known
    const route = routeOf(context, request, info)
    if (route === undefined) return undefined
    const { row } = route
    const isPlaced = info.namespace !== '' && !row.namespaced && !row.isOwnNamespace
    const endpoint = context.endpointOf(row)
    const as = servedAs(route, info)
    const plan: Plan = {
      generation,
      route,
      endpoint,
      servedAs: as,
      appliedAs: { ...as, verb: 'APPLY' },
      handler: handlerOf(route),
      info: isPlaced ? { ...info, namespace: '' } : info,
      deprecated: endpoint.deprecated,
    }
    plans.set(info, plan)
    return plan
  }

  async function answerPath(request: ServerRequest): Promise<ApiResponse> {
    const as = pathServedAs(request.method, request.path)
    if (as !== undefined && request.served !== undefined) request.served.as = as
    for (const path of paths) {
      const answer = await path(request)
      if (answer !== undefined) return answer
    }
    return pageNotFound
  }

  return (request) => {
    const { info, user } = request
    if (info === undefined || user === undefined) throw internalError('the request has not passed the filters')
    request.served?.trace?.step('authentication and authorization')
    const forwarded = context.forward?.(request)
    if (forwarded !== undefined) return forwarded
    // Kubernetes' routes begin with one slash, however a path is read for authorization.
    if (request.path.startsWith('//')) return pageNotFound
    // A resource's path never needs them: discovery's own are shorter.
    if (!info.isResource) return answerPath(request)
    const plan = planOf(request, info)
    if (plan === undefined) return pageNotFound
    const { endpoint } = plan
    const { subresource } = plan.route
    if (request.served !== undefined) request.served.as = isApply(request) ? plan.appliedAs : plan.servedAs
    const warnings: string[] = plan.deprecated === undefined ? [] : [plan.deprecated]
    const resource: ResourceRequest = { context, request, info: plan.info, user, endpoint, subresource, warnings }
    const failed = (error: unknown): never => {
      if (error instanceof StatusError && warnings.length > 0) error.warnings = [...warnings]
      throw error
    }
    try {
      const answer = plan.handler(resource)
      return answer instanceof Promise ? answer.catch(failed) : answer
    } catch (error) {
      return failed(error)
    }
  }
}

/** All that follows from what a request is about, while the rows of its group stay as they are. */
interface Plan {
  /** Of the group. */
  readonly generation: number
  readonly route: Route
  readonly endpoint: ResourceEndpoint
  readonly servedAs: ServedAs
  readonly appliedAs: ServedAs
  readonly handler: ResourceHandler
  /** Without the namespace that a cluster-scoped resource was asked for in. */
  readonly info: RequestInfo
  readonly deprecated: string | undefined
}

const isApply = ({ method, body }: ServerRequest): boolean =>
  method === 'PATCH' && body?.contentType?.startsWith('application/apply-patch') === true

function handlerOf(route: Route): ResourceHandler {
  const own = subresourceHandler(route)
  if (own !== undefined) return own
  const handler = HANDLERS[route.action]
  if (handler === undefined) throw internalError(`no handler for ${route.action}`)
  return handler
}
