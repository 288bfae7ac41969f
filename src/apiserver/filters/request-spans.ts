/**
 * The spans of a request, named and nested as kube-apiserver's: authentication, then the request itself, and in it each filter and the work on the
 * resource. What privileged users send as trace context is followed; for others a trace begins here.
 */
import type { ApiResponse, RequestInfo } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import { decodeHeader } from '../../http/header-text.ts'
import { type Filter, type ServerRequest, whenAnswered } from '../request/server-request.ts'
import {
  childContext,
  type FinishedSpan,
  remoteContext,
  rootContext,
  type SpanAttributes,
  type SpanContext,
  type SpanKind,
} from '../tracing/span.ts'

export interface RequestSpans {
  /** Around a filter: its span is that of all within it. */
  around(name: string, filter: Filter): Filter
  /** The request as a whole. */
  readonly request: Filter
  /** What is done with the resource. */
  readonly work: Filter
}

const FILTERS = 'k8s.op/apiserver/pkg/endpoints/filterlatency'
const REQUESTS = 'go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp'
const WORK = 'k8s.io/component-base/tracing'
/** Of those the trace context is believed. */
const TRUSTED = ['system:masters', 'system:monitoring']

/** `statusOf`: the code that an error is answered with. */
export function requestSpans(
  { machineClock: clock, random }: Pick<Runtime, 'machineClock' | 'random'>,
  perMillion: number,
  told: (span: FinishedSpan) => void,
  statusOf: (thrown: unknown, request: ServerRequest) => number,
): RequestSpans {
  interface Begun {
    readonly kind: SpanKind
    readonly scope: string
    readonly name: string
    readonly parent: SpanContext | undefined
    readonly context: SpanContext
    attributes(response: ApiResponse | undefined, status: number): SpanAttributes
  }

  /** Passes the request on within the span. */
  function within(begun: Begun, request: ServerRequest, next: Parameters<Filter>[0]) {
    const { served } = request
    if (served === undefined) return next(request)
    const before = served.span
    served.span = begun.context
    const start = clock.now()
    const finish = (response: ApiResponse | undefined, status: number) => {
      served.span = before
      const { kind, scope, name, parent, context } = begun
      if (!context.isSampled) return
      const end = () => {
        const attributes = begun.attributes(response, status)
        told({ kind, scope, name, parent, context, start, end: clock.now(), attributes, hasFailed: status >= 500 })
      }
      // A watch's lasts as long as the watch does.
      if (goesOn(response) && !request.signal.aborted) request.signal.addEventListener('abort', end, { once: true })
      else end()
    }
    return whenAnswered(
      next,
      request,
      (response) => {
        finish(response, response.status)
        return response
      },
      (error) => {
        finish(undefined, statusOf(error, request))
        throw error
      },
    )
  }

  const isTraced = ({ connection }: ServerRequest) => connection !== undefined

  return {
    around: (name, filter) => (next) => {
      const inner = filter(next)
      return (request) => {
        if (!isTraced(request)) return inner(request)
        const parent = request.served?.span
        const context = parent === undefined ? rootContext(random, perMillion) : childContext(random, parent)
        const begun: Begun = { kind: 'internal', scope: FILTERS, name, parent, context, attributes: () => ({}) }
        return within(begun, request, inner)
      }
    },
    request: (next) => (request) => {
      if (!isTraced(request)) return next(request)
      const { headers, user, served } = request
      const isTrusted = user?.groups.some((group) => TRUSTED.includes(group)) === true
      const parent = isTrusted
        ? (remoteContext(headers['traceparent'], headers['tracestate']) ?? served?.span)
        : undefined
      const context = parent === undefined ? rootContext(random, perMillion) : childContext(random, parent)
      const name = [request.method, ...routeOf(request)].join(' ')
      const attributes: Begun['attributes'] = (response, status) => requestAttributes(request, response, status)
      return within({ kind: 'server', scope: REQUESTS, name, parent, context, attributes }, request, next)
    },
    work: (next) => (request) => {
      const parent = request.served?.span
      const name = workOf(request.info)
      if (!isTraced(request) || parent === undefined || name === undefined) return next(request)
      const context = childContext(random, parent)
      const attributes = () => workAttributes(request)
      return within({ kind: 'internal', scope: WORK, name, parent, context, attributes }, request, next)
    },
  }
}

const goesOn = (response: ApiResponse | undefined): boolean =>
  response?.kind === 'watch' || response?.kind === 'stream' || response?.kind === 'upgrade'

/** `/api/v1/namespaces/{:namespace}/pods/{:name}/log`; of paths that are no resource's, nothing. */
function routeOf({ info }: ServerRequest): readonly string[] {
  if (info === undefined || !info.isResource) return []
  const { group, version, namespace, resource, name, subresource } = info
  return [
    [
      group === '' ? '/api' : `/apis/${group}`,
      version,
      ...(namespace === '' ? [] : ['namespaces/{:namespace}']),
      resource,
      ...(name === '' ? [] : ['{:name}']),
      ...(subresource === '' ? [] : [subresource]),
    ].join('/'),
  ]
}

function requestAttributes(
  { method, path, target, headers, connection, auditId, body }: ServerRequest,
  response: ApiResponse | undefined,
  status: number,
): SpanAttributes {
  const [, address = '', port = ''] =
    /^\[?(.*?)\]?(?::(\d+))?$/.exec(headers['host'] ?? headers[':authority'] ?? '') ?? []
  const size = response?.kind === 'bytes' ? response.bytes.reduce((sum, { length }) => sum + length, 0) : 0
  return {
    ...(address === '' ? {} : { 'server.address': address }),
    'http.request.method': method,
    'url.scheme': 'https',
    ...(port === '' ? {} : { 'server.port': Number(port) }),
    'network.peer.address': connection?.remoteAddress ?? '',
    'user_agent.original': decodeHeader(headers['user-agent'] ?? ''),
    'client.address': headers['x-forwarded-for']?.split(',')[0]?.trim() || (connection?.remoteAddress ?? ''),
    'url.path': path,
    'http.target': target ?? path,
    ...(auditId === undefined ? {} : { 'audit-id': auditId }),
    ...(body?.kind === 'bytes' && body.bytes.length > 0 ? { 'http.request.body.size': body.bytes.length } : {}),
    ...(size === 0 ? {} : { 'http.response.body.size': size }),
    'http.response.status_code': status,
  }
}

const WORKS: Readonly<Record<string, string>> = {
  get: 'Get',
  list: 'List',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
}

/** A watch has none. */
const workOf = (info: RequestInfo | undefined): string | undefined =>
  info?.isResource === true && Object.hasOwn(WORKS, info.verb) ? WORKS[info.verb] : undefined

function workAttributes({ method, target, path, headers, connection, auditId, info }: ServerRequest): SpanAttributes {
  const { group = '', version = '', name = '', subresource = '', namespace = '', resource = '', verb } = info ?? {}
  const isOfMany = verb === 'list' || verb === 'deletecollection'
  return {
    accept: headers['accept'] ?? '',
    ...(auditId === undefined ? {} : { 'audit-id': auditId }),
    client: connection?.remoteAddress ?? '',
    'api-group': group,
    'api-version': version,
    name,
    subresource,
    namespace,
    resource,
    scope: !isOfMany ? 'resource' : namespace === '' ? 'cluster' : 'namespace',
    url: target ?? path,
    'user-agent': decodeHeader(headers['user-agent'] ?? ''),
    verb: verb === 'list' ? 'LIST' : method,
  }
}
