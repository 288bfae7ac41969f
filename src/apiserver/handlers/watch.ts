/** Watches: from a version, from what there is, with or without bookmarks (KEP-956, KEP-3157). */

import { PROTOBUF_WATCH } from '../../api/codec/protobuf.ts'
import { apiVersionOf, asKubeObject } from '../../api/object.ts'
import type { FieldTerm } from '../../api/objects/field-selector.ts'
import type { ApiRequest, ApiResponse, WatchEvent } from '../../api/request.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import { jsonText } from '../../api/values/json.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { Stream, type StreamReader } from '../../base/stream.ts'
import type { ServedForm } from '../cache/entry.ts'
import { plainEvent } from '../cache/event-log.ts'
import { storageRange } from '../cache/keys.ts'
import { failuresOf, unwatchable } from '../cache/unreadable.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate, type Representation, requireStream } from './negotiate.ts'
import { type ListQuery, listOptions } from './options.ts'
import { frameEncoder, messageForm } from './protobuf.ts'
import { includedInRows, META_V1, metadataForm, tableOf, warningHeaders } from './respond.ts'
import { selectConverted } from './select-converted.ts'
import { selectionOf } from './selectors.ts'
import { checkResourceVersion, untilReached } from './wait-for-resource-version.ts'

/** undefined: it lasts. None is asked for by 0, the end at once by what is less. */
function endTimer(clock: Clock, seconds: number | undefined, end: () => void): Timer | undefined {
  if (seconds === undefined) return undefined
  const everyMs = seconds * 1000
  const endsAt = clock.now() + everyMs
  return clock.setTimer(everyMs, 'watch timeout', end, { everyMs, nothingBefore: () => endsAt, goesOn: true })
}

export async function handleWatch(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info } = resource
  const { row } = endpoint
  const { runtime } = context
  const representation = negotiate(request, { streams: true, kind: endpoint })
  // Where only the path says that it is a watch its options are judged as a list's.
  const options = listOptions(request.query)
  const selection = selectionOf(row, endpoint.strategy, { ...options, fields: fieldsOf(options, info.name) })
  if (info.name !== '' && selection.name !== undefined && selection.name !== info.name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  const version = checkResourceVersion(options.resourceVersion)
  const withInitial = options.sendInitialEvents ?? version === 0
  if (options.sendInitialEvents === true && version > 0) {
    const late = await untilReached(resource, version).then(() => undefined, refusal)
    // The watch has begun by then.
    if (late !== undefined) {
      requireWatchable(request, representation)
      return ofOneError(resource, representation, late)
    }
  }
  const waiting = options.resourceVersion === '' ? context.caches.fresh(request.signal) : undefined
  if (waiting !== undefined) await waiting

  const cache = context.caches.resource(row.storagePrefix)
  const failures = failuresOf(cache.unreadable())
  if (failures.length > 0) throw unwatchable(row, failures)

  requireWatchable(request, representation)
  const ended = new AbortController()
  const end = () => ended.abort()
  const { clock, random } = runtime
  const spread = request.connection === undefined ? undefined : context.minRequestSeconds * (1 + random.float())
  const timer = endTimer(clock, options.timeoutSeconds || spread, end)
  if (request.signal.aborted || (options.timeoutSeconds ?? 0) < 0) end()
  else request.signal.addEventListener('abort', end, { once: true })
  const { replaced } = endpoint.served
  replaced?.addEventListener('abort', end, { once: true })
  const settle = () => {
    timer?.cancel()
    replaced?.removeEventListener('abort', end)
  }
  ended.signal.addEventListener('abort', settle, { once: true })

  const metadataOnly = representation.shape === 'metadata'
  const converted = selectConverted(selection, endpoint.served)
  const asked = converted?.before ?? selection
  const partial = metadataOnly ? metadataForm(representation.shapeVersion || META_V1).convert : undefined
  const form = converted === undefined ? formOf(resource, representation) : undefined
  const events = cache.watch({
    prefix: storageRange(row, row.namespaced ? info.namespace : ''),
    from: withInitial ? 'initial' : version === 0 ? 'now' : version,
    ...(asked.all ? {} : { selection: asked }),
    ...(converted === undefined ? {} : { withPrevious: true }),
    bookmarks: options.allowWatchBookmarks,
    initialEventsEnd: options.allowWatchBookmarks && options.watch,
    ...(form === undefined ? {} : { form }),
    kind: metadataOnly ? 'PartialObjectMetadata' : row.kind,
    apiVersion: metadataOnly ? representation.shapeVersion : apiVersionOf(row.group, row.version),
    ...(metadataOnly ? {} : { written: endpoint.reader.written }),
    signal: ended.signal,
  })
  const encode = counted(resource, encoderOf(resource, representation))
  return {
    kind: 'watch',
    status: 200,
    ...warningHeaders(resource.warnings),
    contentType: representation.encoding === 'protobuf' ? PROTOBUF_WATCH : 'application/json',
    events: representation.asList
      ? untilFirstObject(events, end)
      : (converted?.events(events, partial) ?? throughWebhook(resource, events)),
    encode,
  }
}

