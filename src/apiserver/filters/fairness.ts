/**
 * Overload (API concept: API priority and fairness): at most so many requests are worked on at once; who comes then waits in a
 * queue of his own user, and the queues take turns, so that one client cannot starve another. A queue that is full is
 * answered with 429 and Retry-After. Watches and other long requests do not count, nor do administrators (priority level
 * `exempt`) and components of this process.
 */
import { type ApiRequest, type ApiResponse, type Filter, whenAnswered } from '../../api/request.ts'
import { tooManyRequests } from '../../api/status.ts'
import { isLongRunning } from './limits.ts'

export interface FairnessOptions {
  /** Requests worked on at once. kube-apiserver's defaults add up to 600. */
  readonly inFlight: number
  /** Requests that may wait per user. */
  readonly queueLength: number
}

export const defaultFairness: FairnessOptions = { inFlight: 600, queueLength: 250 }

const RETRY_SECONDS = 1

export function fairness({ inFlight, queueLength }: FairnessOptions): Filter {
  let working = 0
  /** In the order of their turns: a Map keeps it, and moving a queue to the end is delete and set. */
  const queues = new Map<string, (() => void)[]>()

  /** Of the queue whose turn it is. */
  const takeNext = (): (() => void) | undefined => {
    for (const [user, queue] of queues) {
      queues.delete(user)
      const start = queue.shift()
      if (queue.length > 0) queues.set(user, queue)
      if (start !== undefined) return start
    }
    return undefined
  }

  let starting = false
  /** Places that came free while another request was being started: who is answered at once gives his place back at once. */
  let freed = 0
  const release = () => {
    freed++
    if (starting) return
    starting = true
    for (; freed > 0; freed--) {
      const start = takeNext()
      if (start === undefined) working--
      else start()
    }
    starting = false
  }
  return (next) => {
    const work = (request: ApiRequest): ApiResponse | Promise<ApiResponse> =>
      whenAnswered(
        next,
        request,
        (response) => {
          release()
          return response
        },
        (error) => {
          release()
          throw error
        },
      )
    return (request) => {
      if (request.connection === undefined || isExempt(request) || isLongRunning(request.info)) return next(request)
      if (working < inFlight) {
        working++
        return work(request)
      }
      const user = request.user?.name ?? ''
      const queue = queues.get(user) ?? []
      if (queue.length >= queueLength)
        throw tooManyRequests('too many requests, please try again later.', RETRY_SECONDS)
      queues.set(user, queue)
      return new Promise<ApiResponse>((resolve, reject) => {
        const leave = () => {
          const at = queue.indexOf(start)
          if (at >= 0) queue.splice(at, 1)
          if (queue.length === 0 && queues.get(user) === queue) queues.delete(user)
          reject(request.signal.reason)
        }
        const start = () => {
          request.signal.removeEventListener('abort', leave)
          try {
            resolve(work(request))
          } catch (error) {
            reject(error)
          }
        }
        request.signal.addEventListener('abort', leave, { once: true })
        queue.push(start)
      })
    }
  }
}

const isExempt = ({ user }: ApiRequest): boolean => user?.groups.includes('system:masters') ?? false
