/**
 * /healthz, /livez and /readyz (API concept: health endpoints), whole or by check: `?verbose` names every check,
 * `?exclude=NAME` leaves one out, /readyz/NAME asks one alone.
 */

import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { messageOf } from '../base/errors.ts'
import { createMetrics, type Metrics } from '../base/metrics.ts'

export interface HealthCheck {
  readonly name: string
  /** Throws, or rejects, with what is wrong. */
  check(): void | Promise<void>
  /** Endpoints it counts for; default all three. */
  readonly endpoints?: readonly ('healthz' | 'livez' | 'readyz')[]
}

type BytesResponse = Extract<ApiResponse, { readonly kind: 'bytes' }>
type Endpoint = 'healthz' | 'livez' | 'readyz'

const text = (status: number, body: string, headers = {}): BytesResponse => ({
  kind: 'bytes',
  status,
  headers,
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(body)],
})
const NOSNIFF = { 'x-content-type-options': 'nosniff' }

export interface HealthPages {
  /** undefined when the path is none of these, no check counts for it, or it names a check that there is not. */
  answer(request: Pick<ApiRequest, 'path' | 'query'>): Promise<BytesResponse | undefined>
  /** How each check came out when an endpoint was last asked, and how often so: what /metrics/slis tells (KEP-3466). */
  readonly metrics: Metrics
}

/** Whether a path is one of these endpoints, or may be one of their checks. */
export const isHealth = (path: string): boolean => /^\/(healthz|livez|readyz)(\/|$)/.test(path)

/** `checks` may grow. */
export function createHealth(checks: readonly HealthCheck[]): HealthPages {
  const metrics = createMetrics()
  const last = metrics.gauge('kubernetes_healthcheck', 'Whether a health check came out well.', ['name', 'type'])
  const total = metrics.counter('kubernetes_healthchecks_total', 'Health checks by how they came out.', [
    'name',
    'status',
    'type',
  ])
  async function counted(check: HealthCheck, endpoint: Endpoint): Promise<string | undefined> {
    const { name } = check
    const problem = await outcome(check)
    last.child(name, endpoint).set(problem === undefined ? 1 : 0)
    total.child(name, problem === undefined ? 'success' : 'error', endpoint).add()
    return problem
  }

  async function answer(request: Pick<ApiRequest, 'path' | 'query'>): Promise<BytesResponse | undefined> {
    const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(request.path)
    if (match === null) return undefined
    const endpoint = match[1] as Endpoint
    const asked = checks.filter((check) => check.endpoints === undefined || check.endpoints.includes(endpoint))
    if (asked.length === 0 && checks.length > 0) return undefined
    if (match[2] !== undefined) {
      const one = asked.find((check) => check.name === match[2])
      if (one === undefined) return undefined
      const problem = await outcome(one)
      return problem === undefined ? text(200, 'ok') : text(500, `internal server error: ${problem}\n`, NOSNIFF)
    }
    const excluded = new Set(request.query.getAll('exclude'))
    const lines: string[] = []
    let failed = false
    for (const check of asked) {
      if (excluded.delete(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`)
        continue
      }
      const problem = await counted(check, endpoint)
      failed ||= problem !== undefined
      // The reason is told only by the path of the check itself, which needs a right of its own.
      lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
    }
    if (excluded.size > 0) lines.push(notExcluded([...excluded].sort()))
    if (failed) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`, NOSNIFF)
    return text(200, request.query.has('verbose') ? `${lines.join('\n')}\n${endpoint} check passed\n` : 'ok', NOSNIFF)
  }
  return { answer, metrics }
}

/** What is wrong, if anything is. */
async function outcome({ check }: HealthCheck): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const notExcluded = (names: readonly string[]): string =>
  `warn: some health checks cannot be excluded: no matches for ${names.map((name) => JSON.stringify(name)).join(',')}`
