/**
 * Faults on purpose (docs/faults.md): stands behind authorization, so that what is struck would have been done, and what is not
 * allowed is refused as always. What was struck is in the audit log, as an annotation of the request. Controls of the cluster and
 * paths that name no resource are never struck, nor are logs, sessions and proxies.
 */
import type { ApiResponse } from '../../api/request.ts'
import { conflict, StatusError, tooManyRequests } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { clientName, type FaultRule, type RefusalCode } from '../faults/grammar.ts'
import { createFaultyWatches } from '../faults/watch.ts'
import type { AskedRequest, FaultInjection } from '../faults/which-requests-are-struck.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { Filter, ServerHandler, ServerRequest } from '../request/server-request.ts'
import { TOO_MANY_REQUESTS } from './priority-and-fairness.ts'

/** Of the audit event: what struck the request, or its watch. */
const ANNOTATION = 'skiff.dev/fault'

/** Components of a cluster that run in processes of their own, by the names that they and their counterparts give themselves. */
const COMPONENTS: ReadonlySet<string> = new Set([
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kubelet',
  'skiff',
])

export function faultInjection(runtime: Runtime, faults: FaultInjection): Filter {
  const watches = createFaultyWatches(runtime, faults)
  return (next) => (request) => {
    const { info } = request
    if (info?.isResource !== true) return next(request)
    if (info.verb === 'watch') return watched(request, next)
    if (faults.isQuiet || isLongRunning(info)) return next(request)
    const struck = faults.strike('requests', askedOf(request))
    return struck === undefined ? next(request) : done(struck, request, next)
  }

  /** Whatever is asked for now: an open watch meets faults that come later. */
  function watched(request: ServerRequest, next: ServerHandler): ApiResponse | Promise<ApiResponse> {
    const asked = askedOf(request)
    const struck = faults.isQuiet ? undefined : faults.strike('requests', asked)
    if (struck !== undefined) return done(struck, request, next)
    const wrapped = (response: ApiResponse): ApiResponse =>
      response.kind === 'watch'
        ? {
            ...response,
            events: watches.around(response.events, asked, versionOf(request), (rule) => annotate(request, rule)),
          }
        : response
    const answer = next(request)
    return answer instanceof Promise ? answer.then(wrapped) : wrapped(answer)
  }
}

function askedOf(request: ServerRequest): AskedRequest {
  const { headers, connection, info } = request
  const userAgent = headers['user-agent'] ?? ''
  const isOwn = connection === undefined || COMPONENTS.has(clientName(userAgent))
  return { info: info as NonNullable<typeof info>, userAgent, isOwn }
}

const versionOf = ({ query }: ServerRequest): number => Number(query.get('resourceVersion')) || 0

function annotate({ served }: ServerRequest, { text }: FaultRule): void {
  if (served?.audit === undefined) return
  const { annotations } = served.audit
  const before = annotations[ANNOTATION]
  if (before === undefined) annotations[ANNOTATION] = text
  else if (!before.split('; ').includes(text)) annotations[ANNOTATION] = `${before}; ${text}`
}

function done(rule: FaultRule, request: ServerRequest, next: ServerHandler): ApiResponse | Promise<ApiResponse> {
  annotate(request, rule)
  const { action } = rule
  switch (action.type) {
    case 'refuse':
      return refused(action.code, request)
    case 'cut': {
      if (action.when === 'before') return { kind: 'cut', status: 0 }
      const lose = (lost: ApiResponse): ApiResponse => ({ kind: 'cut', status: lost.status, lost })
      const answer = next(request)
      return answer instanceof Promise ? answer.then(lose) : lose(answer)
    }
    case 'stale':
      if (request.served !== undefined) request.served.staleBy = action.writes
      return next(request)
    default:
      throw new Error(`${rule.text} does not strike requests`)
  }
}

/** What a server answers that is overtaken, overloaded, or whose store does not answer. @throws StatusError */
function refused(code: RefusalCode, { info, connection }: ServerRequest): ApiResponse {
  switch (code) {
    case '409': {
      const { group = '', resource = '', name = '' } = info ?? {}
      throw conflict({ group, resource }, name, OVERTAKEN)
    }
    case '429':
      if (connection === undefined) throw tooManyRequests('Too many requests, please try again later.', 1)
      return TOO_MANY_REQUESTS
    case '500':
      throw new StatusError(500, '', 'etcdserver: request timed out')
  }
}

const OVERTAKEN = 'the object has been modified; please apply your changes to the latest version and try again'
