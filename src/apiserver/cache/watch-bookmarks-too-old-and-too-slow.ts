/**
 * One watch: a cursor that goes through the initial state, then storage's history as far as the log does not reach back,
 * then the log, or, when its selectors fix something, the changes it was offered. Those are in the log too: one that falls
 * off the log's old end is closed, and its client lists again.
 */
import { asKubeObject, type KubeObject } from '../../api/object.ts'
import type { WatchEvent } from '../../api/request.ts'
import { expired, StatusError } from '../../api/status.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { StreamReader } from '../../base/stream.ts'
import { CompactedError } from '../../storage/storage.ts'
import { addedModifiedOrDeleted } from './added-modified-or-deleted.ts'
import type { CacheEntry, ServedForm } from './entry.ts'
import { type Change, type EventLog, plainEvent, watchEventOf } from './event-log.ts'
import type { Interest, Offered } from './interests.ts'
import type { EntrySelection } from './selected.ts'

export interface CacheWatchOptions {
  /** Only objects whose key begins with this; it lies under the resource's own prefix. Default: all. */
  readonly prefix?: string
  /**
   * A revision: what happened after it. `now`: what happens from now on. `initial`: every object there is, as ADDED, then
   * what happens (resourceVersion unset or 0).
   */
  readonly from: number | 'now' | 'initial'
  /** Label and field selectors. An object that comes to match is ADDED, one that no longer does is DELETED. */
  readonly selection?: EntrySelection
  /** Events tell what was before them, too. */
  readonly withPrevious?: boolean
  /** Send a bookmark about once a minute. */
  readonly bookmarks?: boolean
  /** With `initial`: a bookmark with the annotation k8s.io/initial-events-end after the last of the initial events. */
  readonly initialEventsEnd?: boolean
  /** Not the storage version. */
  readonly form?: ServedForm
  /** Of bookmarks. */
  readonly kind: string
  readonly apiVersion: string
  /** A bookmark as the kind's type writes it, with all that is never left out. */
  readonly written?: (bookmark: KubeObject) => KubeObject
  readonly signal: AbortSignal
}

/** What a watch needs of the cache it belongs to. */
export interface WatchSource {
  readonly runtime: Runtime
  readonly log: EventLog
  /** A watch from before it is too old, whatever the storage remembers. */
  readonly begin: number
  /** Newest revision of the whole cluster that reached the caches. */
  readonly revision: () => number
  /** The entries that may be of it now, in key order: those under its prefix, or what an index finds of them. */
  snapshot(): readonly CacheEntry[]
  /** Changes after a revision out of storage, a page at a time; `revision` is the last one looked at. */
  history(prefix: string, afterRevision: number): Promise<{ changes: readonly Change[]; revision: number }>
  /** Told of every change, or, with an interest, offered those it may be about. */
  add(watcher: Offered, interest: Interest | undefined): void
  remove(watcher: Offered, interest: Interest | undefined): void
}

const BOOKMARK_MS = 60_000
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' }

