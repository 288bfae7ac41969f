/** /metrics, for those whom a role lets read it (API concept: system metrics). */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Metrics } from '../../base/metrics.ts'

/** undefined when the path is another. */
export function metricsResponse(request: ApiRequest, metrics: Metrics): ApiResponse | undefined {
  if (request.path !== '/metrics') return undefined
  return {
    kind: 'bytes',
    status: 200,
    contentType: 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    bytes: [Buffer.from(metrics.text())],
  }
}
