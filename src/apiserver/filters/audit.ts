/**
 * Tells the audit log what is asked and how it was answered. Stands right behind authentication, so that what is refused is
 * told as well; authentication itself sends here the requests that it refuses, without a user.
 *
 * What a request waits for is the backends' to say (audit/backend.ts). Where an event is lost the server's own log and a metric say so, and
 * the request is answered all the same, unless a backend is strict and nothing of the request was done yet.
 */

import type { ApiResponse, RequestInfo } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { AuditBackend, AuditEvent } from '../audit/backend.ts'
import {
  type Answered,
  type Audited,
  answeredWith,
  atLeastRequest,
  auditedRequest,
  createEventWriter,
  type EventWriter,
  eventText,
  refusedWith,
  type StageReached,
} from '../audit/event.ts'
import { auditMetrics } from '../audit/metrics.ts'
import type { AuditPolicy, AuditStage } from '../audit/policy.ts'
import { isLongRunning } from '../request/long-running.ts'
import { plainTextError } from '../request/plain-text-error.ts'
import type { AuditRecord } from '../request/served.ts'
import { type Filter, whenAnswered } from '../request/server-request.ts'

const READS = new Set(['get', 'list', 'watch', 'head'])

export function audit(runtime: Runtime, policy: AuditPolicy, backends: readonly AuditBackend[]): Filter {
  const { clock, random } = runtime
  const serverLog = runtime.log.named('audit')
  const counts = auditMetrics(runtime)
  const writer = createEventWriter()
  /** What one failure loses at once, a batch, is one line of the log. */
  let failure: { readonly error: unknown; events: number } | undefined
  const lost = (error: unknown, auditID: string, plugin: string) => {
    counts.failed(plugin)
    if (failure !== undefined && failure.error === error) {
      failure.events++
      return
    }
    const told = { error, events: 1 }
    failure = told
    runtime.scheduler.handOver('lost audit events', () => {
      if (failure === told) failure = undefined
      serverLog.error('audit events are lost', error, { auditID, plugin, events: told.events })
    })
  }
  /** Whether the request may go on. undefined: it may, and there is nothing to wait for. */
  const tell = (audited: AuditedRequest, stage: AuditStage, answered?: Answered): Promise<boolean> | undefined => {
    const { verdict, info } = audited
    if (verdict.omitStages.has(stage)) return undefined
    counts.told()
    const event = new PendingEvent(audited, stage, clock.now(), answered, writer, lost)
    const isRead = READS.has(info.verb)
    let all: Promise<boolean> | undefined
    for (const backend of backends) {
      const taken = backend.take(event, isRead)
      if (taken !== undefined) all = all === undefined ? taken : bothOf(all, taken)
    }
    return all
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
    const tellsBodies = atLeastRequest(verdict.level)
    const record: AuditRecord = { id, annotations: { ...served.proof }, tellsBodies }
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
    const received = request.user === undefined ? undefined : tell(audited, 'RequestReceived')
    if (received === undefined) return ask()
    return received.then((mayGoOn) => {
      if (mayGoOn) return ask()
      counts.refused()
      return plainTextError(request, 'failed to store audit event')
    })
  }
}

const bothOf = async (one: Promise<boolean>, other: Promise<boolean>): Promise<boolean> =>
  (await Promise.all([one, other])).every((mayGoOn) => mayGoOn)

interface AuditedRequest extends Audited {
  readonly info: RequestInfo
}

const goesOn = ({ kind }: ApiResponse, info: RequestInfo): boolean =>
  kind === 'watch' || ((kind === 'stream' || kind === 'upgrade') && isLongRunning(info))

/** On its way to the log. */
class PendingEvent implements AuditEvent, StageReached {
  readonly stage: AuditStage
  readonly now: number
  readonly answered: Answered | undefined
  readonly #audited: Audited
  readonly #writer: EventWriter
  readonly #lost: (error: unknown, auditID: string, plugin: string) => void
  constructor(
    audited: Audited,
    stage: AuditStage,
    now: number,
    answered: Answered | undefined,
    writer: EventWriter,
    lost: (error: unknown, auditID: string, plugin: string) => void,
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
  lost(error: unknown, plugin = 'log'): void {
    this.#lost(error, this.#audited.id, plugin)
  }
}

const after = <T>(told: Promise<unknown> | undefined, then: () => T | Promise<T>): T | Promise<T> =>
  told === undefined ? then() : told.then(then)
