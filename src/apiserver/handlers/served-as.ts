/** As what a request is counted (API concept: system metrics): by what answers it, not by what its path says. */

import type { RequestInfo } from '../../api/request.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { ServedAs } from '../request/served.ts'
import type { Route } from './route.ts'
import { isCountedAsConnect } from './subresources/index.ts'

const SCOPED = new Set<Route['action']>(['list', 'watch', 'deletecollection'])
const VERBS: Readonly<Record<Route['action'], string>> = {
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

export function servedAs(route: Route, info: RequestInfo): ServedAs {
  const { row, subresource, action } = route
  return {
    component: 'apiserver',
    group: row.group,
    resource: row.resource,
    scope: !SCOPED.has(action) ? 'resource' : info.namespace === '' ? 'cluster' : 'namespace',
    subresource: subresource?.name ?? '',
    verb: isCountedAsConnect(route) ? 'CONNECT' : VERBS[action],
    version: row.version,
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])
const byMethod = new Map<string, ServedAs>()

/** Of the paths that name no resource, health and the documents of OpenAPI are counted. */
export function pathServedAs(method: string, path: string): ServedAs | undefined {
  const counted = COUNTED.get(path) ?? (path.startsWith('/openapi/v3/') ? 'openapi/v3/' : undefined)
  if (counted === undefined) return undefined
  const verb = METHODS.has(method) ? method : 'other'
  const key = `${verb} ${counted}`
  return getOrInsertComputed(byMethod, key, () => ({
    component: '',
    group: '',
    resource: '',
    scope: '',
    subresource: counted,
    verb,
    version: '',
  }))
}

const COUNTED = new Map([
  ['/healthz', '/healthz'],
  ['/livez', '/livez'],
  ['/readyz', '/readyz'],
  ['/openapi/v3', 'openapi/v3'],
])
