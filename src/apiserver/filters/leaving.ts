/**
 * How a server that is to stop leaves its clients, where its administrator asks for that: new requests are told to come again elsewhere
 * (--shutdown-send-retry-after) while those there are get their answers, and watches are ended in turn
 * (--shutdown-watch-termination-grace-period).
 */
import type { ApiRequest, ApiResponse, WatchEvent } from '../../api/request.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import type { StreamReader } from '../../base/stream.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type Filter, whenAnswered } from '../request/server-request.ts'

export interface LeavingOptions {
  readonly sendsRetryAfter: boolean
  /** 0: watches are not ended before the server is. */
  readonly watchGraceMs: number
  /** No request takes longer. */
  readonly requestTimeoutMs: number
}

export interface Leaving {
  /** Behind request info. */
  readonly filter: Filter
  /** Resolves when what is waited for has been answered, or has had its time. */
  leave(): Promise<void>
}

const RETRY_AFTER: ApiResponse = {
  kind: 'bytes',
  status: 429,
  headers: { 'retry-after': '5', 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from('The apiserver is shutting down, please try again later.\n')],
}
/** Watches are ended so fast, or faster where there are more than the grace allows for. */
const WATCHES_A_SECOND = 200
const STEP_MS = 100

export function createLeaving(clock: Pick<Clock, 'setTimer'>, options: LeavingOptions): Leaving {
  const { sendsRetryAfter, watchGraceMs, requestTimeoutMs } = options
  const watches = new Set<StreamReader<WatchEvent>>()
  let inFlight = 0
  let isLeaving = false
  let check = () => {}

  function follow(request: ApiRequest, response: ApiResponse): void {
    if (response.kind !== 'watch' || watchGraceMs === 0) return
    const { events } = response
    if (isLeaving) events.close()
    if (request.signal.aborted) return
    watches.add(events)
    request.signal.addEventListener(
      'abort',
      () => {
        watches.delete(events)
        check()
      },
      { once: true },
    )
  }

  async function endWatches(): Promise<void> {
    const steps = Math.max(1, watchGraceMs / STEP_MS)
    const atOnce = Math.max(Math.ceil(watches.size / steps), (WATCHES_A_SECOND * STEP_MS) / 1000)
    const all = [...watches]
    for (let i = 0; i < all.length; i += atOnce) {
      if (i > 0) await sleep(clock, STEP_MS)
      for (const events of all.slice(i, i + atOnce)) events.close()
    }
  }

  /** Resolves when `isOver` says so after a change, or the time is over. */
  function until(isOver: () => boolean, ms: number): Promise<void> {
    if (isOver()) return Promise.resolve()
    return new Promise((resolve) => {
      const before = check
      const timer = clock.setTimer(ms, 'leaving', resolve)
      check = () => {
        before()
        if (!isOver()) return
        timer.cancel()
        resolve()
      }
    })
  }

  return {
    filter: (next) => (request) => {
      // Components in this process are stopped by themselves.
      if (request.connection === undefined) return next(request)
      if (isExempt(request)) return next(request)
      if (isLeaving && (sendsRetryAfter || request.info?.verb === 'watch')) return RETRY_AFTER
      const isCounted = !isLongRunning(request.info)
      if (isCounted) inFlight++
      const answered = () => {
        if (!isCounted) return
        inFlight--
        if (isLeaving) check()
      }
      return whenAnswered(
        next,
        request,
        (response) => {
          answered()
          follow(request, response)
          return response
        },
        (error) => {
          answered()
          throw error
        },
      )
    },
    async leave() {
      isLeaving = true
      await Promise.all([
        sendsRetryAfter ? until(() => inFlight === 0, requestTimeoutMs) : undefined,
        watchGraceMs === 0 ? undefined : Promise.all([endWatches(), until(() => watches.size === 0, watchGraceMs)]),
      ])
    },
  }
}

/** Those that look after the server, and servers among themselves: neither refused nor waited for. */
const isExempt = ({ path, headers }: ApiRequest): boolean =>
  /^\/(healthz|livez|readyz|metrics)(\/|$)/.test(path) || headers['user-agent']?.startsWith('kube-apiserver/') === true
