/** Counts requests, by what they were about and how they ended, under the names kube-apiserver uses. Outermost of the filters. */
import {
  type ApiRequest,
  type ApiResponse,
  type EagerHandler,
  type Filter,
  type RequestInfo,
  whenAnswered,
} from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import type { Counted, Metrics, Observed } from '../../base/metrics.ts'
import { isLongRunning } from './limits.ts'

const LABELS = ['component', 'dry_run', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']
/** Seconds: those of kube-apiserver. */
const DURATIONS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

interface Series {
  readonly duration: Observed
  readonly byCode: Map<number, Counted>
  readonly labels: readonly string[]
}

const MUTATING = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])
const known = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'connect',
  'proxy',
])
const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' }

export function requestMetrics(clock: Clock, metrics: Metrics): Filter {
  const total = metrics.counter(
    'apiserver_request_total',
    'Requests by verb, dry run, resource, scope, component and HTTP code.',
    ['code', ...LABELS],
  )
  const durations = metrics.histogram(
    'apiserver_request_duration_seconds',
    'Time to answer, in seconds, by verb, dry run, resource, scope and component.',
    LABELS,
    DURATIONS,
  )
  const inFlight = metrics.gauge('apiserver_current_inflight_requests', 'Requests being worked on.', ['request_kind'])
  const [mutating, readOnly] = [inFlight.child('mutating'), inFlight.child('readOnly')]
  const longRunning = metrics.gauge('apiserver_longrunning_requests', 'Watches and other long requests.', [
    'component',
    ...LABELS.slice(2),
  ])
  const seriesByKey = new Map<string, Series>()

  /** Requests for the same thing share their info. */
  const seriesByInfo = new WeakMap<RequestInfo, Series>()

  const seriesOf = (request: ApiRequest, info: RequestInfo): Series => {
    if (request.query.size > 0) return namedSeries(request, info)
    let series = seriesByInfo.get(info)
    if (series === undefined) {
      series = namedSeries(request, info)
      seriesByInfo.set(info, series)
    }
    return series
  }
  const namedSeries = (request: ApiRequest, info: RequestInfo): Series => {
    const dryRun = request.query.size > 0 ? (request.query.get('dryRun') ?? '') : ''
    const verb = known.has(info.verb) ? (METHODS[info.verb] ?? info.verb.toUpperCase()) : info.verb.toUpperCase()
    const scope = scopeOf(info)
    const key = `${verb} ${info.group}/${info.version}/${info.resource}/${info.subresource} ${scope} ${dryRun}`
    let series = seriesByKey.get(key)
    if (series === undefined) {
      // Paths are not labels: a scanner would fill the memory with them.
      const labels = ['apiserver', dryRun, info.group, info.resource, scope, info.subresource, verb, info.version]
      series = { duration: durations.child(...labels), byCode: new Map(), labels }
      if (seriesByKey.size < MAX_SERIES) seriesByKey.set(key, series)
    }
    return series
  }
  const count = (series: Series, code: number) => {
    let counter = series.byCode.get(code)
    if (counter === undefined) {
      counter = total.child(String(code), ...series.labels)
      series.byCode.set(code, counter)
    }
    counter.add()
  }
  return (next) => (request) => {
    const { info } = request
    if (info === undefined) return next(request)
    const series = seriesOf(request, info)
    if (isLongRunning(info)) return longRunningCounted(next, request, series)
    const current = MUTATING.has(info.verb) ? mutating : readOnly
    const start = clock.monotonic()
    current.add(1)
    const ended = (code: number) => {
      count(series, code)
      current.add(-1)
      series.duration.observe((clock.monotonic() - start) / 1000)
    }
    return whenAnswered(
      next,
      request,
      (response) => {
        ended(response.status)
        return response
      },
      (error) => {
        ended(codeOf(error))
        throw error
      },
    )
  }

  /** What is refused, or is answered after all, is counted like any other request; what goes on runs until its signal says so. */
  function longRunningCounted(
    next: EagerHandler,
    request: ApiRequest,
    series: Series,
  ): ApiResponse | Promise<ApiResponse> {
    return whenAnswered(
      next,
      request,
      (response) => {
        count(series, response.status)
        if (goesOn(response)) running(request.signal, series)
        return response
      },
      (error) => {
        count(series, codeOf(error))
        throw error
      },
    )
  }

  function running(signal: AbortSignal, { labels }: Series): void {
    if (signal.aborted) return
    const [component = '', , ...rest] = labels
    const gauge = longRunning.child(component, ...rest)
    gauge.add(1)
    signal.addEventListener('abort', () => gauge.add(-1), { once: true })
  }
}

const codeOf = (error: unknown): number => (error as { code?: number }).code ?? 500
const goesOn = ({ kind }: ApiResponse): boolean => kind === 'watch' || kind === 'stream' || kind === 'upgrade'

/** More than all resources, verbs and scopes make: beyond it somebody is making names up. */
const MAX_SERIES = 20_000

function scopeOf(info: RequestInfo): string {
  if (!info.isResource) return ''
  if (info.name !== '') return 'resource'
  return info.namespace === '' ? 'cluster' : 'namespace'
}
