/**
 * /healthz, /livez and /readyz (API concept: health endpoints), whole or by check: `?verbose` names every check,
 * `?exclude=NAME` leaves one out, /readyz/NAME asks one alone.
 */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'

export interface HealthCheck {
  readonly name: string
  /** Throws, or rejects, with what is wrong. */
  check(): void | Promise<void>
  /** Endpoints it counts for; default all three. */
  readonly endpoints?: readonly ('healthz' | 'livez' | 'readyz')[]
}

type Endpoint = 'healthz' | 'livez' | 'readyz'

const text = (status: number, body: string): ApiResponse => ({
  kind: 'bytes',
  status,
  headers: { 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(body)],
})

/** undefined when the path is none of these, or names a check that there is not. */
export async function healthResponse(
  request: ApiRequest,
  checks: readonly HealthCheck[],
): Promise<ApiResponse | undefined> {
  const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(request.path)
  if (match === null) return undefined
  const endpoint = match[1] as Endpoint
  const counted = checks.filter((check) => check.endpoints === undefined || check.endpoints.includes(endpoint))
  if (match[2] !== undefined) {
    const one = counted.find((check) => check.name === match[2])
    if (one === undefined) return undefined
    const problem = await outcome(one)
    return problem === undefined ? text(200, 'ok') : text(500, `internal server error: ${problem}`)
  }
  const excluded = new Set(request.query.getAll('exclude'))
  const lines: string[] = []
  let failed = false
  for (const check of counted) {
    if (excluded.has(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const problem = await outcome(check)
    failed ||= problem !== undefined
    lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${problem}`)
  }
  if (failed) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`)
  return text(200, request.query.has('verbose') ? `${lines.join('\n')}\n${endpoint} check passed\n` : 'ok')
}

async function outcome(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
