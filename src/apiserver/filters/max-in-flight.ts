/**
 * Overload without priority and fairness (`--enable-priority-and-fairness=false`): so many requests that read and so many that write are worked on at
 * once, and a further one is answered with 429 and Retry-After at once. system:masters are never refused, what runs long does not
 * count, and components of this process are not asked.
 */
import type { ApiRequest } from '../../api/request.ts'
import type { MemoryLimit } from '../flowcontrol/memory-limit.ts'
import { isMutating } from '../request/info.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type Filter, whenAnswered } from '../request/server-request.ts'
import { overloaded, TOO_MANY_REQUESTS } from './priority-and-fairness.ts'

export interface MaxInFlight {
  /** Requests that read (`--max-requests-inflight`), and that write (`--max-mutating-requests-inflight`). 0: any number. */
  readonly readOnly: number
  readonly mutating: number
  /** Refuses what the process has no memory for. */
  readonly memory?: Pick<MemoryLimit, 'refuses'>
}

const MASTERS = 'system:masters'

export function maxInFlight({ readOnly, mutating, memory }: MaxInFlight): Filter {
  const kinds = { readOnly: { limit: readOnly, now: 0 }, mutating: { limit: mutating, now: 0 } }
  return (next) => (request: ApiRequest) => {
    const { info, user } = request
    if (info === undefined || user === undefined) return next(request)
    if (memory?.refuses(info, user, undefined) === true) {
      if (request.connection === undefined) throw overloaded()
      return TOO_MANY_REQUESTS
    }
    if (request.connection === undefined || isLongRunning(info)) return next(request)
    const kind = isMutating(info) ? kinds.mutating : kinds.readOnly
    if (kind.limit === 0) return next(request)
    // One that is let through beyond the limit holds no place.
    const isBeyond = kind.now >= kind.limit
    if (isBeyond) return user.groups?.includes(MASTERS) === true ? next(request) : TOO_MANY_REQUESTS
    kind.now++
    const ended = () => {
      kind.now--
    }
    return whenAnswered(
      next,
      request,
      (response) => {
        ended()
        return response
      },
      (error) => {
        ended()
        throw error
      },
    )
  }
}
