/** What becomes of a core/v1 Event before it is written: dropped as spam, combined with similar ones, or counted. */

import type { JsonObject, KubeObject } from '../api/object.ts'
import type { Clock } from '../base/clock.ts'
import { formatTime } from '../base/clock.ts'
import { createLruMap, type LruMap } from '../base/lru.ts'

const spamBurst = 25
const spamPerMs = 1 / 300_000
/** From the tenth different message of one kind within ten minutes on, they share one Event. */
const similarEvents = 10
const similarIntervalMs = 600_000
const cacheSize = 4096

interface Observation {
  readonly count: number
  readonly firstTimestamp: string
  readonly name: string
}

export interface Correlation {
  readonly clock: Clock
  readonly buckets: LruMap<string, { tokens: number; at: number }>
  readonly similar: LruMap<string, { messages: Set<string>; at: number }>
  readonly seen: LruMap<string, Observation>
}

export interface CorrelatedEvent {
  readonly event: KubeObject
  /** When the Event exists already: the strategic merge patch that counts it once more. */
  readonly patch: JsonObject | undefined
  /** Called with the server's answer. */
  readonly written: (event: KubeObject) => void
}

export function createCorrelation(clock: Clock): Correlation {
  return {
    clock,
    buckets: createLruMap(cacheSize),
    similar: createLruMap(cacheSize),
    seen: createLruMap(cacheSize),
  }
}

/** undefined: spam, not written. */
export function correlate(state: Correlation, event: KubeObject): CorrelatedEvent | undefined {
  const now = state.clock.now()
  const object = event['involvedObject']
  const source = event['source']
  const sourceKey = [
    source.component,
    source.host,
    object.kind,
    object.namespace,
    object.name,
    object.uid,
    object.apiVersion,
  ]
  const groupKey = [
    ...sourceKey,
    event['type'],
    event['reason'],
    event['reportingComponent'],
    event['reportingInstance'],
  ]
  const aggregateKey = JSON.stringify(groupKey)

  let candidate = event
  let key = JSON.stringify([...groupKey, object.fieldPath, event['message']])
  let similar = state.similar.get(aggregateKey)
  if (similar === undefined || now - similar.at > similarIntervalMs) similar = { messages: new Set(), at: now }
  similar.at = now
  similar.messages.add(event['message'])
  state.similar.set(aggregateKey, similar)
  if (similar.messages.size >= similarEvents) {
    similar.messages.delete(similar.messages.values().next().value as string)
    key = aggregateKey
    const { reportingComponent: _c, reportingInstance: _i, ...rest } = event
    candidate = {
      ...(rest as KubeObject),
      message: `(combined from similar events): ${event['message']}`,
      count: 1,
      reportingComponent: '',
      reportingInstance: '',
    }
  }

  let patch: JsonObject | undefined
  const last = state.seen.get(key)
  if (last !== undefined) {
    const count = last.count + 1
    candidate = {
      ...candidate,
      metadata: { ...candidate.metadata, name: last.name },
      firstTimestamp: last.firstTimestamp,
      count,
    }
    patch = { count, lastTimestamp: formatTime(now), message: candidate['message'] }
  }
  const observe = (observed: KubeObject) =>
    state.seen.set(key, {
      count: observed['count'] ?? 1,
      firstTimestamp: observed['firstTimestamp'] ?? formatTime(now),
      name: observed.metadata.name ?? '',
    })
  observe(candidate)
  return admitted(state, JSON.stringify(sourceKey), now) ? { event: candidate, patch, written: observe } : undefined
}

function admitted(state: Correlation, key: string, now: number): boolean {
  const bucket = state.buckets.get(key) ?? { tokens: spamBurst, at: now }
  bucket.tokens = Math.min(spamBurst, bucket.tokens + (now - bucket.at) * spamPerMs)
  bucket.at = now
  state.buckets.set(key, bucket)
  if (bucket.tokens < 1) return false
  bucket.tokens -= 1
  return true
}
