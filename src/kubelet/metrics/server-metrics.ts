/** What a kubelet's server counts of its requests. */
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import { SECONDS } from '../work-metrics.ts'

/** Sessions, and profiles. */
const LONG = new Set(['exec', 'attach', 'portForward', 'debug'])
/** The first part of a path is told of; of metrics the second too; of what is not the kubelet's nothing. */
const OWN = ['attach', 'checkpoint', 'configz', 'containerLogs', 'debug', 'exec', 'flagz', 'healthz', 'logs', 'metrics']
const ALL = new Set([...OWN, 'pods', 'portForward', 'run', 'runningpods', 'stats', 'statusz'])
const SESSIONS: Readonly<Record<string, string>> = { exec: 'exec', attach: 'attach', portForward: 'portforward' }

function told(path: string): string {
  const [first = '', second] = path.slice(1).split('/')
  if (!ALL.has(first)) return 'other'
  const page = first === 'metrics' && second !== undefined && second !== '' ? `metrics/${second}` : first
  return page.startsWith('metrics/') && !METRICS.has(page) ? 'other' : page
}

/** Requests are counted before they are authenticated: a method that HTTP does not know makes no series of its own. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])

const METRICS = new Set(['metrics/cadvisor', 'metrics/probes', 'metrics/resource', 'metrics/slis'])

export function countedServer(
  { clock, metrics }: Runtime,
  server: 'readwrite' | 'readonly',
  handler: Handler,
): Handler {
  if (metrics === undefined) return handler
  const labels = ['long_running', 'method', 'path', 'server_type']
  const total = metrics.counter('kubelet_http_requests_total', 'Requests of the server, by path and method.', labels)
  const under = metrics.gauge('kubelet_http_inflight_requests', 'Requests that are not answered yet.', labels)
  const name = 'kubelet_http_requests_duration_seconds'
  const took = metrics.histogram(name, 'Seconds until requests were answered.', labels, SECONDS)
  const streams = metrics.counter('kubelet_websocket_streaming_requests_total', 'Sessions over WebSockets.', [
    'subresource',
  ])
  return async (request: ApiRequest): Promise<ApiResponse> => {
    const path = told(request.path)
    const method = METHODS.has(request.method) ? request.method : 'other'
    const values = [String(LONG.has(path)), method, path, server]
    const session = SESSIONS[path]
    if (session !== undefined && String(request.headers['upgrade'] ?? '').toLowerCase() === 'websocket')
      streams.child(session).add()
    total.child(...values).add()
    under.child(...values).add(1)
    const began = clock.monotonic()
    try {
      return await handler(request)
    } finally {
      under.child(...values).add(-1)
      took.child(...values).observe((clock.monotonic() - began) / 1000)
    }
  }
}
