/**
 * Event recorder: what components tell users about objects. Repeats are counted on one Event, floods of similar events are
 * combined, and an object that is talked about too much is not heard for a while (the correlation of client-go).
 */
import type { KubeObject } from '../api/object.ts'
import { isAlreadyExists, isNamespaceTerminating, StatusError } from '../api/status.ts'
import { formatTime, sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from './client.ts'
import { type CoreEvent, type Correlation, createCorrelation } from './event-correlation.ts'
import { createEventSeries } from './event-series.ts'

export interface EventSource {
  /** `replicaset-controller`; for events.k8s.io the reporting controller. */
  readonly component: string
  readonly host?: string
}

export interface EventOptions {
  readonly annotations?: Readonly<Record<string, string>>
  /** events.k8s.io: what was being done (`Scheduling`, `Binding`); default: the reason. */
  readonly action?: string
  /** events.k8s.io: a second object that has to do with it. */
  readonly related?: KubeObject
}

/** What an event is about: an object, or as much of one as is known. */
export interface EventSubject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly creationTimestamp?: string | null
  }
  readonly fieldPath?: string
}

export interface EventRecorder {
  /** Returns at once; the event is written soon, or dropped when the server refuses it. */
  event(
    regarding: EventSubject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    options?: EventOptions,
  ): void
}

const coreEvents = { group: '', version: 'v1', resource: 'events' }
const newEvents = { group: 'events.k8s.io', version: 'v1', resource: 'events' }
const unansweredTries = 12
const unansweredWaitMs = 10_000

/** How many Events are written at most; the others wait. */
export interface EventLimits {
  readonly perSecond: number
  /** So many at once before that. */
  readonly burst: number
}

/** What a kubelet has by --event-qps and --event-burst, and a scheduler's client: a flood of Events keeps no pod waiting. */
export const USUAL_LIMITS: EventLimits = { perSecond: 50, burst: 100 }
/** Further ones are dropped: an Event that comes so late is of no use. */
const MOST_WAITING = 1000

/** `api` chooses the Event written: core/v1 (controllers, kubelet) or events.k8s.io/v1 (the scheduler). */
export function createEventRecorder(
  runtime: Runtime,
  client: Client,
  source: EventSource,
  api: 'v1' | 'events.k8s.io/v1' = 'v1',
  limits?: EventLimits,
  correlation: Correlation = createCorrelation(runtime.clock),
): EventRecorder {
  const { clock, log } = runtime
  const eventName = createEventNames(`${source.component} ${source.host ?? ''}`)
  const series = createEventSeries(runtime, source, eventName, (task) => write(() => task(client.resource(newEvents))))
  const waiting: (() => Promise<void>)[] = []
  let writing = false
  let tokens = limits?.burst ?? 0
  let tokensAt = clock.monotonic()

  return {
    event(regarding, type, reason, message, options = {}) {
      const now = clock.now()
      const reference = objectReference(regarding)
      if (api !== 'v1') {
        series.record(reference, type, reason, message, options, now)
        return
      }
      const build = (): CoreEvent => ({
        kind: 'Event',
        apiVersion: 'v1',
        metadata: {
          name: eventName(reference.name, now),
          namespace: reference.namespace ?? 'default',
          ...(options.annotations ? { annotations: options.annotations } : {}),
        },
        involvedObject: reference,
        reason,
        message,
        source: { component: source.component, ...(source.host ? { host: source.host } : {}) },
        firstTimestamp: formatTime(now),
        lastTimestamp: formatTime(now),
        count: 1,
        type,
        eventTime: null,
        reportingComponent: source.component,
        reportingInstance: source.host ?? '',
      })
      // Made when its turn comes: the caller does not wait for it.
      let built: CoreEvent | undefined
      const createdAt = regarding.metadata.creationTimestamp ?? undefined
      write(async () => {
        if (correlation.endsWith(reference.namespace ?? '', createdAt)) return
        built ??= build()
        const event = built
        const outcome = correlation.correlate(event)
        if (outcome === undefined) return
        const events = client.resource<CoreEvent>(coreEvents).namespace(event.metadata.namespace ?? 'default')
        if (outcome.patch !== undefined) {
          try {
            outcome.written(await events.patch(outcome.event.metadata.name ?? '', 'strategic', outcome.patch))
            return
          } catch (error) {
            if (!(error instanceof StatusError) || error.code !== 404) throw error
          }
        }
        const { resourceVersion: _, ...metadata } = outcome.event.metadata
        const create = (own: KubeObject['metadata']) => events.create({ ...outcome.event, metadata: own })
        try {
          outcome.written(await create(metadata))
        } catch (error) {
          if (isNamespaceTerminating(error)) correlation.refused(event.metadata.namespace ?? '')
          if (!isAlreadyExists(error)) throw error
          // Another component said something about the same object at the same instant.
          outcome.written(await create({ ...metadata, name: eventName(reference.name, clock.now()) }))
        }
      })
    },
  }

  function write(task: () => Promise<void>) {
    if (waiting.length >= MOST_WAITING) {
      log.info(2, 'Event dropped, too many wait to be written', { component: source.component })
      return
    }
    waiting.push(task)
    if (!writing) {
      writing = true
      runtime.scheduler.handOver(`events ${source.component}`, () => void drain())
    }
  }

  /** Milliseconds until one more may be written. */
  function takeToken({ perSecond, burst }: EventLimits): number {
    const now = clock.monotonic()
    tokens = Math.min(burst, tokens + ((now - tokensAt) / 1000) * perSecond) - 1
    tokensAt = now
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000
  }

  async function drain() {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const wait = limits === undefined ? 0 : takeToken(limits)
      if (wait > 0) await sleep(clock, wait)
      for (let tries = 1; ; tries++) {
        try {
          await task()
          break
        } catch (error) {
          if (error instanceof StatusError || tries >= unansweredTries) {
            log.info(4, 'Event rejected', { err: String(error) })
            break
          }
          await sleep(clock, unansweredWaitMs)
        }
      }
    }
    writing = false
  }
}

export interface ObjectReference {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
  readonly apiVersion: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

export function objectReference(subject: EventSubject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = subject.metadata
  return {
    kind: subject.kind,
    ...(namespace ? { namespace } : {}),
    name: name ?? '',
    ...(uid ? { uid } : {}),
    apiVersion: subject.apiVersion,
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(subject.fieldPath ? { fieldPath: subject.fieldPath } : {}),
  }
}

export type EventNames = (name: string, nowMs: number) => string

/**
 * `name.17a2b3c4d5e6f708`: the object's name and the nanoseconds, in hex; never the same twice. Clocks do not tell the last three
 * digits of them: they are the recorder's own, since of two Events of one name and instant the second would be refused.
 */
function createEventNames(recorder: string): EventNames {
  let digits = 0
  for (const character of recorder) digits = (digits * 31 + (character.codePointAt(0) ?? 0)) % 1000
  const offset = BigInt(digits)
  let last = 0n
  return (name, nowMs) => {
    const nanos = BigInt(Math.floor(nowMs * 1000)) * 1000n + offset
    last = nanos > last ? nanos : last + 1n
    return `${name}.${last.toString(16)}`
  }
}
