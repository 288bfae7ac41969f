/** Transports whose requests are held to a rule: those of a leader or of what may be stopped, those that must end in time, those that must not come too fast. */
import type { ApiRequest } from '../api/request.ts'
import { sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { type Leadership, LeaseLostError } from './leader-election.ts'
import { clientLimitMetrics } from './request-metrics.ts'
import type { Transport } from './transport.ts'

const isRead = ({ method }: ApiRequest): boolean => method === 'GET' || method === 'HEAD'

/** No write begins once the leader may not write any more, and what is under way when that is noticed is cut. */
export function fencedTransport(transport: Transport, leadership: Leadership): Transport {
  const check = () => {
    if (!leadership.mayWrite()) throw leadership.ended.reason ?? new LeaseLostError('of this leader')
  }
  return {
    ...transport,
    async send(request) {
      if (isRead(request)) return transport.send(request)
      check()
      const { signal, forget } = either(request.signal, leadership.ended)
      try {
        return await transport.send({ ...request, signal }, check)
      } finally {
        forget()
      }
    },
  }
}

/** No request begins once `signal` is aborted: what a component that was stopped still has to do, it does no more. */
export function endingTransport(transport: Transport, signal: AbortSignal): Transport {
  return {
    ...transport,
    async send(request, beforeItBegins) {
      signal.throwIfAborted()
      return transport.send(request, beforeItBegins)
    },
  }
}

/**
 * Each request but a watch ends after `ms`, and where it `tells` so the server knows that it does. When one got no answer the watches are cut
 * too: a server that is gone without a word, as a machine without power, ends none of them.
 */
export function timedTransport(runtime: Runtime, transport: Transport, ms: number, tells = true): Transport {
  let silence = new AbortController()
  return {
    ...transport,
    async send(request, beforeItBegins) {
      if (request.query.get('watch') === 'true')
        return transport.send({ ...request, signal: AbortSignal.any([request.signal, silence.signal]) }, beforeItBegins)
      const late = new AbortController()
      const { signal, forget } = either(request.signal, late.signal)
      const timer = runtime.clock.setTimer(ms, 'request timeout', () => {
        const why = new Error(`no answer within ${ms / 1000} s: ${request.method} ${request.path}`)
        late.abort(why)
        silence.abort(why)
        silence = new AbortController()
      })
      const query = tells ? new URLSearchParams(request.query) : request.query
      if (tells) query.set('timeout', `${Math.ceil(ms / 1000)}s`)
      try {
        return await transport.send({ ...request, query, signal }, beforeItBegins)
      } finally {
        timer.cancel()
        forget()
      }
    },
  }
}

/**
 * client-go's limits of a client: so many requests in a second, and so many at once before that; the others wait in order. A watch does not:
 * it goes on from a list that has waited, and while it waited itself, what it is to tell would be missing from a picture that is taken to be
 * whole. (Clients that list by watching need one request where here are two.)
 */
export function limitedTransport(
  runtime: Runtime,
  transport: Transport,
  { qps, burst }: { readonly qps: number; readonly burst: number },
): Transport {
  const { clock } = runtime
  const waited = clientLimitMetrics(runtime, transport.host ?? 'in-process')
  let tokens = burst
  let at = clock.monotonic()
  return {
    ...transport,
    async send(request, beforeItBegins) {
      if (request.query.get('watch') === 'true') return transport.send(request, beforeItBegins)
      const now = clock.monotonic()
      tokens = Math.min(burst, tokens + ((now - at) / 1000) * qps) - 1
      at = now
      waited(request.method, Math.max(0, (-tokens / qps) * 1000))
      if (tokens < 0) await sleep(clock, (-tokens / qps) * 1000, request.signal)
      return transport.send(request, beforeItBegins)
    },
  }
}

/** A signal that fires with the first of two, and the way to end its listening. */
function either(one: AbortSignal, other: AbortSignal): { readonly signal: AbortSignal; forget(): void } {
  const both = new AbortController()
  const listening = [one, other].map((signal) => {
    const pass = () => both.abort(signal.reason)
    if (signal.aborted) pass()
    else signal.addEventListener('abort', pass, { once: true })
    return () => signal.removeEventListener('abort', pass)
  })
  return {
    signal: both.signal,
    forget: () => {
      for (const forget of listening) forget()
    },
  }
}
