/** The end of the filter chain: a request that may be served finds its handler. */

import type { ApiResponse, RequestInfo } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { labelsOfPath, type RequestSeries, requestSeries } from '../request/request-series.ts'
import type { ServerHandler, ServerRequest } from '../request/server-request.ts'
import type { RequestEndpoint, RequestPlan, ResourceRequest, ServerContext } from './context.ts'
import { pageNotFound, routeOf } from './route.ts'

/** Answers paths that name no resource; undefined when the path is not its own. */
export type PathHandler = (request: ServerRequest) => ApiResponse | undefined | Promise<ApiResponse | undefined>

export function createDispatch(context: ServerContext, paths: readonly PathHandler[]): ServerHandler {
  const seriesOfPaths = new Map<string, RequestSeries>()
  const foundBefore = new WeakMap<RequestInfo, Found>()
  const deprecated = context.runtime.metrics?.gauge(
    'apiserver_requested_deprecated_apis',
    'Deprecated APIs that were asked for: 1.',
    ['group', 'removed_release', 'resource', 'subresource', 'version'],
  )

  /** undefined when not even the group is known. @throws StatusError 404, 405 */
  function find(request: ServerRequest, info: RequestInfo): Found | undefined {
    const generation = context.scheme.groups().get(info.group)?.generation
    if (generation === undefined) return undefined
    const known = foundBefore.get(info)
    if (known?.generation === generation) return known
    const route = routeOf(context, request, info)
    if (route === undefined) return undefined
    const { row } = route
    const isPlaced = info.namespace !== '' && !row.namespaced && !row.isOwnNamespace
    const endpoint = context.endpointOf(row)
    const found: Found = {
      generation,
      endpoint,
      plan: endpoint.planOf(route, info),
      info: isPlaced ? { ...info, namespace: '' } : info,
    }
    foundBefore.set(info, found)
    return found
  }

  async function answerPath(request: ServerRequest): Promise<ApiResponse> {
    const labels = labelsOfPath(request.method, request.path)
    if (labels !== undefined && request.served !== undefined) {
      const key = `${labels.verb} ${labels.subresource}`
      request.served.series = getOrInsertComputed(seriesOfPaths, key, () => requestSeries(labels))
    }
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
    // Kubernetes' routes begin with one slash and then a group, however a path is read for authorization.
    if (info.path.startsWith('//') || info.path.startsWith('/apis//')) return pageNotFound
    // A resource's path never needs them: discovery's own are shorter.
    if (!info.isResource) return answerPath(info.path === request.path ? request : { ...request, path: info.path })
    const found = find(request, info)
    if (found === undefined) return pageNotFound
    const { endpoint, plan } = found
    const { subresource } = plan
    if (request.served !== undefined) request.served.series = isApply(request) ? plan.appliedSeries : plan.series
    const warnings: string[] = []
    if (endpoint.deprecated !== undefined) {
      warnings.push(endpoint.deprecated)
      const { group, resource, version } = endpoint.row
      deprecated?.child(group, '', resource, subresource?.name ?? '', version).set(1)
    }
    const resource: ResourceRequest = { context, request, info: found.info, user, endpoint, subresource, warnings }
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

/** What a request's path leads to, while the rows of its group stay as they are. */
interface Found {
  /** Of the group. */
  readonly generation: number
  readonly endpoint: RequestEndpoint
  readonly plan: RequestPlan
  /** Without the namespace that a cluster-scoped resource was asked for in. */
  readonly info: RequestInfo
}

const isApply = ({ method, body }: ServerRequest): boolean =>
  method === 'PATCH' && body?.contentType?.startsWith('application/apply-patch') === true
