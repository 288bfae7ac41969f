/**
 * The event log of one resource: what happened lately, in revision order, shared by all its watchers. A watcher is a cursor
 * into it; whoever falls off its old end is disconnected, so a slow one costs no memory. What is older than the log is in
 * storage's history.
 */
import type { KubeObject } from '../../api/object.ts'
import type { WatchEvent } from '../../api/request.ts'
import type { CacheEntry, ServedForm } from './entry.ts'

/** One change of one object. */
export interface Change {
  readonly key: string
  readonly revision: number
  /** undefined: deleted. */
  readonly entry: CacheEntry | undefined
  /** undefined: created. */
  readonly previous: CacheEntry | undefined
  readonly time: number
  /** The event as watchers of one form see it; made once for all of them. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', form: ServedForm | undefined): WatchEvent
}

export interface EventLog {
  /** Sequence number of the oldest change kept, and the one after the newest. */
  readonly first: number
  readonly end: number
  /** Every change with a higher revision is in the log. */
  readonly floor: number
  append(change: Change): void
  at(sequence: number): Change
  /** The sequence number of the first change with a higher revision. */
  after(revision: number): number
}

const MAX_CHANGES = 16_384
const MAX_BYTES = 32 << 20
/** Kept whatever their age, and for how long they are kept beyond that. */
const MIN_CHANGES = 128
const MAX_AGE_MS = 75_000

export function createEventLog(startRevision: number): EventLog {
  let changes: Change[] = []
  let head = 0
  let first = 0
  let floor = startRevision
  let bytes = 0

  const sizeOf = (change: Change) => change.entry?.size ?? change.previous?.size ?? 0

  function evict(now: number): void {
    for (;;) {
      const count = changes.length - head
      const oldest = changes[head]
      if (count <= 1 || !oldest) break
      const expired = count > MIN_CHANGES && now - oldest.time > MAX_AGE_MS
      if (count <= MAX_CHANGES && bytes <= MAX_BYTES && !expired) break
      bytes -= sizeOf(oldest)
      floor = oldest.revision
      head++
      first++
    }
    if (head > 1024 && head * 2 > changes.length) {
      changes = changes.slice(head)
      head = 0
    }
  }

  return {
    get first() {
      return first
    },
    get end() {
      return first + changes.length - head
    },
    get floor() {
      return floor
    },
    append(change) {
      changes.push(change)
      bytes += sizeOf(change)
      evict(change.time)
    },
    at: (sequence) => changes[head + sequence - first] as Change,
    after(revision) {
      let low = head
      let high = changes.length
      while (low < high) {
        const middle = (low + high) >> 1
        if (changes[middle]!.revision > revision) high = middle
        else low = middle + 1
      }
      return first + low - head
    },
  }
}

export function createChange(
  key: string,
  revision: number,
  entry: CacheEntry | undefined,
  previous: CacheEntry | undefined,
  time: number,
): Change {
  let usual: WatchEvent | undefined
  let usualType = ''
  let others: Map<ServedForm | undefined, Map<string, WatchEvent>> | undefined
  let lastState: CacheEntry | undefined

  function make(type: 'ADDED' | 'MODIFIED' | 'DELETED', form: ServedForm | undefined): WatchEvent {
    // DELETED, also for one that no longer matches a selector: the last state that matched, as of this revision.
    if (type === 'DELETED') lastState ??= previous?.at(revision)
    const state = type === 'DELETED' ? lastState : entry
    if (!state) throw new Error(`the change of ${key} at ${revision} cannot be told as ${type}`)
    return eventOf(type, form ? state.as(form) : state)
  }

  return {
    key,
    revision,
    entry,
    previous,
    time,
    event(type, form) {
      if (form === undefined && (usual === undefined || usualType === type)) {
        usualType = type
        usual ??= make(type, undefined)
        return usual
      }
      others ??= new Map()
      let byType = others.get(form)
      if (!byType) {
        byType = new Map()
        others.set(form, byType)
      }
      let event = byType.get(type)
      if (!event) {
        event = make(type, form)
        byType.set(type, event)
      }
      return event
    },
  }
}

/** An event whose line is encoded at most once. */
export function eventOf(type: WatchEvent['type'], entry: CacheEntry): WatchEvent {
  let line: Uint8Array | undefined
  let frame: Uint8Array | undefined
  return {
    type,
    get object() {
      return entry.object
    },
    json() {
      line ??= eventLine(type, entry.json('full'))
      return line
    },
    frame(encode) {
      frame ??= encode(type, entry)
      return frame
    },
  }
}

/** An event about no stored object: a bookmark, an error. */
export function plainEvent(type: WatchEvent['type'], object: KubeObject): WatchEvent {
  return { type, object, json: () => eventLine(type, Buffer.from(JSON.stringify(object))) }
}

const LINE_END = Buffer.from('}\n')
const lineStart = (type: WatchEvent['type']) => Buffer.from(`{"type":"${type}","object":`)
const LINE_STARTS = {
  ADDED: lineStart('ADDED'),
  MODIFIED: lineStart('MODIFIED'),
  DELETED: lineStart('DELETED'),
  BOOKMARK: lineStart('BOOKMARK'),
  ERROR: lineStart('ERROR'),
}

function eventLine(type: WatchEvent['type'], object: Uint8Array): Buffer {
  const start = LINE_STARTS[type]
  const line = Buffer.allocUnsafeSlow(start.length + object.length + LINE_END.length)
  start.copy(line, 0)
  line.set(object, start.length)
  LINE_END.copy(line, start.length + object.length)
  return line
}
