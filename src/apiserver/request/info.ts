/**
 * What a path names, by Kubernetes' RequestInfo rules. Pure: whether the resource exists is routing's business (handlers/route.ts).
 */

import { pathSegmentName } from '../../api/names/name-formats.ts'
import { type FieldTerm, parseFieldSelector } from '../../api/objects/field-selector.ts'
import { SelectorError } from '../../api/objects/label-selector.ts'
import type { RequestInfo } from '../../api/request.ts'
import { badRequest } from '../../api/status.ts'
import { setBounded } from '../../base/set-bounded.ts'
import { PLAIN_TEXT_HEADERS, plainTextError } from './plain-text-error.ts'
import { servedAnew } from './served.ts'
import type { Filter, ServerRequest } from './server-request.ts'

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** `?watch`, `?watch=1`: true unless it says false or 0. */
export function isQueryTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** What stands for bytes that are no UTF-8 is U+FFFD. @throws StatusError 400 */
function unescapedPath(path: string): string {
  if (!path.includes('%')) return path
  if (BROKEN_ESCAPE.test(path)) throw badRequest(`invalid URL escape in path ${JSON.stringify(path)}`)
  return path.replace(ESCAPED, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
}

const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/
const ESCAPED = /(?:%[0-9A-Fa-f]{2})+/g

/** The segments of a decoded path; leading and trailing slashes do not count, empty segments between do. */
export function segmentsOf(path: string): string[] {
  let start = 0
  let end = path.length
  while (start < end && path.charCodeAt(start) === 47) start++
  while (end > start && path.charCodeAt(end - 1) === 47) end--
  return start === end ? [] : path.slice(start, end).split('/')
}

/** `/api/v1/watch`: of what is to be watched or proxied nothing is named. */
export class UndeterminedPath extends Error {
  constructor() {
    super('unable to determine kind and namespace from url')
    this.name = 'UndeterminedPath'
  }
}

/** @param sent the path as it was sent. @throws StatusError 400 for one that cannot be decoded, UndeterminedPath */
export function requestInfoOf(method: string, sent: string, query: URLSearchParams): RequestInfo {
  const path = unescapedPath(sent)
  const segments = segmentsOf(path)
  const verb = VERBS[method] ?? ''
  const nonResource: RequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: '',
    version: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
  }
  if (segments.length < 3) return nonResource
  const [prefix] = segments
  let group = ''
  let at = 1
  if (prefix === 'apis') {
    if (segments.length < 4) return nonResource
    group = segments[1] as string
    at = 2
  } else if (prefix !== 'api') return nonResource
  const version = segments[at++] as string
  let parts = segments.slice(at)
  let actual = verb
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length < 2) throw new UndeterminedPath()
    actual = parts[0]
    parts = parts.slice(1)
  }
  let namespace = ''
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] as string
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] as string)) parts = parts.slice(2)
  }
  const resource = parts[0] ?? ''
  let name = parts[1] ?? ''
  const subresource = actual === 'proxy' ? '' : (parts[2] ?? '')
  if (name === '' && actual === 'get') {
    actual = isQueryTrue(query.get('watch')) ? 'watch' : 'list'
    name = nameOfSelector(query.get('fieldSelector'))
  } else if (name === '' && actual === 'delete') actual = 'deletecollection'
  return { isResource: true, verb: actual, path, group, version, resource, subresource, namespace, name }
}

/** A list or watch of one object by its name, whatever else it selects by, is authorized as that name. */
function nameOfSelector(selector: string | null): string {
  if (!selector?.includes('metadata.name')) return ''
  const name = termsOf(selector).find(({ field, negated }) => field === 'metadata.name' && !negated)?.value ?? ''
  return pathSegmentName(name).length === 0 ? name : ''
}

/** None of what cannot be read: the handler of the request refuses it. */
function termsOf(selector: string): readonly FieldTerm[] {
  try {
    return parseFieldSelector(selector)
  } catch (error) {
    if (error instanceof SelectorError) return []
    throw error
  }
}

/**
 * Clients ask for the same things again and again; what hangs on the info (route, series) is then found with it. Of a query
 * only `watch` and `fieldSelector` say anything of it.
 */
export const withRequestInfo: Filter = (next) => {
  const known = new Map<string, Map<string, RequestInfo>>()
  const infoOf = ({ method, path, query }: ServerRequest): RequestInfo => {
    if (path.length > LONGEST_KNOWN || !Object.hasOwn(VERBS, method) || (query.size > 0 && query.has('fieldSelector')))
      return requestInfoOf(method, path, query)
    const key = query.size > 0 && isQueryTrue(query.get('watch')) ? `${path}?watch` : path
    let paths = known.get(method)
    if (paths === undefined) {
      paths = new Map()
      known.set(method, paths)
    }
    let info = paths.get(key)
    if (info === undefined) {
      info = requestInfoOf(method, path, query)
      setBounded(paths, MOST_KNOWN, key, info)
    }
    return info
  }
  return (request) => {
    let info: RequestInfo
    try {
      info = infoOf(request)
    } catch (error) {
      if (!(error instanceof UndeterminedPath)) throw error
      const why = `failed to create RequestInfo: ${error.message}, ${request.target ?? request.path}`
      // Behind this filter no answer may be kept by a cache; of this one Kubernetes does not say so.
      return { ...plainTextError(request, why), headers: { ...PLAIN_TEXT_HEADERS, 'cache-control': [] } }
    }
    return next({ ...request, info, served: servedAnew() })
  }
}

/** Paths kept for each method that is one, and their characters: bounds for what a scanner can fill. */
const MOST_KNOWN = 2048
const LONGEST_KNOWN = 256

const MUTATING = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])

export const isMutating = ({ verb }: RequestInfo): boolean => MUTATING.has(verb)
