/** Methods of a kubelet's sockets: so many calls in a second, and so many at once before that (a token bucket); those beyond are refused, not put off. */
import { type ServiceError, type sendUnaryData, status, type UntypedHandleCall } from '@grpc/grpc-js'
import { messageOf } from '../../base/errors.ts'
import type { Rate } from '../../base/token-bucket.ts'

/** Of a kubelet's sockets. */
export const LOCAL_RATE: Rate = { qps: 100, burst: 10 }

/** What a method throws is told as Unknown, unless it has a code. */
export class CallError extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** A method that answers once, within a limit that it shares with others. `done`: how it ended; not called of what is refused. */
export const limited =
  <Request, Answer>(
    mayCome: () => boolean,
    answer: (request: Request) => Answer,
    done: (code: status) => void = () => {},
  ): UntypedHandleCall =>
  ({ request }: { readonly request: Request }, reply: sendUnaryData<Answer>) => {
    if (!mayCome()) return reply(failure(status.RESOURCE_EXHAUSTED, 'rejected by rate limit'))
    let answered: Answer
    try {
      answered = answer(request)
    } catch (error) {
      const code = error instanceof CallError ? error.code : status.UNKNOWN
      done(code)
      return reply(failure(code, messageOf(error)))
    }
    done(status.OK)
    reply(null, answered)
  }

const failure = (code: status, details: string): Partial<ServiceError> => ({ code, details })
