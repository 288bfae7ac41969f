/**
 * Overload (API concept: API priority and fairness): each priority level works on so many requests at once; one that comes then
 * waits in a queue of its flow, and the queues take turns, so that one client cannot starve another. One that finds its queue
 * full is answered with 429 and Retry-After. Logs, proxies and sessions do not count, watches only until they have begun;
 * components of this process are not asked.
 */

import type { ApiRequest, ApiResponse, ConnectionInfo, RequestInfo, UserInfo } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { createDeadlines } from '../../base/deadlines.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createFlows, type Flow } from '../flowcontrol/flows.ts'
import type { MemoryLimit } from '../flowcontrol/memory-limit.ts'
import { createFlowMetrics } from '../flowcontrol/metrics.ts'
import { createPriorityLevels } from '../flowcontrol/priority-levels.ts'
import type { ServerReads } from '../reads.ts'
import { isMutating } from '../request/info.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type Filter, whenAnswered } from '../request/server-request.ts'

export interface FairnessOptions {
  /** Requests worked on at once (`--max-requests-inflight` and `--max-mutating-requests-inflight` together). */
  readonly inFlight: number
  /** The longest time in a queue: a quarter of a request's own. */
  readonly waitMs: number
  /** Refuses what the process has no memory for. */
  readonly memory?: Pick<MemoryLimit, 'refuses'>
}

/** kube-apiserver's: 400 and 200 requests, a quarter of a minute. */
export const defaultFairness: FairnessOptions = { inFlight: 600, waitMs: 15_000 }

const RETRY_SECONDS = '1'
/** A connection of which so many requests in a row came so soon after the answer before is pressing. */
const PRESSING = 2
const AT_ONCE_MS = 50

/** Of a connection of which an exempt request had to wait for its turn. */
interface Asking {
  /** When its last request was answered. */
  answered: number
  /** Requests in a row that came at once. */
  atOnce: number
}

