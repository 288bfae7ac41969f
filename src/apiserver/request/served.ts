/** What is found out about a request while it is answered, for the filters that count, trace and audit requests. */
import type { Json, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import type { SpanContext } from '../tracing/span.ts'
import type { RequestSeries } from './request-series.ts'

/** Filled in on the way, read when the request has been answered. */
export interface Served {
  /** What it is counted as, by what answers it. What nothing answers has none. */
  series: RequestSeries | undefined
  /** Where tracing is on: of the span that all which is done now belongs to. */
  span: SpanContext | undefined
  /** How long it has waited for webhooks. */
  webhookMs: number
  /** Told by each step when it is done, for the trace of a slow request. */
  trace: { step(name: string): void } | undefined
  /** A read that may show any version is to show how things were so many writes of its resource ago (faults). */
  staleBy: number
  /** Where audited: what later steps have to tell about the request. */
  audit: AuditRecord | undefined
  /** What audit events of the request tell of how its user was proved. */
  proof: Readonly<Record<string, string>> | undefined
}

export const servedAnew = (): Served => ({
  series: undefined,
  span: undefined,
  webhookMs: 0,
  trace: undefined,
  staleBy: 0,
  audit: undefined,
  proof: undefined,
})

/** Filled in by the steps a request passes; read once, when its audit event is written. */
export interface AuditRecord {
  /** As its events have it. */
  readonly id?: string
  impersonatedUser?: UserInfo
  /** The constrained permission by which the user is impersonated; undefined without one. */
  impersonationConstraint?: string
  requestObject?: KubeObject
  /** What is no object and was asked all the same: a patch, options of a delete. */
  requestBody?: Json
  readonly annotations: Record<string, string>
  /** Its events tell what was sent: the level is Request or more. */
  readonly tellsBodies?: boolean
}
