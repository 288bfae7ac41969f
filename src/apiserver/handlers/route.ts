/**
 * From a path to its handler: the resource and subresource that the scheme serves, and the method allowed there. What is
 * not served is 404, what is served but not that way 405, both in Kubernetes' words.
 */
import type { ApiRequest, ApiResponse, RequestInfo, ResourceVerb } from '../../api/request.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import { builtinGroups } from '../../api/scheme/scheme.ts'
import { noSuchResource, notAllowed } from '../../api/status.ts'
import type { VerbRouting } from '../registry/endpoint.ts'
import { segmentsOf } from '../request/info.ts'
import type { ServerContext } from './context.ts'

export interface Route {
  readonly row: ResourceRow
  readonly subresource: SubresourceRow | undefined
  /** What is done, as the resource's or subresource's verbs name it. */
  readonly action: ResourceVerb
}

/** A path that is not served: not even a Status. */
export const pageNotFound: ApiResponse = {
  kind: 'bytes',
  status: 404,
  headers: { 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from('404 page not found\n')],
}

const CONNECT = new Set(['proxy', 'exec', 'attach', 'portforward'])
const SESSION_METHODS = new Set(['GET', 'POST'])
const PROXY_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * @returns undefined when not even the group is known
 * @throws StatusError 404 or 405
 */
export function routeOf(
  { scheme, endpointOf }: Pick<ServerContext, 'scheme' | 'endpointOf'>,
  request: ApiRequest,
  info: RequestInfo,
): Route | undefined {
  if (!scheme.groups().has(info.group)) return undefined
  const parts = partsOf(info)
  const row = scheme.find(info.group, info.version, info.resource)
  if (row === undefined) {
    // A group that only custom resources have serves no other paths: the request is not found.
    if (info.group !== '' && !builtinGroups().some(({ name }) => name === info.group)) return undefined
    throw noSuchResource()
  }
  const { routing } = endpointOf(row)
  if (routing !== undefined) return routeByVerb(row, routing, info)
  const { watch, namespaced, segments } = parts
  const [, name, sub, ...behind] = segments
  // What stands behind a proxy is the proxied server's.
  if (segments.slice(0, 3).includes('')) throw noSuchResource()
  if (watch) return watchRoute(row, request, namespaced, name, sub)
  if (row.namespaced && !namespaced) {
    // Namespaced resources are only listed and watched across namespaces.
    if (name !== undefined || row.verbs.length === 0) throw noSuchResource()
    if (!row.verbs.includes('list')) throw noSuchResource()
    if (request.method !== 'GET') throw notAllowed()
    return { row, subresource: undefined, action: listOrWatch(row, info) }
  }
  if (!row.namespaced && namespaced) throw noSuchResource()
  if (sub === undefined) {
    const action = name === undefined ? collectionAction(row, request, info) : itemAction(row, request)
    return { row, subresource: undefined, action }
  }
  const subresource = row.subresources.find((candidate) => candidate.name === sub)
  if (subresource === undefined) throw noSuchResource()
  if (CONNECT.has(sub)) {
    if (behind.length > 0 && sub !== 'proxy') throw noSuchResource()
    if (!(sub === 'proxy' ? PROXY_METHODS : SESSION_METHODS).has(request.method)) throw notAllowed()
    return { row, subresource, action: 'connect' }
  }
  if (behind.length > 0) throw noSuchResource()
  const action = SUBRESOURCE_ACTIONS[request.method]
  if (action === undefined || !subresource.verbs.includes(action)) throw notAllowed()
  return { row, subresource, action }
}

/** Kubernetes gives all paths of a custom resource to one handler, which asks what the request's info says of them. */
function routeByVerb(row: ResourceRow, routing: VerbRouting, info: RequestInfo): Route | undefined {
  const { verb, namespace } = info
  const isRead = verb === 'list' || verb === 'watch'
  if (row.namespaced ? namespace === '' && !isRead : namespace !== '') return undefined
  const subresource = row.subresources.find(({ name }) => name === info.subresource)
  if (subresource === undefined && info.subresource !== '') throw routing.noSubresource(info.name)
  const action = (subresource ?? row).verbs.find((candidate) => candidate === verb)
  if (action === undefined) throw routing.notAllowed(verb)
  return { row, subresource, action: action as ResourceVerb }
}

const SUBRESOURCE_ACTIONS: Readonly<Record<string, ResourceVerb>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

function watchRoute(
  row: ResourceRow,
  request: ApiRequest,
  namespaced: boolean,
  name: string | undefined,
  sub: string | undefined,
): Route {
  if (!row.verbs.includes('watch') || sub !== undefined) throw noSuchResource()
  if (row.namespaced ? !namespaced && name !== undefined : namespaced) throw noSuchResource()
  if (request.method !== 'GET') throw notAllowed()
  return { row, subresource: undefined, action: 'watch' }
}

function listOrWatch(row: ResourceRow, info: RequestInfo): 'list' | 'watch' {
  if (info.verb !== 'watch') return 'list'
  if (!row.verbs.includes('watch')) throw notAllowed()
  return 'watch'
}

function collectionAction(row: ResourceRow, request: ApiRequest, info: RequestInfo): ResourceVerb {
  const { verbs } = row
  if (request.method === 'GET' && verbs.includes('list')) return listOrWatch(row, info)
  if (request.method === 'POST' && verbs.includes('create')) return 'create'
  if (request.method === 'DELETE' && verbs.includes('deletecollection')) return 'deletecollection'
  throw notAllowed()
}

function itemAction(row: ResourceRow, request: ApiRequest): ResourceVerb {
  const { verbs } = row
  if (!verbs.includes('get')) throw noSuchResource()
  const action = SUBRESOURCE_ACTIONS[request.method]
  if (action === undefined || action === 'create' || !verbs.includes(action)) throw notAllowed()
  return action
}

interface Parts {
  readonly watch: boolean
  readonly namespaced: boolean
  /** From the resource on. */
  readonly segments: readonly string[]
}

function partsOf(info: RequestInfo): Parts {
  const { path } = info
  let segments = segmentsOf(path).slice(info.group === '' && path.startsWith('/api/') ? 2 : 3)
  const watch = segments[0] === 'watch' && segments.length > 1
  if (watch) segments = segments.slice(1)
  const inNamespace = segments[0] === 'namespaces' && info.resource !== 'namespaces'
  return { watch, namespaced: inNamespace, segments: inNamespace ? segments.slice(2) : segments }
}
