/** skiff timeline --record: watches a cluster that keeps no journal until an object has gone, and makes one of what was seen. */
import type { Event, ObjectReference } from '../../api/generated/types.ts'
import type { Given } from '../../api/object.ts'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { createClient, type Transport } from '../../client/transport.ts'
import { createClusterReader } from '../cluster-reader.ts'
import { type Kinds, readKinds } from '../kinds.ts'
import { type QuestionTarget, servedResource } from '../question.ts'
import { readAuditLog } from './audit-log.ts'
import { recordsOf } from './recorded.ts'
import type { RecordedRecord, TellingEvent } from './seen.ts'
import { type Watched, watchCluster } from './watch.ts'

export interface Recording {
  readonly runtime: Runtime
  readonly transport: Transport
  readonly userAgent: string
  /** Without one everything in the namespace is recorded. */
  readonly target?: QuestionTarget
  /** '': all. Of a target that is in one, that. */
  readonly namespace: string
  /** What the audit log has got since the recording began; asked for when it is over. */
  readonly auditLog?: () => string
  /** Ends it: what was seen by then is told. */
  readonly signal: AbortSignal
  /** Told once all that can be watched is, and of each kind that is watched later. */
  say(text: string): void
}

export interface Recorded {
  readonly kinds: Kinds
  readonly records: readonly RecordedRecord[]
  /** Lines about what could not be seen. */
  readonly unseen: readonly string[]
}

/** How long no first list may have come, and nothing have changed, for that to be over, in milliseconds. */
const FIRST_LISTS_MS = 3_000
const QUIET_MS = 3_000
const LOOK_MS = 100
const REQUEST_MS = 10_000
/** How often it is asked what is served, and how much longer than an answer took it waits for the next. */
const KINDS_MS = 1_000
const KINDS_SHARE = 20

/** @throws QuestionError; Error when the cluster cannot be asked what it serves */
export async function recordCluster(recording: Recording): Promise<Recorded> {
  const { runtime, transport, userAgent, target, signal, say } = recording
  const { clock } = runtime
  const limits = { budget: 100, requestMs: REQUEST_MS, totalMs: Number.POSITIVE_INFINITY, userAgent }
  const reader = createClusterReader(clock, transport, limits)
  let kinds = await readKinds(reader)
  const wanted = target === undefined ? undefined : servedResource(kinds, target.kind)
  const isSpace = wanted?.group === '' && wanted.resource === 'namespaces'
  const namespace =
    target === undefined ? recording.namespace : isSpace ? target.name : wanted?.namespaced ? target.namespace : ''
  const stop = new AbortController()
  const ends = AbortSignal.any([signal, stop.signal])
  const client = createClient(runtime, transport, { userAgent })
  let hasBegun = false
  const watched = watchCluster(runtime, client, kinds.resources, namespace, ends, (kind) => {
    if (hasBegun) say(`watching ${kind} too`)
  })
  try {
    await firstLists(runtime, watched, ends)
    const unwatched = watched.unwatched()
    const place = namespace === '' ? 'the whole cluster' : `namespace ${namespace}`
    say(`watching ${place}${target === undefined ? '' : untilWords(watched, target, wanted)}; Ctrl-C ends it`)
    hasBegun = true
    void followKinds(recording, ends, (served) => {
      kinds = served
      watched.add(served.resources)
    })
    await until(runtime, () => isOver(runtime, watched, target, wanted), ends)
    const events = await reader.list({ group: '', version: 'v1', resource: 'events' }, { namespace })
    const { writes, unread, unanswered } = readAuditLog(recording.auditLog?.() ?? '')
    return {
      kinds,
      records: recordsOf({
        states: watched.states,
        audited: writes,
        events: events.state === 'found' ? events.value.map(tellingEvent) : [],
      }),
      unseen: [
        ...(unwatched.length === 0 ? [] : [`could not be watched: ${unwatched.join(', ')}`]),
        ...(events.state === 'found' ? [] : [`Events could not be read: ${events.message}`]),
        ...(unread === 0 ? [] : [`${unread} lines of the audit log are no events of audit.k8s.io`]),
        ...(unanswered === 0
          ? []
          : [`of ${unanswered} writes the audit log has no stage ResponseComplete: what became of them is inferred`]),
      ],
    }
  } finally {
    stop.abort()
  }
}

/** Kinds may come to be served while it records: those of a definition, of an aggregated API. Asked for less often the longer it takes. */
async function followKinds(
  { runtime, transport, userAgent }: Recording,
  signal: AbortSignal,
  found: (kinds: Kinds) => void,
): Promise<void> {
  const { clock } = runtime
  let took = 0
  while (!signal.aborted) {
    await sleep(clock, Math.max(KINDS_MS, KINDS_SHARE * took), signal).catch(() => {})
    if (signal.aborted) return
    const began = clock.monotonic()
    const limits = { budget: 1000, requestMs: REQUEST_MS, totalMs: REQUEST_MS, userAgent }
    // A server that does not answer now may do so the next time.
    const kinds = await readKinds(createClusterReader(clock, transport, limits)).catch(() => undefined)
    took = clock.monotonic() - began
    if (kinds !== undefined && !signal.aborted) found(kinds)
  }
}

type Kind = Pick<NamedResource, 'group' | 'resource' | 'namespaced'>

function untilWords(watched: Watched, { kind, name, namespace }: QuestionTarget, resource: Kind | undefined): string {
  const within = resource?.namespaced === true ? namespace : ''
  const isThere = resource !== undefined && watched.isThere(resource.group, resource.resource, within, name)
  return ` until ${kind}/${name}${isThere ? '' : ', which is not there yet,'} has gone`
}

/** What may not be watched never comes: when nothing more has come for a while, there is no more. */
async function firstLists(runtime: Runtime, watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock } = runtime
  let left = -1
  let since = clock.monotonic()
  const isSettled = () => {
    const count = watched.unwatched().length
    if (count !== left) {
      left = count
      since = clock.monotonic()
    }
    return count === 0 || clock.monotonic() - since >= FIRST_LISTS_MS
  }
  await until(runtime, isSettled, signal)
}

/** The object has gone, so has all that was marked meanwhile, and nothing has changed for a while. */
function isOver(
  { clock }: Runtime,
  watched: Watched,
  target: QuestionTarget | undefined,
  kind: Kind | undefined,
): boolean {
  if (target === undefined || kind === undefined) return false
  const within = kind.namespaced ? target.namespace : ''
  if (!watched.hasGone(kind.group, kind.resource, within, target.name)) return false
  return watched.going.size === 0 && clock.monotonic() - watched.changedAt >= QUIET_MS
}

/** Until something is so, or the signal ends it. */
async function until({ clock }: Runtime, condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition() && !signal.aborted) await sleep(clock, LOOK_MS, signal).catch(() => {})
}

/** What an Event says of a controller and what it did. */
export function tellingEvent(event: Given<Event>): TellingEvent {
  const about: ObjectReference = event.involvedObject ?? {}
  return {
    reason: event.reason ?? '',
    message: event.message ?? '',
    component: event.reportingComponent || event.source?.component || '',
    namespace: about.namespace ?? '',
    name: about.name ?? '',
    kind: about.kind ?? '',
  }
}
