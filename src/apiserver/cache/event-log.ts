/**
 * The event log of one resource: what happened lately, in revision order, shared by all its watchers. A watcher is a cursor
 * into it; a watcher that falls off its old end is disconnected, so a slow one costs no memory. What is older than the log is in
 * storage's history.
 */
import type { KubeObject } from '../../api/object.ts'
import type { StoredObject, WatchEvent } from '../../api/request.ts'
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
  /** They, and what was made of the state before, are made again for a watcher that asks later. */
  forgetEvents(): void
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
  /** Gives up what is too old at `now`. Whether changes are left that will be too old some time. */
  trim(now: number): boolean
  /** Gives up all but the newest. */
  shrink(): void
}

const MAX_CHANGES = 16_384
const MAX_BYTES = 16 << 20
/** Kept whatever their age, and for how long they are kept beyond that. */
const MIN_CHANGES = 128
export const MAX_AGE_MS = 75_000
/** As many of the newest changes keep their events as encoded for watchers: most watchers have been told by then. */
const MADE_EVENTS = 512

/** `evicted` is given each change that the log no longer has. */
export function createEventLog(startRevision: number, evicted: (change: Change) => void = () => {}): EventLog {
  let changes: (Change | undefined)[] = []
  let head = 0
  let first = 0
  let floor = startRevision
  let bytes = 0

  const sizeOf = (change: Change) => change.entry?.size ?? change.previous?.size ?? 0

  function trim(now: number, maxChanges = MAX_CHANGES): void {
    for (;;) {
      const count = changes.length - head
      const oldest = changes[head]
      if (count <= 1 || !oldest) break
      const expired = count > MIN_CHANGES && now - oldest.time > MAX_AGE_MS
      if (count <= maxChanges && bytes <= MAX_BYTES && !expired) break
      bytes -= sizeOf(oldest)
      floor = oldest.revision
      changes[head++] = undefined
      first++
      evicted(oldest)
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
      changes[changes.length - 1 - MADE_EVENTS]?.forgetEvents()
      bytes += sizeOf(change)
      trim(change.time)
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
    trim(now) {
      trim(now)
      // Events that are kept whatever their age are not told again but with what comes.
      for (let i = head; i < changes.length; i++) changes[i]?.forgetEvents()
      return changes.length - head > MIN_CHANGES
    },
    shrink() {
      trim(Number.NEGATIVE_INFINITY, MIN_CHANGES)
      for (let i = head; i < changes.length; i++) changes[i]?.forgetEvents()
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
  return new LoggedChange(key, revision, entry, previous, time)
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** A class, because the log has thousands. */
class LoggedChange implements Change {
  readonly key: string
  readonly revision: number
  readonly entry: CacheEntry | undefined
  readonly previous: CacheEntry | undefined
  readonly time: number
  /** The event of objects as they are stored, as most watchers see it. */
  #usual: WatchEvent | undefined
  #others: Map<ServedForm | undefined, Map<string, WatchEvent>> | undefined
  #lastState: CacheEntry | undefined

  constructor(
    key: string,
    revision: number,
    entry: CacheEntry | undefined,
    previous: CacheEntry | undefined,
    time: number,
  ) {
    this.key = key
    this.revision = revision
    this.entry = entry
    this.previous = previous
    this.time = time
  }

  event(type: EventType, form: ServedForm | undefined): WatchEvent {
    if (form === undefined && (this.#usual === undefined || this.#usual.type === type)) {
      this.#usual ??= this.#make(type, undefined)
      return this.#usual
    }
    this.#others ??= new Map()
    let byType = this.#others.get(form)
    if (!byType) {
      byType = new Map()
      this.#others.set(form, byType)
    }
    let event = byType.get(type)
    if (!event) {
      event = this.#make(type, form)
      byType.set(type, event)
    }
    return event
  }

  forgetEvents(): void {
    this.#usual = undefined
    this.#others = undefined
    this.#lastState = undefined
    this.previous?.forgetTrimmed()
  }

  #make(type: EventType, form: ServedForm | undefined): WatchEvent {
    // DELETED, also for one that no longer matches a selector: the last state that matched, as of this revision.
    if (type === 'DELETED') this.#lastState ??= this.previous?.at(this.revision)
    const state = type === 'DELETED' ? this.#lastState : this.entry
    if (!state) throw new Error(`the change of ${this.key} at ${this.revision} cannot be told as ${type}`)
    return watchEventOf(type, form ? state.as(form) : state)
  }
}

/** An event whose line is encoded at most once. */
export function watchEventOf(type: WatchEvent['type'], entry: CacheEntry): WatchEvent {
  return new EntryEvent(type, entry)
}

class EntryEvent implements WatchEvent {
  readonly type: WatchEvent['type']
  readonly #entry: CacheEntry
  #line: Uint8Array | undefined
  #frame: Uint8Array | undefined

  constructor(type: WatchEvent['type'], entry: CacheEntry) {
    this.type = type
    this.#entry = entry
  }

  get object(): KubeObject {
    return this.#entry.object
  }

  get trimmed(): KubeObject {
    return this.#entry.trimmed
  }

  json(): Uint8Array {
    this.#line ??= eventLine(this.type, this.#entry.json('full'))
    return this.#line
  }

  frame(encode: (type: WatchEvent['type'], stored: StoredObject) => Uint8Array): Uint8Array {
    this.#frame ??= encode(this.type, this.#entry)
    return this.#frame
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
