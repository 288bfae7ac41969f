/** The end of the filter chain: a request that may be served finds its handler. */
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import type { ResourceHandler, ResourceRequest, ServerContext } from './context.ts'
import { handleCreate } from './create.ts'
import { handleDelete } from './delete.ts'
import { handleDeleteCollection } from './deletecollection.ts'
import { deprecationWarning } from './deprecations.ts'
import { handleGet } from './get.ts'
import { handleList } from './list.ts'
import { handlePatch } from './patch.ts'
import { pageNotFound, type Route, routeOf } from './route.ts'
import { subresourceHandler } from './subresources/index.ts'
import { handleUpdate } from './update.ts'
import { handleWatch } from './watch.ts'

/** Answers paths that name no resource; undefined when the path is not its own. */
export type PathHandler = (request: ApiRequest) => ApiResponse | undefined | Promise<ApiResponse | undefined>

const HANDLERS: Readonly<Record<string, ResourceHandler>> = {
  get: async (resource) => handleGet(resource),
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
}

export function createDispatch(context: ServerContext, paths: readonly PathHandler[]): Handler {
  return async (request) => {
    const { info, user } = request
    if (info === undefined || user === undefined) throw internalError('the request has not passed the filters')
    request.trace?.step('authentication and authorization')
    const forwarded = context.forward?.(request)
    if (forwarded !== undefined) return forwarded
    // A resource's path never needs them: discovery's own are shorter.
    if (!info.isResource)
      for (const path of paths) {
        const answer = await path(request)
        if (answer !== undefined) return answer
      }
    if (!info.isResource) return pageNotFound
    const route = routeOf(context.scheme, request, info)
    if (route === undefined) return pageNotFound
    const warnings: string[] = []
    const resource: ResourceRequest = {
      context,
      request,
      info:
        info.namespace !== '' && !route.row.namespaced && info.resource !== 'namespaces'
          ? { ...info, namespace: '' }
          : info,
      user,
      row: route.row,
      subresource: route.subresource,
      warnings,
    }
    const deprecated = deprecationWarning(route.row)
    if (deprecated !== undefined) warnings.push(deprecated)
    try {
      return await handlerOf(context, route)(resource)
    } catch (error) {
      if (error instanceof StatusError && warnings.length > 0) error.warnings = [...warnings]
      throw error
    }
  }
}

function handlerOf(context: ServerContext, route: Route): ResourceHandler {
  const own = subresourceHandler(context, route)
  if (own !== undefined) return own
  const handler = HANDLERS[route.action]
  if (handler === undefined) throw internalError(`no handler for ${route.action}`)
  return handler
}
