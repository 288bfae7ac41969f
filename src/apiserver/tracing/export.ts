/** Spans on their way to a collector: by OTLP over gRPC without TLS, in batches. What a collector that is away would have been told is lost. */
import { fileURLToPath } from 'node:url'
import {
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { FinishedSpan, SpanAttributes } from './span.ts'

/** Beside this file in sources, beside the code in bundles. */
const PROTO = new URL('./protos/otlp-traces.proto', import.meta.url)

export interface SpanExporter {
  tell(span: FinishedSpan): void
  /** What waits is sent, as far as the collector takes it within two seconds; spans told of later are dropped. */
  close(): Promise<void>
}

/** As OpenTelemetry's SDKs have it by default. */
const EVERY_MS = 5000
const MOST_AT_ONCE = 512
const MOST_WAITING = 2048
const TIMEOUT_MS = 10_000
/** A server that stops does not wait longer for its collector. */
const CLOSING_MS = 2000
/** A longer text, such as a header of a client, is told without its end. */
const MOST_TEXT = 1024
const KINDS = { internal: 1, server: 2 }
const FAILED = 2
/** That the parent is known to be in another process, or not. */
const [SAMPLED, KNOWS_REMOTE, IS_REMOTE] = [1, 0x100, 0x200]

/** `instance`: this server's id. */
export function exportSpans(
  { machineClock: clock, log }: Pick<Runtime, 'machineClock' | 'log'>,
  endpoint: string,
  instance: string,
): SpanExporter {
  const loaded = loadPackageDefinition(
    loadSync(fileURLToPath(PROTO), { keepCase: true, longs: String, defaults: false, oneofs: true }),
  )
  const Client = 'opentelemetry.proto.collector.trace.v1.TraceService'
    .split('.')
    .reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded) as ServiceClientConstructor
  const client = new Client(endpoint, credentials.createInsecure())
  const resource = {
    attributes: attributesOf({ 'service.name': 'apiserver', 'service.instance.id': instance }),
  }
  let waiting: FinishedSpan[] = []
  let timer: Timer | undefined
  let sending: Promise<void> = Promise.resolve()
  /** When the exporter is closed at the latest, once it is being closed. */
  let closing: number | undefined

  const send = (spans: readonly FinishedSpan[]) =>
    new Promise<void>((resolve) => {
      const scopes = Map.groupBy(spans, ({ scope }) => scope)
      const request = {
        resource_spans: [
          {
            resource,
            scope_spans: [...scopes].map(([name, own]) => ({ scope: { name }, spans: own.map(messageOf) })),
          },
        ],
      }
      const asked: unknown = client['Export']
      if (typeof asked !== 'function') throw new Error('a collector has no method Export')
      const deadline = Math.min(clock.now() + TIMEOUT_MS, closing ?? Number.POSITIVE_INFINITY)
      asked.call(client, request, new Metadata(), { deadline }, (error: Error | null) => {
        if (error !== null) log.info(2, 'spans were not taken', { err: error.message, endpoint })
        resolve()
      })
    })

  async function flush(): Promise<void> {
    timer?.cancel()
    timer = undefined
    while (waiting.length > 0 && (closing === undefined || clock.now() < closing))
      await send(waiting.splice(0, MOST_AT_ONCE))
  }
  const begin = () => {
    sending = sending.then(flush).catch((error) => log.error('spans could not be sent', error))
  }

  return {
    tell(span) {
      if (closing !== undefined || waiting.length >= MOST_WAITING) return
      waiting.push(bounded(span))
      if (waiting.length >= MOST_AT_ONCE) begin()
      else timer ??= clock.setTimer(EVERY_MS, 'send spans', begin)
    },
    async close() {
      closing = clock.now() + CLOSING_MS
      begin()
      // A batch that was on its way before has a later deadline.
      const late = Promise.withResolvers<void>()
      const timer = clock.setTimer(CLOSING_MS, 'close the exporter of spans', late.resolve)
      await Promise.race([sending, late.promise])
      timer.cancel()
      waiting = []
      client.close()
    },
  }
}

/** A span with texts of 1,024 characters at most, copied, as a part of a text keeps the whole of it. */
export function bounded(span: FinishedSpan): FinishedSpan {
  const isLong = (value: unknown) => typeof value === 'string' && value.length > MOST_TEXT
  const attributes = Object.entries(span.attributes)
  if (!attributes.some(([, value]) => isLong(value))) return span
  const cut = attributes.map(([key, value]) =>
    isLong(value) ? [key, Buffer.from(String(value).slice(0, MOST_TEXT)).toString()] : [key, value],
  )
  return { ...span, attributes: Object.fromEntries(cut) }
}

function messageOf({ context, parent, name, kind, start, end, attributes, hasFailed }: FinishedSpan) {
  return {
    trace_id: context.traceId,
    span_id: context.spanId,
    trace_state: context.state,
    ...(parent === undefined ? {} : { parent_span_id: parent.spanId }),
    name,
    kind: KINDS[kind],
    start_time_unix_nano: nanoseconds(start),
    end_time_unix_nano: nanoseconds(end),
    attributes: attributesOf(attributes),
    status: hasFailed && kind === 'server' ? { code: FAILED } : {},
    flags: SAMPLED | KNOWS_REMOTE | (parent?.isRemote === true ? IS_REMOTE : 0),
  }
}

/** As a text: they are more than a number holds. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)

const attributesOf = (attributes: SpanAttributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { string_value: value }
        : typeof value === 'number'
          ? { int_value: value }
          : { bool_value: value },
  }))
