/** /metrics and /metrics/slis, for users that a role lets read them (API concept: system metrics). */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../base/metrics.ts'

/** A DELETE begins the counts anew; any other method reads. `pages` are metrics by path. Answers no other path. */
export function createMetricsPages(
  clock: Clock,
  pages: Readonly<Record<string, Metrics | undefined>>,
): (request: ApiRequest) => ApiResponse | undefined {
  const byPath = new Map(Object.entries(pages))
  const started = String(Math.floor(clock.now() / 1000))
  return ({ method, path }) => {
    const metrics = byPath.get(path)
    if (metrics === undefined) return undefined
    if (method === 'DELETE') {
      metrics.reset()
      return page('text/plain; charset=utf-8', 'metrics reset\n')
    }
    const type = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'
    return { ...page(type, metrics.text()), headers: { 'process-start-time-unix': started } }
  }
}

const page = (contentType: string, text: string): Extract<ApiResponse, { kind: 'bytes' }> => ({
  kind: 'bytes',
  status: 200,
  contentType,
  bytes: [Buffer.from(text)],
})
