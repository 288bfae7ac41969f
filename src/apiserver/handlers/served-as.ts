/** As what a request is counted (API concept: system metrics): by what answers it, not by what its path says. */

import type { RequestInfo } from '../../api/request.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { ServedAs } from '../request/served.ts'
import type { Route } from './route.ts'

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

export function servedAs({ row, subresource, action }: Route, info: RequestInfo): ServedAs {
  const isSession = action === 'connect' || (row.resource === 'pods' && subresource?.name === 'log')
  return {
    component: 'apiserver',
    group: row.group,
    resource: row.resource,
    scope: !SCOPED.has(action) ? 'resource' : info.namespace === '' ? 'cluster' : 'namespace',
    subresource: subresource?.name ?? '',
    verb: isSession ? 'CONNECT' : VERBS[action],
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