export function fairness(
  runtime: Runtime,
  reads: Pick<ServerReads, 'list' | 'generationOf'>,
  options: FairnessOptions = defaultFairness,
): Filter {
  const { machineClock: clock } = runtime
  const { memory } = options
  const levels = createPriorityLevels(options.inFlight, runtime)
  const flowOf = createFlows(reads, levels, createFlowMetrics(runtime.metrics, levels))
  const deadlines = createDeadlines(clock, options.waitMs, 'fair queue')
  const inQueue = runtime.metrics?.gauge('apiserver_current_inqueue_requests', 'Requests that wait.', ['request_kind'])

  const asking = new WeakMap<ConnectionInfo, Asking>()
  /** Exempt requests are one flow. Of its connections those that ask as fast as they are answered wait behind each other, not before others. */
  const pressing = ({ connection }: ApiRequest): string => {
    if (connection === undefined) return ''
    const known = asking.get(connection)
    if (known === undefined) {
      asking.set(connection, { answered: Number.NEGATIVE_INFINITY, atOnce: 0 })
      return ''
    }
    known.atOnce = clock.monotonic() - known.answered < AT_ONCE_MS ? known.atOnce + 1 : 0
    return known.atOnce >= PRESSING ? 'pressing' : ''
  }

  return (next) => {
    /** Has a seat, and gives it back. */
    const work = (request: ApiRequest, flow: Flow): ApiResponse | Promise<ApiResponse> => {
      const { counts, level } = flow
      const type = request.info?.verb === 'watch' ? 'watch' : 'regular'
      const began = clock.monotonic()
      counts.dispatched?.add()
      counts.executing++
      const ended = () => {
        const now = clock.monotonic()
        const known = level.exempt && request.connection !== undefined ? asking.get(request.connection) : undefined
        if (known !== undefined) known.answered = now
        counts.executing--
        counts.execution?.[type].observe((now - began) / 1000)
        level.release()
      }
      return whenAnswered(
        next,
        request,
        (response) => {
          ended()
          // Most answers have no headers of their own.
          const headers = response.headers === undefined ? flow.headers : { ...response.headers, ...flow.headers }
          return { ...response, headers }
        },
        (error) => {
          ended()
          if (error instanceof StatusError) error.headers = { ...error.headers, ...flow.headers }
          throw error
        },
      )
    }

    /** Resolves with the answer, or with a 429 when there is no place, or no seat in time. */
    const wait = (request: ApiRequest, flow: Flow, distinguished: string): ApiResponse | Promise<ApiResponse> => {
      // A client that has gone already would never be heard to go.
      request.signal.throwIfAborted()
      const { counts, level } = flow
      let settle: ((start: boolean) => void) | undefined
      const place = level.wait(`${flow.schema.name}/${distinguished}`, () => settle?.(true))
      const joined = clock.monotonic()
      const refused = (reason: Parameters<typeof counts.rejected>[0]) => {
        counts.rejected(reason)
        counts.waited?.rejected.observe((clock.monotonic() - joined) / 1000)
        return tooMany(flow)
      }
      if (place === undefined) return refused(level.queues ? 'queue-full' : 'concurrency-limit')
      counts.queueLength?.observe(place.length)
      counts.waiting++
      const kind = request.info !== undefined && isMutating(request.info) ? 'mutating' : 'readOnly'
      inQueue?.child(kind).add(1)
      return new Promise<ApiResponse>((resolve, reject) => {
        const gone = () => {
          settle?.(false)
          counts.rejected('cancelled')
          reject(request.signal.reason)
        }
        // An exempt request waits only for a turn of the event loop.
        const late = level.exempt
          ? undefined
          : deadlines.add(() => {
              settle?.(false)
              resolve(refused('time-out'))
            })
        settle = (start) => {
          late?.cancel()
          counts.waiting--
          inQueue?.child(kind).add(-1)
          request.signal.removeEventListener('abort', gone)
          if (!start) return place.leave()
          counts.waited?.executed.observe((clock.monotonic() - joined) / 1000)
          try {
            resolve(work(request, flow))
          } catch (error) {
            reject(error)
          }
        }
        request.signal.addEventListener('abort', gone, { once: true })
      })
    }

    return (request) => {
      const { info, user } = request
      if (info === undefined || user === undefined) return next(request)
      if (request.connection === undefined) {
        if (memory?.refuses(info, user, undefined) === true) throw overloaded()
        return next(request)
      }
      if (info.verb !== 'watch' && isLongRunning(info)) return next(request)
      const flow = flowOf(user, info)
      if (memory?.refuses(info, user, flow.level) === true) return tooMany(flow)
      if (!flow.level.enter())
        return wait(request, flow, flow.level.exempt ? pressing(request) : distinguisherOf(flow, user, info))
      if (!flow.level.exempt) flow.counts.waited?.executed.observe(0)
      return work(request, flow)
    }
  }
}

function distinguisherOf({ schema }: Flow, user: UserInfo, info: RequestInfo): string {
  if (schema.distinguisher === 'ByUser') return user.name
  return schema.distinguisher === 'ByNamespace' ? info.namespace : ''
}

/** The same for a component of this process, which tries again. */
export function overloaded(): StatusError {
  const error = new StatusError(429, 'TooManyRequests', 'Too many requests, please try again later.')
  error.headers = { 'retry-after': RETRY_SECONDS }
  return error
}

/** In kube-apiserver's plain text. */
export const TOO_MANY_REQUESTS = {
  kind: 'bytes',
  status: 429,
  headers: { 'retry-after': RETRY_SECONDS, 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from('Too many requests, please try again later.\n')],
} as const satisfies ApiResponse

const tooMany = ({ headers }: Flow): ApiResponse => ({
  ...TOO_MANY_REQUESTS,
  headers: { ...TOO_MANY_REQUESTS.headers, ...headers },
})
