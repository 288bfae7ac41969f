/**
 * The request log: from -v 3 a line for every request with its latency and user agent; and at any level, for a request that
 * took more than half a second, a trace of the steps it took and what each of them cost.
 */

import type { Clock } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { decodeHeader } from '../../http/header-text.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type Filter, type ServerRequest, whenAnswered } from '../request/server-request.ts'
import { statusCodeOf } from './errors.ts'

const LOG_LEVEL = 3
const SLOW_MS = 500

/** Steps of one request: called when a step is done, with its name. */
export interface Trace {
  step(name: string): void
}

/** With what came before it: most requests take one step, and do not ask for it. */
interface Step {
  readonly name: string
  readonly at: number
  readonly before: Step | undefined
}

class Steps implements Trace {
  last: Step | undefined
  readonly #clock: Clock
  constructor(clock: Clock) {
    this.#clock = clock
  }
  step(name: string): void {
    this.last = { name, at: this.#clock.monotonic(), before: this.last }
  }
}

export function requestLog(runtime: Runtime): Filter {
  const { machineClock: clock } = runtime
  const log = runtime.log.named('http')
  const answered = (request: ServerRequest, start: number, steps: Steps, status: number) => {
    const ms = clock.monotonic() - start
    const isSlow = ms > SLOW_MS && !isLongRunning(request.info)
    if (!isSlow && log.level < LOG_LEVEL) return
    const fields = {
      verb: request.info?.verb ?? request.method,
      URI: request.query.size > 0 ? `${request.path}?${request.query}` : request.path,
      latencyMs: rounded(ms),
      userAgent: decodeHeader(request.headers['user-agent'] ?? ''),
      srcIP: request.connection?.remoteAddress ?? 'in-process',
      resp: status,
    }
    if (log.level >= LOG_LEVEL) log.info(LOG_LEVEL, 'HTTP', fields)
    if (isSlow) log.info(0, 'slow request', { ...fields, steps: costs(start, steps.last, start + ms) })
  }
  return (next) => (request) => {
    const start = clock.monotonic()
    const steps = new Steps(clock)
    if (request.served !== undefined) request.served.trace = steps
    return whenAnswered(
      next,
      request,
      (response) => {
        answered(request, start, steps, response.status)
        return response
      },
      (error) => {
        answered(request, start, steps, statusCodeOf(error, request))
        throw error
      },
    )
  }
}

/** What each step cost, and what came after the last one. */
function costs(start: number, last: Step | undefined, end: number): Readonly<Record<string, number>> {
  const taken: (readonly [name: string, ms: number])[] = [['answering', rounded(end - (last?.at ?? start))]]
  for (let step = last; step !== undefined; step = step.before)
    taken.push([step.name, rounded(step.at - (step.before?.at ?? start))])
  return Object.fromEntries(taken.reverse())
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100
