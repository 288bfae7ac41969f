/**
 * The time series that requests are counted in (API concept: system metrics). A resource's endpoint holds those of its actions;
 * the filter that counts (filters/metrics.ts) fills them in.
 */

import type { Counted, Observed } from '../../base/metrics.ts'

/** The labels of kube-apiserver's request metrics. */
export interface RequestLabels {
  readonly component: string
  readonly group: string
  readonly resource: string
  readonly scope: string
  readonly subresource: string
  readonly verb: string
  readonly version: string
}

/** What a label may say of it, however many ways there are to ask: all of a label's values are kept. */
export type DryRunLabel = '' | 'All' | 'invalid'

/** Each number is there once something was told of it: what is not observed has no series. */
export interface RequestSeries {
  readonly labels: RequestLabels
  readonly dryRun: DryRunLabel
  byCode?: Map<number, Counted>
  duration?: Observed
  ownDuration?: Observed
  size?: Observed
  body?: Observed
  /** Of the same requests where nothing is to be kept. */
  dryRuns?: Map<DryRunLabel, RequestSeries>
}

export const requestSeries = (labels: RequestLabels, dryRun: DryRunLabel = ''): RequestSeries => ({ labels, dryRun })

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])
const COUNTED_PATHS = new Map([
  ['/healthz', '/healthz'],
  ['/livez', '/livez'],
  ['/readyz', '/readyz'],
  ['/openapi/v3', 'openapi/v3'],
])

/** Of the paths that name no resource, health and the documents of OpenAPI are counted. */
export function labelsOfPath(method: string, path: string): RequestLabels | undefined {
  const subresource = COUNTED_PATHS.get(path) ?? (path.startsWith('/openapi/v3/') ? 'openapi/v3/' : undefined)
  if (subresource === undefined) return undefined
  const verb = METHODS.has(method) ? method : 'other'
  return { component: '', group: '', resource: '', scope: '', subresource, verb, version: '' }
}
