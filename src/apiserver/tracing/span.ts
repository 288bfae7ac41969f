/** Spans of requests (OpenTelemetry), and by what they belong together: W3C's trace context. */
import type { Random } from '../../base/random.ts'

export type SpanKind = 'internal' | 'server'
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What a span takes over from the one above it, which may be another process'. */
export interface SpanContext {
  readonly traceId: Uint8Array
  readonly spanId: Uint8Array
  /** Whether it is told of. Those below it are, or are not, as it is. */
  readonly isSampled: boolean
  readonly state: string
  readonly isRemote: boolean
}

export interface FinishedSpan {
  readonly context: SpanContext
  readonly parent: SpanContext | undefined
  readonly name: string
  readonly kind: SpanKind
  /** What measures, as OpenTelemetry names scopes. */
  readonly scope: string
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly end: number
  readonly attributes: SpanAttributes
  readonly hasFailed: boolean
}

/** `traceparent` of version 00, and `tracestate`; undefined for what is none. */
export function remoteContext(traceparent = '', tracestate = ''): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent.trim()) ?? []
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined
  return {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(spanId, 'hex'),
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: tracestate,
    isRemote: true,
  }
}

const TRACE_BYTES = 16
const SPAN_BYTES = 8
const MILLION = 1_000_000

/** Of a new trace, one of so many that `perMillion` of a million are told of. */
export function rootContext(random: Random, perMillion: number): SpanContext {
  return {
    traceId: random.bytes(TRACE_BYTES),
    spanId: random.bytes(SPAN_BYTES),
    isSampled: perMillion > 0 && random.float() * MILLION < perMillion,
    state: '',
    isRemote: false,
  }
}

export const childContext = (random: Random, { traceId, isSampled, state }: SpanContext): SpanContext => ({
  traceId,
  spanId: random.bytes(SPAN_BYTES),
  isSampled,
  state,
  isRemote: false,
})
