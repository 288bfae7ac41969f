/**
 * What becomes of a core/v1 Event before it is written: dropped as spam, combined with similar ones, or counted. What was told
 * is kept by the object that it was told about and by whether it is a warning, of so many of these: of each the few kinds of Events, and their messages.
 */

import type { Event } from '../api/generated/types.ts'
import type { JsonObject } from '../api/object.ts'
import type { Clock } from '../base/clock.ts'
import { formatTime } from '../base/clock.ts'
import { createLruMap } from '../base/lru.ts'

const spamBurst = 25
const spamPerMs = 1 / 300_000
/** From the tenth different message of one kind within ten minutes on, they share one Event. */
const similarEvents = 10
const similarIntervalMs = 600_000
/** Subjects, kinds of Events of one, and Events of one kind that are remembered; the oldest go. */
const mostSubjects = 4096
const mostKinds = 64
/** Namespaces that refused an Event because they end, and for how long that is remembered. */
const mostEnding = 256
const endingMs = 60_000
const mostWritten = 32

/** A core/v1 Event, as it is written: null says that it has no eventTime. */
export type CoreEvent = Omit<Event, 'eventTime'> & { readonly eventTime?: string | null }

/** An Event that was written, and is counted when it comes again. */
interface Written {
  /** undefined: the one that combines similar ones. */
  readonly message: string | undefined
  readonly fieldPath: string | undefined
  count: number
  firstTimestamp: string
  name: string
}

/** Events of one object that differ in their messages alone. */
interface Kind {
  readonly type: string
  readonly reason: string
  readonly component: string
  readonly instance: string
  /** Different ones of late. */
  messages: readonly string[]
  at: number
  written: readonly Written[]
}

/** What is told of an object by one source, as warnings or not: each of the two has its share of Events. */
interface Subject {
  tokens: number
  at: number
  kinds: readonly Kind[]
}

export interface CorrelatedEvent {
  readonly event: CoreEvent
  /** When the Event exists already: the strategic merge patch that counts it once more. */
  readonly patch: JsonObject | undefined
  /** Called with the server's answer. */
  readonly written: (event: CoreEvent) => void
}

export interface Correlation {
  /** undefined: spam, not written. */
  correlate(event: CoreEvent): CorrelatedEvent | undefined
  /** The namespace has refused an Event now, because it ends. */
  refused(namespace: string): void
  /**
   * Whether that is known of an object's namespace, which goes with all that was created in it before: it would refuse this one too. What was created
   * later is in another namespace of that name.
   */
  endsWith(namespace: string, creationTimestamp: string | undefined): boolean
}

/** Several recorders may share one: what each tells is its own by its source. */
export function createCorrelation(clock: Clock, most = mostSubjects): Correlation {
  const subjects = createLruMap<string, Subject>(most)
  const ending = createLruMap<string, number>(mostEnding)

  function subjectOf({ source, involvedObject, type }: CoreEvent, now: number): Subject {
    const { kind, namespace, name, uid, apiVersion } = involvedObject
    const key = `${source?.component} ${source?.host} ${apiVersion} ${kind} ${namespace}/${name} ${uid} ${type}`
    let subject = subjects.get(key)
    if (subject === undefined) {
      subject = { tokens: spamBurst, at: now, kinds: [] }
      subjects.set(key, subject)
    }
    return subject
  }

  return {
    refused(namespace) {
      ending.set(namespace, clock.now())
    },
    endsWith(namespace, creationTimestamp) {
      const at = ending.get(namespace)
      if (at === undefined || creationTimestamp === undefined || clock.now() - at > endingMs) return false
      // Timestamps leave out what is less than a second.
      return Date.parse(creationTimestamp) + 1000 <= at
    },
    correlate(event) {
      const now = clock.now()
      const subject = subjectOf(event, now)
      const kind = kindOf(subject, event, now)
      const isCombined = isOneOfMany(kind, event.message ?? '', now)
      let candidate = isCombined ? combined(event) : event
      const message = isCombined ? undefined : event.message
      const fieldPath = isCombined ? undefined : event.involvedObject.fieldPath
      let own = kind.written.find((one) => one.message === message && one.fieldPath === fieldPath)
      let patch: JsonObject | undefined
      if (own === undefined) {
        own = { message, fieldPath, count: 1, firstTimestamp: '', name: '' }
        kind.written = withNewest(kind.written, own, mostWritten)
      } else {
        const count = own.count + 1
        const { name, firstTimestamp } = own
        candidate = { ...candidate, metadata: { ...candidate.metadata, name }, firstTimestamp, count }
        patch = { count, lastTimestamp: formatTime(now), message: candidate.message }
      }
      const observed = own
      const observe = (written: CoreEvent) => {
        observed.count = written.count ?? 1
        observed.firstTimestamp = written.firstTimestamp ?? formatTime(now)
        observed.name = written.metadata.name ?? ''
      }
      observe(candidate)
      return isHeard(subject, now) ? { event: candidate, patch, written: observe } : undefined
    },
  }
}

function kindOf(
  subject: Subject,
  { type = '', reason = '', reportingComponent: component, reportingInstance: instance }: CoreEvent,
  now: number,
): Kind {
  let kind = subject.kinds.find(
    (one) => one.reason === reason && one.type === type && one.component === component && one.instance === instance,
  )
  if (kind === undefined) {
    kind = { type, reason, component, instance, messages: [], at: now, written: [] }
    subject.kinds = withNewest(subject.kinds, kind, mostKinds)
  }
  return kind
}

function isOneOfMany(kind: Kind, message: string, now: number): boolean {
  if (now - kind.at > similarIntervalMs) kind.messages = []
  kind.at = now
  if (!kind.messages.includes(message)) kind.messages = kind.messages.concat([message])
  if (kind.messages.length < similarEvents) return false
  kind.messages = kind.messages.slice(1)
  return true
}

function combined(event: CoreEvent): CoreEvent {
  const { reportingComponent: _c, reportingInstance: _i, ...rest } = event
  return {
    ...rest,
    message: `(combined from similar events): ${event.message}`,
    count: 1,
    reportingComponent: '',
    reportingInstance: '',
  }
}

/** A new list, joined of two: one that grows, in place or as a literal, keeps room for sixteen more. */
const withNewest = <T>(list: readonly T[], item: T, most: number): readonly T[] =>
  (list.length < most ? list : list.slice(1)).concat([item])

function isHeard(subject: Subject, now: number): boolean {
  subject.tokens = Math.min(spamBurst, subject.tokens + (now - subject.at) * spamPerMs)
  subject.at = now
  if (subject.tokens < 1) return false
  subject.tokens -= 1
  return true
}
