/**
 * Tells the audit log what is asked and how it was answered. Stands right behind authentication, so that what is refused is
 * told as well; authentication itself sends here whom it refuses, without a user.
 *
 * A request that changes something is answered only once its event is in the log; when the log cannot be written it is
 * answered with an error, and the server's own log says so. One that only reads is answered at once, unless the log is too
 * far behind; that its event could not be written is in the server's own log.
 */
import { type ApiResponse, type AuditRecord, type Filter, whenAnswered } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Answered, answeredWith, type EventParts, eventText, refusedWith } from '../audit/event.ts'
import type { AuditLog } from '../audit/log.ts'
import { auditMetrics } from '../audit/metrics.ts'
import type { Policy, Stage } from '../audit/policy.ts'
import { isLongRunning } from './limits.ts'

const READS = new Set(['get', 'list', 'watch', 'head'])
/** Events on their way to the log up to which reads do not wait for theirs. */
const MOST_BEHIND = 5000

export function audit(runtime: Runtime, policy: Policy, log: AuditLog): Filter {
  const { clock, random } = runtime
  const serverLog = runtime.log.named('audit')
  const counts = auditMetrics(runtime)
  const lost = (error: unknown, auditID: string) => {
    counts.failed()
    serverLog.error('the audit log cannot be written', error, { auditID })
  }
  const append = async (event: PendingEvent) => {
    try {
      await log.append(event)
    } catch (error) {
      event.lost(error)
      throw new StatusError(500, 'InternalError', 'Internal error occurred: the audit event could not be written')
    }
  }
  return (next) => (request) => {
    const { info } = request
    if (info === undefined) throw internalError('the request has not passed request info')
    const verdict = policy.verdict(request.user, info)
    counts.judged(verdict.level)
    if (verdict.level === 'None') return next(request)
    const record: AuditRecord = { annotations: {} }
    const id = request.auditId ?? random.uuid()
    const received = clock.now()
    /** undefined: nobody has to wait for it. */
    const tell = (stage: Stage, answered?: Answered): Promise<void> | undefined => {
      if (verdict.omitStages.has(stage)) return undefined
      counts.told()
      // Its text may be made when more is known than was then.
      const known = stage === 'RequestReceived' ? NOTHING_YET : record
      const parts = { request, record: known, verdict, id, received, now: clock.now(), stage, answered }
      const event = new PendingEvent(parts, lost)
      if (!READS.has(info.verb) || log.behind > MOST_BEHIND) return append(event)
      log.note(event)
      return undefined
    }
    const ask = () =>
      whenAnswered(
        next,
        { ...request, audit: record },
        (response) => {
          const answered = answeredWith(response, verdict)
          return after(goesOn(response) ? begun(answered) : ended(answered), () => response)
        },
        (error) => {
          const status = error instanceof StatusError ? error : internalError(error)
          const answered = refusedWith(status, verdict)
          const told = !(error instanceof StatusError)
            ? tell('Panic', answered)
            : request.user === undefined
              ? tell('ResponseStarted', answered)
              : ended(answered)
          return after(told, (): ApiResponse => {
            throw error
          })
        },
      )
    /** What may go on has begun even when it ends at once. */
    const ended = (answered: Answered) => {
      const started = isLongRunning(info) ? tell('ResponseStarted', answered) : undefined
      if (started === undefined) return tell('ResponseComplete', answered)
      return started.then(() => tell('ResponseComplete', answered))
    }
    const begun = (answered: Answered) => {
      const { signal } = request
      const over = () => void tell('ResponseComplete', answered)?.catch(() => {})
      const told = tell('ResponseStarted', answered)
      if (signal.aborted) over()
      else signal.addEventListener('abort', over, { once: true })
      return told
    }
    const goesOn = ({ kind }: ApiResponse) =>
      kind === 'watch' || ((kind === 'stream' || kind === 'upgrade') && isLongRunning(info))
    return after(request.user === undefined ? undefined : tell('RequestReceived'), ask)
  }
}

const NOTHING_YET: AuditRecord = { annotations: {} }

/** On its way to the log. */
class PendingEvent {
  readonly #parts: EventParts
  readonly #lost: (error: unknown, auditID: string) => void
  constructor(parts: EventParts, lost: (error: unknown, auditID: string) => void) {
    this.#parts = parts
    this.#lost = lost
  }
  text(): string {
    return eventText(this.#parts)
  }
  lost(error: unknown): void {
    this.#lost(error, this.#parts.id)
  }
}

const after = <T>(told: Promise<void> | undefined, then: () => T | Promise<T>): T | Promise<T> =>
  told === undefined ? then() : told.then(then)
