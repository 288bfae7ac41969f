/** The cache of one resource: its objects in key order, their changes, their watchers. */
import sortedBTree from 'sorted-btree'
import type { WatchEvent } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { StreamReader } from '../../base/stream.ts'
import { type Steps, stepsInTurns } from '../../base/turns.ts'
import type { KeyValue, Storage, StorageEvent } from '../../storage/storage.ts'
import { prefixEnd } from '../../storage/tables.ts'
import { countNow, eachThen, type KeyRange, lastKeyThen, type Undone, undoneSince } from './at-revision.ts'
import type { CacheEntry, EntryOptions } from './entry.ts'
import { type Change, createChange, createEventLog, MAX_AGE_MS } from './event-log.ts'
import { createFieldIndexes, type OwnField } from './field-indexes.ts'
import { createIndex, type Index, type IndexValues } from './indexes.ts'
import { createInterests, type Interests, interestOf } from './interests.ts'
import { createSelectedFields, type EntrySelection, type FieldsOf, matcherOf, type SelectedFields } from './selected.ts'
import { entryOfStored, type FoundItem } from './stored-entry.ts'
import {
  type CacheWatchOptions,
  createWatch,
  tooOld,
  type WatchSource,
} from './watch-bookmarks-too-old-and-too-slow.ts'
import { createFanout, type Fanout, type Woken } from './when-watchers-are-told.ts'

const BTree = sortedBTree.default

export interface CachePage {
  readonly items: readonly CacheEntry[]
  /** The revision the page shows. */
  readonly revision: number
  readonly more: boolean
  /** Objects behind the last item. */
  readonly remaining: number
  /** Those of the items that cannot be read. */
  readonly unreadable: readonly CacheEntry[]
}

export interface PageOptions {
  /** Only keys that begin with this; it lies under the resource's prefix. Default: all. */
  readonly prefix?: string
  /** The key at which the list begins. */
  readonly start?: string
  /** 0, the default: no limit. */
  readonly limit?: number
}

/** The objects that a selection may be about, where they are found without looking at all. */
export interface FoundByFields {
  /** In key order; what else is selected by is still to be asked of them. */
  readonly items: readonly CacheEntry[]
  readonly revision: number
  /** Of the last object at that revision in the range that was asked for, selected or not: more follow each key before it. */
  readonly lastKey: string | undefined
}

export interface ResourceCache {
  /** `/registry/pods/` */
  readonly prefix: string
  readonly size: number
  /** Rises with every change of an object of this resource. */
  readonly generation: number
  get(key: string): CacheEntry | undefined
  /** What is there now, in key order. */
  list(prefix?: string): readonly CacheEntry[]
  page(options: PageOptions): CachePage
  /** As it was at a revision. @throws CompactedError, FutureRevisionError */
  pageAt(revision: number, options: PageOptions): Promise<CachePage>
  /** Names an index, to be built at its first use. Naming it again changes nothing. */
  addIndex(name: string, values: IndexValues): void
  byIndex(name: string, value: string): readonly CacheEntry[]
  /** Those whose field has the value, in no particular order; none may change while they are gone through. */
  eachByField(field: OwnField, value: string): Iterable<CacheEntry>
  /** What is there and cannot be read, in key order. It is in lists and pages too, and whatever is asked of it throws. */
  unreadable(prefix?: string): readonly CacheEntry[]
  /** The revision before the last so many changes of this resource, as far as they are remembered; undefined where none is. */
  revisionBefore(changes: number): number | undefined
  /**
   * Those that have a value which the selection fixes, by an index; undefined where none tells, or not of that revision. `revision`: default
   * the newest.
   */
  found(selection: EntrySelection, options: PageOptions & { readonly revision?: number }): FoundByFields | undefined
  /** Whether entries are selected; their objects are not parsed for it but the first time. */
  matcher(selection: EntrySelection): (entry: CacheEntry) => boolean
  /**
   * Events in revision order; see CacheWatchOptions. A revision that is compacted, or from before `beginAt`, gives one ERROR event (410 Expired), as
   * the API does. The reader's drain() gives what is ready, for one write to carry it.
   */
  watch(options: CacheWatchOptions): StreamReader<WatchEvent>
  /**
   * Watches cannot begin before this revision: since then the objects are served otherwise, and what was told of them before
   * is another resource's. Kubernetes makes a new watch cache at such a time, which knows of nothing older.
   */
  beginAt(revision: number): void
  /** Called within every commit that changes this resource, before its writer is answered. */
  onChange(listener: (change: Change) => void): () => void
}