/** That its events can be written, which is told before the first one. @throws StatusError 400, 406 */
function requireWatchable(request: ApiRequest, representation: Representation): void {
  if (representation.shape === 'table') includedInRows(request)
  requireStream(representation)
}

/** A watch of one object is one of its name, unless the request says itself which names it is about. */
function fieldsOf({ fields }: ListQuery, name: string): readonly FieldTerm[] {
  if (name === '' || fields.some(({ field }) => field === 'metadata.name')) return fields
  return [...fields, { field: 'metadata.name', value: name, negated: false }]
}

/** No object is a list of metadata: such a watch ends without a word where its first event would be. */
function untilFirstObject(events: StreamReader<WatchEvent>, end: () => void): StreamReader<WatchEvent> {
  return {
    async next() {
      const event = await events.next()
      if (event === undefined || event.type === 'ERROR') return event
      end()
      return undefined
    },
    drain: () => [],
    get closed() {
      return events.closed
    },
    close: (error) => events.close(error),
  }
}

/** @throws what is no StatusError */
function refusal(error: unknown): StatusError {
  if (!(error instanceof StatusError)) throw error
  return error
}

function ofOneError(resource: ResourceRequest, representation: Representation, error: StatusError): ApiResponse {
  const events = new Stream<WatchEvent>()
  events.push(plainEvent('ERROR', asKubeObject(error.toStatus())))
  events.close()
  return {
    kind: 'watch',
    status: 200,
    ...warningHeaders(resource.warnings),
    contentType: representation.encoding === 'protobuf' ? PROTOBUF_WATCH : 'application/json',
    events,
    encode: encoderOf(resource, representation),
  }
}

/** Bytes: those of kube-apiserver. */
const SIZES = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072]

/** Counts events, and their sizes, as they are sent. */
function counted(
  { context: { runtime }, endpoint }: ResourceRequest,
  encode: (event: WatchEvent) => Uint8Array,
): (event: WatchEvent) => Uint8Array {
  const { row } = endpoint
  const { metrics } = runtime
  if (metrics === undefined) return encode
  const labels = ['group', 'version', 'resource']
  const what = [row.group, row.version, row.resource]
  const total = metrics.counter('apiserver_watch_events_total', 'Events sent to watchers.', labels).child(...what)
  const sizes = metrics
    .histogram('apiserver_watch_events_sizes', 'Sizes of events sent to watchers, in bytes.', labels, SIZES)
    .child(...what)
  return (event) => {
    const bytes = encode(event)
    total.add()
    sizes.observe(bytes.byteLength)
    return bytes
  }
}

/** Events in the row's version where only a webhook can give it: one after the other, in their order. */
function throughWebhook(
  { endpoint: { served } }: ResourceRequest,
  events: StreamReader<WatchEvent>,
): StreamReader<WatchEvent> {
  if (!served.byWebhook) return events
  return {
    async next() {
      const event = await events.next()
      if (event === undefined || event.type === 'BOOKMARK' || event.type === 'ERROR') return event
      const object = await served.object(event.object)
      return object === event.object ? event : { type: event.type, object }
    },
    drain: () => [],
    get closed() {
      return events.closed
    },
    close: (error) => events.close(error),
  }
}

/** The form in which the caches keep events for watchers like this one; undefined for objects as they are stored. */
function formOf({ endpoint: { served } }: ResourceRequest, representation: Representation): ServedForm | undefined {
  if (representation.shape === 'metadata') return metadataForm(representation.shapeVersion || META_V1)
  return served.byWebhook ? undefined : served.form
}

function encoderOf(resource: ResourceRequest, representation: Representation): (event: WatchEvent) => Uint8Array {
  const { context, request, endpoint } = resource
  const { row } = endpoint
  if (representation.encoding === 'protobuf')
    return frameEncoder(
      representation.shape === 'metadata'
        ? messageForm(representation.shapeVersion, 'PartialObjectMetadata')
        : messageForm(apiVersionOf(row.group, row.version), row.kind),
    )
  if (representation.shape !== 'table') return lineOf
  let withColumns = true
  return (event) => {
    if (event.type === 'ERROR') return lineOf(event)
    const { resourceVersion } = event.object.metadata
    const metadata = resourceVersion === undefined ? {} : { resourceVersion }
    const table = tableOf(context, request, endpoint, [event.object], metadata, representation, { withColumns })
    withColumns = false
    return lineOf({ type: event.type, object: table })
  }
}

function lineOf(event: WatchEvent): Uint8Array {
  return event.json?.() ?? Buffer.from(`${jsonText({ type: event.type, object: event.object })}\n`)
}
