/**
 * Tells the audit log what is asked and how it was answered. Stands right behind authentication, so that what is refused is
 * told as well; authentication itself sends here the requests that it refuses, without a user.
 *
 * A request that changes something is answered only once its event is in the log, or could not be written there: then the
 * server's own log and a metric say so, and the request is answered all the same, as with kube-apiserver's default
 * `--audit-log-mode=blocking`. One that only reads is answered at once, unless the log is too far behind.
 */

import { type ApiResponse, type Filter, type RequestInfo, whenAnswered } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import {
  type Answered,
  type Audited,
  answeredWith,
  auditedRequest,
  createEventWriter,
  type EventWriter,
  eventText,
  refusedWith,
  type StageReached,
} from '../audit/event.ts'
import type { AuditLog, Noted } from '../audit/log.ts'
import { auditMetrics } from '../audit/metrics.ts'
import type { AuditPolicy, AuditStage } from '../audit/policy.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { AuditRecord } from '../request/served.ts'

const READS = new Set(['get', 'list', 'watch', 'head'])
/** Events on their way to the log up to which reads do not wait for theirs. */
const MOST_BEHIND = 5000

export function audit(runtime: Runtime, policy: AuditPolicy, log: AuditLog): Filter {
  const { clock, random } = runtime
  const serverLog = runtime.log.named('audit')
  const counts = auditMetrics(runtime)
  const writer = createEventWriter()
  const lost = (error: unknown, auditID: string) => {
    counts.failed()
    serverLog.error('the audit log cannot be written', error, { auditID })
  }
  const append = async (event: PendingEvent) => {
    try {
      await log.append(event)
    } catch (error) {
      event.lost(error)
    }
  }
  /** undefined: there is nothing to wait for. */
  const tell = (audited: AuditedRequest, stage: AuditStage, answered?: Answered): Promise<void> | undefined => {
    const { verdict, info } = audited
    if (verdict.omitStages.has(stage)) return undefined
    counts.told()
    const event = new PendingEvent(audited, stage, clock.now(), answered, writer, lost)
    if (!READS.has(info.verb) || log.behind > MOST_BEHIND) return append(event)
    log.note(event)
    return undefined
  }
  /** What may go on has begun even when it ends at once. */
  const ended = (audited: AuditedRequest, answered: Answered) => {
    const started = isLongRunning(audited.info) ? tell(audited, 'ResponseStarted', answered) : undefined
    if (started === undefined) return tell(audited, 'ResponseComplete', answered)
    return started.then(() => tell(audited, 'ResponseComplete', answered))
  }
  const begun = (audited: AuditedRequest, answered: Answered, signal: AbortSignal) => {
    const over = () => void tell(audited, 'ResponseComplete', answered)
    const told = tell(audited, 'ResponseStarted', answered)
    if (signal.aborted) over()
    else signal.addEventListener('abort', over, { once: true })
    return told
  }
  const refused = (audited: AuditedRequest, error: unknown) => {
    const status = error instanceof StatusError ? error : internalError(error)
    const answered = refusedWith(status, audited.verdict)
    if (!(error instanceof StatusError)) return tell(audited, 'Panic', answered)
    if (audited.asked.user === undefined) return tell(audited, 'ResponseStarted', answered)
    return ended(audited, answered)
  }
  return (next) => (request) => {
    const { info, served } = request
    if (info === undefined || served === undefined) throw internalError('the request has not passed request info')
    const verdict = policy.verdict(request.user, info)
    counts.judged(verdict.level)
    if (verdict.level === 'None') return next(request)
    const id = request.auditId ?? random.passingUuid()
    const record: AuditRecord = { id, annotations: { ...served.proof } }
    served.audit = record
    const audited: AuditedRequest = { asked: auditedRequest(request), info, record, verdict, id, received: clock.now() }
    const ask = () =>
      whenAnswered(
        next,
        request,
        (response) => {
          const answered = answeredWith(response, verdict)
          const told = goesOn(response, info) ? begun(audited, answered, request.signal) : ended(audited, answered)
          return told === undefined ? response : told.then(() => response)
        },
        (error) =>
          after(refused(audited, error), (): ApiResponse => {
            throw error
          }),
      )
    return after(request.user === undefined ? undefined : tell(audited, 'RequestReceived'), ask)
  }
}

interface AuditedRequest extends Audited {
  readonly info: RequestInfo
}

const goesOn = ({ kind }: ApiResponse, info: RequestInfo): boolean =>
  kind === 'watch' || ((kind === 'stream' || kind === 'upgrade') && isLongRunning(info))

/** On its way to the log. */
class PendingEvent implements Noted, StageReached {
  readonly stage: AuditStage
  readonly now: number
  readonly answered: Answered | undefined
  readonly #audited: Audited
  readonly #writer: EventWriter
  readonly #lost: (error: unknown, auditID: string) => void
  constructor(
    audited: Audited,
    stage: AuditStage,
    now: number,
    answered: Answered | undefined,
    writer: EventWriter,
    lost: (error: unknown, auditID: string) => void,
  ) {
    this.stage = stage
    this.now = now
    this.answered = answered
    this.#audited = audited
    this.#writer = writer
    this.#lost = lost
  }
  text(): string {
    return eventText(this.#audited, this)
  }
  write(into: Buffer, at: number): number {
    return this.#writer.write(this.#audited, this, into, at)
  }
  lost(error: unknown): void {
    this.#lost(error, this.#audited.id)
  }
}

const after = <T>(told: Promise<void> | undefined, then: () => T | Promise<T>): T | Promise<T> =>
  told === undefined ? then() : told.then(then)
