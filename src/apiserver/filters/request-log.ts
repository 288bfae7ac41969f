/**
 * The request log: from -v 3 a line for every request with its latency and user agent; and at any level, for a request that
 * took more than half a second, a trace of the steps it took and what each of them cost.
 */
import { type ApiRequest, type Filter, whenAnswered } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import { codeOf } from './errors.ts'
import { isLongRunning } from './limits.ts'

const LOG_LEVEL = 3
const SLOW_MS = 500

/** Steps of one request: called when a step is done, with its name. */
export interface Trace {
  step(name: string): void
}

type Step = readonly [name: string, at: number]

export function requestLog(runtime: Runtime): Filter {
  const { clock } = runtime
  const log = runtime.log.named('http')
  const answered = (request: ApiRequest, start: number, steps: readonly Step[], status: number) => {
    const ms = clock.monotonic() - start
    const isSlow = ms > SLOW_MS && !isLongRunning(request.info)
    if (!isSlow && log.level < LOG_LEVEL) return
    const fields = {
      verb: request.info?.verb ?? request.method,
      URI: request.query.size > 0 ? `${request.path}?${request.query}` : request.path,
      latencyMs: rounded(ms),
      userAgent: request.headers['user-agent'] ?? '',
      srcIP: request.connection?.remoteAddress ?? 'in-process',
      resp: status,
    }
    if (log.level >= LOG_LEVEL) log.info(LOG_LEVEL, 'HTTP', fields)
    if (isSlow) log.info(0, 'slow request', { ...fields, steps: costs(start, steps, start + ms) })
  }
  return (next) => (request) => {
    const start = clock.monotonic()
    const steps: Step[] = []
    const trace: Trace = { step: (name) => steps.push([name, clock.monotonic()]) }
    return whenAnswered(
      next,
      { ...request, trace },
      (response) => {
        answered(request, start, steps, response.status)
        return response
      },
      (error) => {
        answered(request, start, steps, codeOf(error, request))
        throw error
      },
    )
  }
}

/** What each step cost, and what came after the last one. */
function costs(start: number, steps: readonly Step[], end: number): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  let before = start
  for (const [name, at] of steps) {
    found[name] = rounded(at - before)
    before = at
  }
  found['answering'] = rounded(end - before)
  return found
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100
