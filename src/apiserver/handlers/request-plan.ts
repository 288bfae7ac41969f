/**
 * What a resource's endpoint knows of the requests for each of its actions: the handler that answers them, and what they are
 * counted as. Found out at the first request, in one way for built-in kinds and for those of definitions.
 */

import type { ResourceVerb } from '../../api/request.ts'
import type { SubresourceRow } from '../../api/scheme/resource.ts'
import { internalError } from '../../api/status.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { type RequestLabels, requestSeries } from '../request/request-series.ts'
import type { RequestEndpoint, RequestPlan, ResourceHandler } from './context.ts'
import { handleCreate } from './create.ts'
import { handleDelete } from './delete.ts'
import { handleDeleteCollection } from './deletecollection.ts'
import { handleGet } from './get.ts'
import { handleList } from './list.ts'
import { handlePatch } from './patch.ts'
import type { Route } from './route.ts'
import { isCountedAsConnect, subresourceHandler } from './subresources/index.ts'
import { handleUpdate } from './update.ts'
import { handleWatch } from './watch.ts'

const HANDLERS: Readonly<Partial<Record<ResourceVerb, ResourceHandler>>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
}

const VERBS: Readonly<Record<ResourceVerb, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
  connect: 'CONNECT',
}

/** Actions of many objects, of all namespaces or of one. */
const SCOPED: ReadonlySet<ResourceVerb> = new Set(['list', 'watch', 'deletecollection'])

/** The plans of one row. */
export function createRequestPlans(): RequestEndpoint['planOf'] {
  const bySubresource = new Map<SubresourceRow | undefined, Map<string, RequestPlan>>()
  return (route, { namespace }) => {
    const { subresource, action } = route
    const scope = !SCOPED.has(action) ? 'resource' : namespace === '' ? 'cluster' : 'namespace'
    const plans = getOrInsertComputed(bySubresource, subresource, () => new Map())
    return getOrInsertComputed(plans, `${action} ${scope}`, () => planOf(route, scope))
  }
}

function planOf(route: Route, scope: string): RequestPlan {
  const { row, subresource, action } = route
  const labels: RequestLabels = {
    component: 'apiserver',
    group: row.group,
    resource: row.resource,
    scope,
    subresource: subresource?.name ?? '',
    verb: isCountedAsConnect(route) ? 'CONNECT' : VERBS[action],
    version: row.version,
  }
  const handler = subresourceHandler(route) ?? HANDLERS[action]
  if (handler === undefined) throw internalError(`no handler for ${action}`)
  const applied = action === 'patch' ? { ...labels, verb: 'APPLY' } : labels
  return { subresource, handler, series: requestSeries(labels), appliedSeries: requestSeries(applied) }
}
