/** The last requests that came to a cluster from outside: what a test that failed wants to know of its client. */
import type { ApiRequest, ApiResponse, EagerHandler } from '../api/request.ts'
import { formatMicroTime } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'

export interface LastRequest {
  /** Of the cluster's clock, metav1.MicroTime. */
  readonly time: string
  readonly method: string
  /** With the query, a thousand characters at most. */
  readonly path: string
  readonly userAgent: string
  /** Undefined while it is not answered. */
  readonly status: number | undefined
}

export interface LastRequests {
  around(handler: EagerHandler): EagerHandler
  /** The oldest first. */
  list(): readonly LastRequest[]
}

const LONGEST = 1000

export function lastRequests(runtime: Runtime, limit: number): LastRequests {
  const kept: { -readonly [K in keyof LastRequest]: LastRequest[K] }[] = []
  let next = 0
  return {
    around: (handler) => (request) => {
      const told = {
        ...wordsOf(request),
        time: formatMicroTime(runtime.clock.now()),
        status: undefined as number | undefined,
      }
      kept[next] = told
      next = (next + 1) % limit
      const noted = (response: ApiResponse) => {
        told.status = response.status
        return response
      }
      const answer = handler(request)
      return answer instanceof Promise ? answer.then(noted) : noted(answer)
    },
    list: () => [...kept.slice(next), ...kept.slice(0, next)],
  }
}

function wordsOf({ method, path, query, headers }: ApiRequest) {
  const rest = query.toString()
  return {
    method,
    path: (rest === '' ? path : `${path}?${rest}`).slice(0, LONGEST),
    userAgent: String(headers['user-agent'] ?? '').slice(0, LONGEST),
  }
}