/** What the caches do to one of theirs. */
export interface OwnedResourceCache extends ResourceCache {
  load(items: readonly KeyValue[], revision: number): void
  /** How its entries are made. */
  readonly entryOptions: EntryOptions
  apply(event: StorageEvent, entry: CacheEntry | undefined): void
  /** Tells the watchers, after all events of a commit are in. */
  published(): void
  /** Keeps little history, and of no object but its bytes: watches that are far behind end. */
  shrink(): void
  close(error?: unknown): void
}

const NONE: readonly CacheEntry[] = Object.freeze([])
const NOTHING_UNDONE: Undone = new Map()
const NONE_UNREADABLE: ReadonlyMap<string, CacheEntry> = new Map()
const MOST_SELECTED = 8
/** Memory that holds so many times what is there, and so many bytes more, is worth moving that. */
const SPARSE = 2
const WORTH_MOVING = 1 << 20
const compareKeys = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byKeys = (a: CacheEntry, b: CacheEntry) => compareKeys(a.key, b.key)
const laterKey = (a: string, b: string) => (compareKeys(a, b) < 0 ? b : a)

/** Watchers that are found by what they fix. They are told when something was offered to them. */
interface SelectiveWatchers {
  readonly interests: Interests
  readonly watchers: Set<Woken>
  readonly due: Set<Woken>
  readonly fanout: Fanout
}

const createSelectiveWatchers = (runtime: Runtime, prefix: string): SelectiveWatchers => ({
  interests: createInterests(prefix),
  watchers: new Set(),
  due: new Set(),
  fanout: createFanout(runtime, { once: true }),
})