export function createWatch(
  source: WatchSource,
  prefix: string,
  options: CacheWatchOptions,
  matches: (entry: CacheEntry) => boolean,
  interest: Interest | undefined,
): StreamReader<WatchEvent> & Offered {
  const { log, runtime } = source
  const { form } = options

  let closed = false
  let failure: unknown
  let waiting: { resolve(event: WatchEvent | undefined): void; reject(error: unknown): void } | undefined
  /** Initial objects not yet given. */
  let initial: readonly CacheEntry[] | undefined
  let initialNext = 0
  /** Changes out of history not yet given; `upTo` is where the log takes over. */
  let history: { changes: readonly Change[]; next: number; revision: number; readonly upTo: number } | undefined
  let reading = false
  let cursor = log.end
  /** With an interest the log is read up to here; what comes later is offered. */
  const until = interest === undefined ? Number.POSITIVE_INFINITY : log.end
  /** Changes offered and not yet looked at, the oldest of them with this sequence number. */
  let offered: Change[] = []
  let offeredNext = 0
  let oldestOffered = 0
  /** Changes up to this revision are not for this watch: it began in the future, or its initial state had them. */
  let floor = 0
  let bookmarkDue = false
  let endDue = false
  let bookmarkTimer: Timer | undefined

  if (options.from === 'initial') {
    initial = source.snapshot()
    endDue = options.initialEventsEnd === true
  } else if (typeof options.from === 'number') {
    floor = options.from
    if (options.from >= log.floor) cursor = log.after(options.from)
    else history = { changes: [], next: 0, revision: options.from, upTo: source.revision() }
  }

  const told = (change: Change): WatchEvent | undefined =>
    change.revision <= floor || !change.key.startsWith(prefix)
      ? undefined
      : addedModifiedOrDeleted(change, matches, form, options.withPrevious === true)

  /** The next event there is now. */
  function take(): WatchEvent | undefined {
    while (initial) {
      const entry = initial[initialNext++]
      if (!entry) initial = undefined
      else if (matches(entry)) return watchEventOf('ADDED', form ? entry.as(form) : entry)
    }
    while (history) {
      const change = history.changes[history.next++]
      if (change) {
        const event = change.revision <= history.upTo ? told(change) : undefined
        if (event) return event
      } else if (history.revision < history.upTo) {
        void readHistory(history)
        return undefined
      } else history = undefined
    }
    if (cursor < log.first && cursor < until) {
      // Too slow: what it has not seen is no longer kept.
      close()
      return undefined
    }
    while (cursor < log.end && cursor < until) {
      const event = told(log.at(cursor++))
      if (event) return event
    }
    while (offeredNext < offered.length) {
      const event = told(offered[offeredNext++] as Change)
      if (event) return event
    }
    if (offeredNext > 0) {
      offered = []
      offeredNext = 0
    }
    if (endDue || bookmarkDue) {
      const annotations = endDue ? INITIAL_EVENTS_END : undefined
      bookmarkDue = false
      endDue = false
      return plainEvent('BOOKMARK', bookmark(annotations))
    }
    return undefined
  }

  function bookmark(annotations: Readonly<Record<string, string>> | undefined): KubeObject {
    const resourceVersion = String(Math.max(source.revision(), floor))
    const plain = {
      kind: options.kind,
      apiVersion: options.apiVersion,
      metadata: { resourceVersion, ...(annotations ? { annotations } : {}) },
    }
    return options.written?.(plain) ?? plain
  }

  async function readHistory(page: NonNullable<typeof history>): Promise<void> {
    if (reading) return
    reading = true
    try {
      const next = await source.history(prefix, page.revision)
      history = { ...next, next: 0, upTo: page.upTo }
    } catch (error) {
      history = undefined
      if (closed) return
      const status = error instanceof CompactedError ? tooOld(page.revision, error.compactedRevision) : error
      if (status instanceof StatusError) fail(status)
      else close(error)
    } finally {
      reading = false
    }
    wake()
  }

  /** The error is the watch's last event, as the API has it. */
  function fail(error: StatusError): void {
    const event = plainEvent('ERROR', asKubeObject(error.toStatus()))
    lastEvents.push(event)
    wake()
    close()
  }
  const lastEvents: WatchEvent[] = []

  function armBookmark(): void {
    // Spread, so that not all watches of a cluster are told in the same moment.
    const ms = BOOKMARK_MS * (0.9 + 0.2 * runtime.random.float())
    const bookmark = () => {
      bookmarkDue = true
      wake()
      armBookmark()
    }
    bookmarkTimer = runtime.clock.setTimer(ms, 'watch bookmark', bookmark, {
      everyMs: BOOKMARK_MS,
      isAlone: true,
    })
  }

  function wake(): void {
    if (!waiting) return
    const event = lastEvents.shift() ?? (closed ? undefined : take())
    if (!event || !waiting) return
    const { resolve } = waiting
    waiting = undefined
    resolve(event)
  }

  function close(error?: unknown): void {
    if (closed) return
    closed = true
    failure = error
    initial = undefined
    history = undefined
    offered = []
    offeredNext = 0
    bookmarkTimer?.cancel()
    source.remove(watch, interest)
    options.signal.removeEventListener('abort', onAbort)
    if (!waiting) return
    const { resolve, reject } = waiting
    waiting = undefined
    if (error === undefined) resolve(undefined)
    else reject(error)
  }
  const onAbort = () => close()

  const watch: StreamReader<WatchEvent> & Offered = {
    get closed() {
      return closed
    },
    wake,
    offer(change, sequence) {
      // A label may lead here by its old value and by its new one.
      if (closed || offered.at(-1) === change) return
      if (offeredNext === offered.length) oldestOffered = sequence
      else if (oldestOffered < log.first) return close()
      offered.push(change)
    },
    next() {
      if (waiting) return Promise.reject(new Error('next() called while another next() is pending'))
      const event = lastEvents.shift() ?? (closed ? undefined : take())
      if (event) return Promise.resolve(event)
      if (closed) return failure === undefined ? Promise.resolve(undefined) : Promise.reject(failure)
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    drain() {
      const events = lastEvents.splice(0)
      for (let event = closed ? undefined : take(); event; event = take()) {
        events.push(event)
        if (events.length >= MAX_DRAIN) break
      }
      return events
    },
    close,
  }

  source.add(watch, interest)
  if (options.signal.aborted) close()
  else if (typeof options.from === 'number' && options.from < source.begin) fail(tooOld(options.from, source.begin))
  else {
    options.signal.addEventListener('abort', onAbort)
    if (options.bookmarks) armBookmark()
  }
  return watch
}

/** So that one write of a watch that has much to catch up with stays small; the rest is there at the next look. */
const MAX_DRAIN = 256

export const tooOld = (revision: number, oldest: number) => expired(`too old resource version: ${revision} (${oldest})`)
