/**
 * Counts requests, by what answered them and how they ended, under the names kube-apiserver uses. What answers is known when the
 * request comes back, and with it the series in which it is counted (request/request-series.ts): what nothing answers, what is
 * turned away before, and the paths of discovery are not counted, as there.
 */

import type { ApiResponse } from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Metrics } from '../../base/metrics.ts'
import { DURATION_BUCKETS } from '../duration-buckets.ts'
import { isMutating } from '../request/info.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type DryRunLabel, type RequestLabels, type RequestSeries, requestSeries } from '../request/request-series.ts'
import { type Filter, type ServerRequest, whenAnswered } from '../request/server-request.ts'
import { statusCodeOf } from './errors.ts'

const LABELS = ['component', 'dry_run', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']
const PLAIN_LABELS = LABELS.filter((label) => label !== 'dry_run')
/** Seconds: those of kube-apiserver. */
const SLI_DURATIONS = DURATION_BUCKETS.slice(2)
/** Bytes. */
const RESPONSE_SIZES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const BODY_SIZES = Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000)

const plainLabels = ({
  component,
  group,
  resource,
  scope,
  subresource,
  verb,
  version,
}: RequestLabels): readonly string[] => [component, group, resource, scope, subresource, verb, version]
const labelsOf = ({ labels, dryRun }: RequestSeries): readonly string[] => {
  const [component = '', ...others] = plainLabels(labels)
  return [component, dryRun, ...others]
}
/** The time without what webhooks took is told of all but watches and dry runs. */
const hasOwnDuration = ({ labels, dryRun }: RequestSeries): boolean => labels.verb !== 'WATCH' && dryRun === ''
/** Of writes, as what their body is told: undefined of what is none. */
function bodyVerbOf({ component, verb, scope }: RequestLabels): string | undefined {
  const written = component === '' ? undefined : BODY_VERBS[verb]
  return written === 'delete' && scope !== 'resource' ? 'delete_collection' : written
}

const READ = new Set(['GET', 'LIST'])
const BODY_VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  APPLY: 'patch',
  DELETE: 'delete',
}

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
    DURATION_BUCKETS,
  )
  const ownDurations = metrics.histogram(
    'apiserver_request_sli_duration_seconds',
    'Time to answer without that of webhooks, in seconds, by verb, resource, scope and component.',
    PLAIN_LABELS,
    SLI_DURATIONS,
  )
  const sizes = metrics.histogram(
    'apiserver_response_sizes',
    'Bytes of answers to reads, before compression, by verb, resource, scope and component.',
    PLAIN_LABELS,
    RESPONSE_SIZES,
  )
  const bodies = metrics.histogram(
    'apiserver_request_body_size_bytes',
    'Bytes of the bodies of writes, by resource and verb.',
    ['group', 'resource', 'verb'],
    BODY_SIZES,
  )
  const inFlight = metrics.gauge('apiserver_current_inflight_requests', 'Requests being worked on.', ['request_kind'])
  const [mutating, readOnly] = [inFlight.child('mutating'), inFlight.child('readOnly')]
  const longRunning = metrics.gauge('apiserver_longrunning_requests', 'Watches and other long requests.', PLAIN_LABELS)
  const count = (series: RequestSeries, code: number) => {
    series.byCode ??= new Map()
    const counter = getOrInsertComputed(series.byCode, code, () => total.child(String(code), ...labelsOf(series)))
    counter.add()
  }
  const observeDurations = (series: RequestSeries, ms: number, webhookMs: number, isLong: boolean) => {
    if (!isLong) {
      series.duration ??= durations.child(...labelsOf(series))
      series.duration.observe(ms / 1000)
    }
    if (!hasOwnDuration(series)) return
    series.ownDuration ??= ownDurations.child(...plainLabels(series.labels))
    series.ownDuration.observe((ms - webhookMs) / 1000)
  }
  const observeSizes = (series: RequestSeries, { body }: ServerRequest, response: ApiResponse | undefined) => {
    const { labels } = series
    const written = bodyVerbOf(labels)
    if (written !== undefined) {
      series.body ??= bodies.child(labels.group, labels.resource, written)
      series.body.observe(body?.kind === 'bytes' ? body.bytes.length : 0)
    }
    if (response === undefined || !READ.has(labels.verb)) return
    series.size ??= sizes.child(...plainLabels(labels))
    series.size.observe(sizeOf(response))
  }
  return (next) => (request) => {
    const { info } = request
    if (info === undefined) return next(request)
    const isLong = isLongRunning(info)
    const current = isLong ? undefined : isMutating(info) ? mutating : readOnly
    const start = clock.monotonic()
    current?.add(1)
    const ended = (code: number, response?: ApiResponse) => {
      current?.add(-1)
      const usual = request.served?.series
      if (usual === undefined) return
      const series = ofDryRun(usual, dryRunOf(request.query))
      count(series, code)
      if (response !== undefined && goesOn(response)) {
        running(request.signal, series)
        return
      }
      observeDurations(series, clock.monotonic() - start, request.served?.webhookMs ?? 0, isLong)
      // Components of this process send and get objects, which have no size.
      if (request.connection !== undefined) observeSizes(series, request, response)
    }
    return whenAnswered(
      next,
      request,
      (response) => {
        ended(response.status, response)
        return response
      },
      (error) => {
        ended(statusCodeOf(error, request))
        throw error
      },
    )
  }

  function running(signal: AbortSignal, { labels }: RequestSeries): void {
    if (signal.aborted) return
    const gauge = longRunning.child(...plainLabels(labels))
    gauge.add(1)
    signal.addEventListener('abort', () => gauge.add(-1), { once: true })
  }
}

/** Dry runs are counted apart. */
function ofDryRun(usual: RequestSeries, dryRun: DryRunLabel): RequestSeries {
  if (dryRun === '') return usual
  usual.dryRuns ??= new Map()
  return getOrInsertComputed(usual.dryRuns, dryRun, () => requestSeries(usual.labels, dryRun))
}

function dryRunOf(query: URLSearchParams): DryRunLabel {
  if (query.size === 0) return ''
  const asked = query.getAll('dryRun')
  if (asked.length === 0) return ''
  return asked.every((one) => one === 'All') ? 'All' : 'invalid'
}

const goesOn = ({ kind }: ApiResponse): boolean => kind === 'watch' || kind === 'stream' || kind === 'upgrade'

/** Estimated, since a list's items are encoded only when they are sent, slice by slice. */
function sizeOf(response: ApiResponse): number {
  let size = 0
  if (response.kind === 'bytes') for (const piece of response.bytes) size += piece.length
  else if (response.kind === 'pieces') size = response.size
  else if (response.kind === 'list') for (const item of response.items) size += item.size ?? item.json('item').length
  return size
}