export function createResourceCache(
  runtime: Runtime,
  storage: Storage,
  prefix: string,
  clusterRevision: () => number,
  options: EntryOptions,
): OwnedResourceCache {
  const byKey = new Map<string, CacheEntry>()
  /** Of them, those that cannot be read: seldom any. */
  let unreadable = NONE_UNREADABLE
  let notedUnreadable: Map<string, CacheEntry> | undefined
  const noteUnreadable = (key: string, entry: CacheEntry) => {
    notedUnreadable ??= new Map()
    notedUnreadable.set(key, entry)
    unreadable = notedUnreadable
  }
  let ordered = new BTree<string, CacheEntry>(undefined, compareKeys)
  /** One that is no longer in the log and still current has outlived those written with it. */
  const evicted = ({ key, entry }: Change) => {
    if (entry !== undefined && byKey.get(key) === entry) entry.keep()
  }
  let log = createEventLog(clusterRevision(), evicted)
  let trimming = false
  const stored = (item: FoundItem, of = options) => entryOfStored(item, of, storage.mayBeGarbled === true)
  const unreadableOf = (items: readonly CacheEntry[]) => items.filter((entry) => entry.unreadable !== undefined)
  const indexes = new Map<string, { readonly values: IndexValues; index: Index | undefined }>()
  const fieldIndexes = createFieldIndexes(runtime, () => byKey.size, readable)
  const listeners = new Set<(change: Change) => void>()
  /** The watchers that read the log. */
  const watchers = new Set<Woken>()
  const fanout = createFanout(runtime)
  let selective: SelectiveWatchers | undefined
  const selectedBy = new Map<FieldsOf | undefined, SelectedFields>()
  let begin = 0
  let generation = 0
  let changed = false
  /** Bytes of all that is there. */
  let live = 0
  let moving = false

  function under(wanted: string): CacheEntry[] {
    const items: CacheEntry[] = []
    ordered.forRange(wanted, prefixEnd(wanted), false, (_key, entry) => {
      items.push(entry)
    })
    return items
  }

  /** What to undo for the objects as they were at a revision, where the log knows, and the storage would still tell. */
  function undoneAt(revision: number): Undone | undefined {
    const isKnown = revision <= clusterRevision() && revision >= Math.max(log.floor, begin, storage.compactedRevision)
    return isKnown && unreadable.size === 0 ? undoneSince(log, revision) : undefined
  }

  function pageThen(undone: Undone, range: KeyRange, limit: number, revision: number): CachePage {
    const items: CacheEntry[] = []
    let remaining = 0
    eachThen(ordered, undone, range, (entry) => {
      if (limit > 0 && items.length >= limit) remaining++
      else items.push(entry)
      return false
    })
    const unreadableItems = unreadable.size === 0 ? NONE : unreadableOf(items)
    return { items, revision, more: remaining > 0, remaining, unreadable: unreadableItems }
  }

  function found(
    selection: EntrySelection,
    { prefix: wanted = prefix, start = wanted, revision = clusterRevision() }: PageOptions & { revision?: number },
  ): FoundByFields | undefined {
    const undone = undoneAt(revision)
    if (undone === undefined) return undefined
    const range = { start: laterKey(start, wanted), end: prefixEnd(wanted) }
    const countTo = (most: number) => (wanted === prefix ? byKey.size : countNow(ordered, range, most))
    const now = fieldIndexes.find(selection, selectedFor(selection.fieldsOf), countTo)
    if (now === undefined) return undefined
    const isIn = ({ key }: CacheEntry) => key >= range.start && key < range.end
    const items: CacheEntry[] = []
    for (const entry of now.entries) if (isIn(entry) && !undone.has(entry.key)) items.push(entry)
    for (const entry of undone.values()) if (entry !== undefined && isIn(entry) && now.has(entry)) items.push(entry)
    return {
      items: items.sort(byKeys),
      revision,
      lastKey: lastKeyThen(ordered, undone, range),
    }
  }

  function load(items: readonly KeyValue[], revision: number): void {
    const kept = { ...options, kept: true }
    const { shared } = options
    const entries = items.map((item): [string, CacheEntry] => {
      const { key, value, modRevision } = item
      const found = shared?.get(value)
      if (found?.key === key && found.revision === modRevision) return [key, found]
      const entry = stored(item, kept)
      if (entry.unreadable === undefined) shared?.set(value, entry)
      else noteUnreadable(key, entry)
      return [key, entry]
    })
    for (const [key, entry] of entries) {
      byKey.set(key, entry)
      live += entry.size
    }
    ordered = new BTree(entries, compareKeys)
    log = createEventLog(revision, evicted)
    fieldIndexes.clear()
    generation++
  }

  function put(key: string, entry: CacheEntry | undefined): void {
    live += (entry?.size ?? 0) - (byKey.get(key)?.size ?? 0)
    if (entry) {
      byKey.set(key, entry)
      ordered.set(key, entry)
    } else {
      byKey.delete(key)
      ordered.delete(key)
    }
    generation++
  }

  /**
   * As of a watch cache that breaks off there and begins anew when all can be read again: watches end, and the next ones begin behind it.
   * Listeners keep what they know until it is deleted.
   */
  function applyUnreadable(revision: number, key: string, entry: CacheEntry | undefined): void {
    const previous = byKey.get(key)
    for (const { index } of indexes.values()) index?.change(undefined, previous)
    fieldIndexes.change(undefined, previous?.unreadable === undefined ? previous : undefined)
    put(key, entry)
    notedUnreadable?.delete(key)
    if (entry?.unreadable !== undefined) noteUnreadable(key, entry)
    begin = revision
    close()
  }

  function apply(event: StorageEvent, entry: CacheEntry | undefined): void {
    const { key, revision } = event
    let previous = byKey.get(key)
    if (!entry && !previous) return
    if (entry?.unreadable !== undefined || previous?.unreadable !== undefined) {
      applyUnreadable(revision, key, entry?.unreadable && entry)
      if (entry === undefined) tell(createChange(key, revision, undefined, undefined, runtime.clock.now()))
      if (entry === undefined || entry.unreadable !== undefined) return
      previous = undefined
    }
    put(key, entry)
    for (const { index } of indexes.values()) index?.change(entry, previous)
    fieldIndexes.change(entry, previous)
    const change = createChange(key, revision, entry, previous, runtime.clock.now())
    log.append(change)
    selective?.interests.offer(change, log.end - 1, selective.due)
    trimLater()
    changed = true
    tell(change)
  }

  function tell(change: Change): void {
    for (const listener of listeners) {
      try {
        listener(change)
      } catch (error) {
        runtime.log.error('a cache listener failed', error, { key: change.key })
      }
    }
  }

  /** What nothing follows is given up too. */
  function trimLater(): void {
    if (trimming) return
    trimming = true
    const trim = () => {
      trimming = false
      if (log.trim(runtime.clock.now())) trimLater()
      moveTogether()
    }
    runtime.clock.setTimer(MAX_AGE_MS + 1, 'watch history', trim, { everyMs: MAX_AGE_MS, isAlone: true })
  }

  /** What stays lies among what is gone: memory goes back only where nothing stays. */
  function moveTogether(): void {
    const { memory } = options
    if (moving || memory.allocated < SPARSE * live + WORTH_MOVING) return
    moving = true
    memory.beginAnew()
    stepsInTurns(runtime, 'bytes moved together', move())
      .catch((error: unknown) => runtime.log.error('what stays could not be moved together', error))
      .finally(() => {
        moving = false
      })
  }

  function* move(): Steps<void> {
    for (const entry of byKey.values()) {
      entry.move()
      yield
    }
  }

  function* readable(): Iterable<CacheEntry> {
    for (const entry of byKey.values()) if (entry.unreadable === undefined) yield entry
  }

  function close(error?: unknown): void {
    for (const watcher of [...watchers, ...(selective?.watchers ?? [])]) watcher.close(error)
  }

  function indexNamed(name: string): Index {
    const named = indexes.get(name)
    if (!named) throw new Error(`the cache of ${prefix} has no index ${name}`)
    named.index ??= createIndex(named.values, readable())
    return named.index
  }

  function selectedFor(fieldsOf: FieldsOf | undefined): SelectedFields {
    let selected = selectedBy.get(fieldsOf)
    if (!selected) {
      selected = createSelectedFields(fieldsOf)
      // A definition that changes brings a function of its own; its watches have ended then.
      if (selectedBy.size >= MOST_SELECTED) {
        selectedBy.clear()
        fieldIndexes.clear()
      }
      selectedBy.set(fieldsOf, selected)
    }
    return selected
  }

  async function history(wanted: string, afterRevision: number) {
    const page = await storage.history(wanted, afterRevision)
    const now = runtime.clock.now()
    const changes = page.events.map((event) => {
      const { previous } = event
      const { key, revision: modRevision, value, unreadable: cause } = event
      const before = previous && stored({ key, ...previous })
      const entry = value && stored({ key, value, modRevision, ...(cause === undefined ? {} : { unreadable: cause }) })
      // What it was cannot be told.
      if (before?.unreadable !== undefined || entry?.unreadable !== undefined) throw tooOld(afterRevision, modRevision)
      return createChange(event.key, event.revision, entry, before, now)
    })
    return { changes, revision: page.revision }
  }

  return {
    prefix,
    get size() {
      return byKey.size
    },
    get generation() {
      return generation
    },
    get: (key) => byKey.get(key),
    list: (wanted = prefix) => under(wanted),
    unreadable: (wanted = prefix) =>
      unreadable.size === 0 ? NONE : [...unreadable.values()].filter(({ key }) => key.startsWith(wanted)).sort(byKeys),

    page: ({ prefix: wanted = prefix, start = wanted, limit = 0 }) =>
      pageThen(NOTHING_UNDONE, { start: laterKey(start, wanted), end: prefixEnd(wanted) }, limit, clusterRevision()),

    async pageAt(revision, { prefix: wanted = prefix, start = wanted, limit = 0 }) {
      const range = { start: laterKey(start, wanted), end: prefixEnd(wanted) }
      const undone = undoneAt(revision)
      if (undone !== undefined) return pageThen(undone, range, limit, revision)
      const page = await storage.range(range.start, range.end, { revision, limit })
      const items = page.items.map((item) => {
        const current = byKey.get(item.key)
        return current?.revision === item.modRevision ? current : stored(item)
      })
      return { ...page, items, unreadable: unreadableOf(items) }
    },

    found,
    addIndex(name, values) {
      if (!indexes.has(name)) indexes.set(name, { values, index: undefined })
    },
    byIndex: (name, value) => indexNamed(name).get(value),
    eachByField: (field, value) => fieldIndexes.each(field, selectedFor(field.fieldsOf), value),

    revisionBefore(changes) {
      const at = Math.max(log.first, log.end - changes)
      return at < log.end ? log.at(at).revision - 1 : undefined
    },

    matcher: (selection) => matcherOf(selection, selectedFor(selection.fieldsOf)),
    watch(watchOptions) {
      const { prefix: wanted = prefix, selection } = watchOptions
      const source: WatchSource = {
        runtime,
        log,
        begin,
        revision: clusterRevision,
        snapshot: () => (selection && found(selection, { prefix: wanted })?.items) ?? under(wanted),
        history,
        add(watcher, interest) {
          if (interest === undefined) return void watchers.add(watcher)
          selective ??= createSelectiveWatchers(runtime, prefix)
          selective.interests.add(watcher, interest)
          selective.watchers.add(watcher)
        },
        remove(watcher, interest) {
          if (interest === undefined) return void watchers.delete(watcher)
          selective?.interests.remove(watcher, interest)
          selective?.watchers.delete(watcher)
          selective?.due.delete(watcher)
        },
      }
      const selected = selectedFor(selection?.fieldsOf)
      const matches = selection === undefined ? () => true : matcherOf(selection, selected)
      return createWatch(source, wanted, watchOptions, matches, interestOf(prefix, wanted, selection, selected))
    },
    beginAt(revision) {
      begin = revision
    },
    onChange(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },

    load,
    entryOptions: options,
    apply,
    published() {
      if (!changed) return
      changed = false
      if (watchers.size > 0) fanout.notify(watchers)
      if (selective !== undefined && selective.due.size > 0) selective.fanout.notify(selective.due)
    },
    shrink() {
      log.shrink()
      for (const entry of byKey.values()) entry.forgetMade()
    },
    close,
  }
}
