/**
 * cache: the watch cache, every object of the cluster in memory, fed by one subscription to storage in
 * revision order, so that each resource's cache knows the cluster's revision. Called by the registry and the handlers;
 * knows nothing of requests, and of objects only metadata.
 *
 * Guarantees: a commit of this process is here before its writer is answered, and one of another process that shares the
 * storage when `fresh` resolves, so a read sees everything answered before it; watchers are told in a later turn.
 */
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'
import type { Parts } from '../../api/parts.ts'
import { jsonText } from '../../api/values/json.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { KeyValue, Storage, StorageEvent } from '../../storage/storage.ts'
import { prefixEnd } from '../../storage/tables.ts'
import { type CacheEntry, type Encoded, type EntryOptions, encodeStored } from './entry.ts'
import { createEntryMemory, createWrittenMemory } from './entry-memory.ts'
import { createRecent } from './recent.ts'
import { createResourceCache, type OwnedResourceCache, type ResourceCache } from './resource-cache.ts'
import { entryOfStored, type FoundItem } from './stored-entry.ts'

export interface Caches {
  /** Newest revision of the cluster that reached the caches. */
  readonly revision: number
  /** The cache of what is stored under /registry/<storagePrefix>/. */
  resource(storagePrefix: string): ResourceCache
  /** The bytes to store; when they are committed the caches take this very object instead of parsing them. */
  encode(object: KubeObject, parts?: Parts): Uint8Array
  /** An entry for what was read from storage, or written there. */
  entryOf(item: FoundItem): CacheEntry
  /**
   * Resolves when everything that any process was answered before the call is here. undefined where it is, because no other
   * process writes to the storage.
   */
  fresh(signal?: AbortSignal): Promise<void> | undefined
  /** Whether the caches have reached the revision, or do within `ms`. */
  reached(revision: number, ms: number, signal?: AbortSignal): Promise<boolean>
  /** Reads anew what could not be read, since it may be now; watches of what has become readable begin anew. */
  readAnew(): Promise<void>
  /** Gives up what can be read from storage or made again. */
  shrink(): void
  /** Ends every watch. */
  close(): void
}

export interface CachesOptions extends Partial<EntryOptions> {
  /** Where keys begin. Default `/registry/`. */
  readonly root?: string
}

/** Objects kept beside their bytes: more are parsed again. */
const RECENT_OBJECTS = 1024

/** Loads everything from storage (parsing nothing) and follows it. */
export async function createCaches(runtime: Runtime, storage: Storage, options: CachesOptions = {}): Promise<Caches> {
  const root = options.root ?? '/registry/'
  const shared = {
    freeze: options.freeze ?? process.env['NODE_TEST_CONTEXT'] !== undefined,
    recent: createRecent(RECENT_OBJECTS),
    ...(options.shared === undefined ? {} : { shared: options.shared }),
  }
  const createOptions = (): EntryOptions => ({ ...shared, memory: createEntryMemory() })
  /** For what is read of the storage by itself. */
  const singleOptions = createOptions()
  const writtenMemory = createWrittenMemory()
  const resources = new Map<string, OwnedResourceCache>()
  /** Those the commit at hand has changed. */
  const touched = new Set<OwnedResourceCache>()
  /** Objects whose bytes are on their way through storage. Of a write that failed nothing else holds the bytes. */
  const written = new WeakMap<Uint8Array, Encoded>()
  const waiting = new Set<{ readonly revision: number; resolve(reached: boolean): void }>()

  const loaded = await storage.range(root, prefixEnd(root))
  let revision = loaded.revision
  /** What was loaded or has come, of resources that were not asked for yet. */
  const unclaimed = createUnclaimed(root, loaded.items)

  function resource(storagePrefix: string): OwnedResourceCache {
    let cache = resources.get(storagePrefix)
    if (!cache) {
      const prefix = `${root}${storagePrefix}/`
      cache = createResourceCache(runtime, storage, prefix, () => revision, createOptions())
      resources.set(storagePrefix, cache)
      cache.load(unclaimed.claim(storagePrefix), revision)
    }
    return cache
  }

  function take(event: StorageEvent): void {
    const cache = resources.get(storagePrefixOf(event.key, root, resources))
    if (!cache) {
      unclaimed.apply(event)
      return
    }
    const { value } = event
    try {
      cache.apply(event, value && entryOf({ ...event, value, modRevision: event.revision }, cache.entryOptions))
    } catch (error) {
      // What watches would have been told of it is unknown: they begin anew behind it, and the other events go on.
      runtime.log.error('a change could not be taken into the cache', error, { key: event.key })
      cache.beginAt(event.revision)
      cache.close()
    }
    if (value) written.delete(value)
    touched.add(cache)
  }

  function settle(): void {
    for (const waiter of [...waiting]) if (waiter.revision <= revision) waiter.resolve(true)
  }

  /** The storage no longer has what was between. Components hear of every object that differs; watches begin anew. */
  function reset(items: readonly KeyValue[], newest: number): void {
    const changes = new Map(items.map((item) => [item.key, { ...item, revision: item.modRevision }]))
    const gone: StorageEvent[] = []
    for (const cache of resources.values()) {
      cache.close()
      for (const { key, revision: known } of cache.list()) {
        const now = changes.get(key)
        if (now === undefined) gone.push({ type: 'delete', key, value: undefined, revision: newest })
        else if (now.revision === known) changes.delete(key)
      }
    }
    unclaimed.clear()
    const puts = [...changes.values()].sort((a, b) => a.revision - b.revision)
    for (const put of puts) take({ type: 'put', ...put })
    for (const event of gone) take(event)
    revision = newest
    for (const cache of resources.values()) cache.beginAt(newest)
    for (const cache of touched) cache.published()
    touched.clear()
    settle()
  }

  const unsubscribe = storage.subscribe(root, revision, {
    events(events, newest) {
      for (const event of events) {
        // A bookmark never runs ahead of the events before it.
        revision = event.revision
        take(event)
      }
      revision = newest
      for (const cache of touched) cache.published()
      touched.clear()
      settle()
    },
    reset,
    failed(error) {
      for (const cache of resources.values()) cache.close(error)
    },
  })

  return {
    get revision() {
      return revision
    },
    resource,
    encode(object: SpecAndStatus, parts) {
      const value = encodeStored(object, parts, writtenMemory(object.kind ?? ''))
      written.set(value, { object, spec: parts?.written(object.spec, jsonText) })
      return value
    },
    entryOf: (item) => entryOf(item, singleOptions),
    fresh: (signal) => storage.fresh(signal),
    reached(wanted, ms, signal) {
      if (wanted <= revision) return Promise.resolve(true)
      return new Promise((resolve) => {
        const end = (reached: boolean) => {
          timer.cancel()
          waiting.delete(waiter)
          signal?.removeEventListener('abort', onAbort)
          resolve(reached)
        }
        const waiter = { revision: wanted, resolve: end }
        const onAbort = () => end(false)
        const timer: Timer = runtime.machineClock.setTimer(ms, 'wait for revision', () => end(false))
        waiting.add(waiter)
        signal?.addEventListener('abort', onAbort)
      })
    },
    async readAnew() {
      for (const cache of resources.values())
        for (const { key, revision: known } of cache.unreadable()) {
          const { item } = await storage.get(key)
          const isSame = item?.modRevision === known && cache.get(key)?.revision === known
          if (!isSame || item.unreadable !== undefined) continue
          take({ type: 'put', ...item, revision: known })
          cache.beginAt(revision)
          cache.published()
          touched.delete(cache)
        }
    },
    shrink() {
      for (const cache of resources.values()) cache.shrink()
    },
    close() {
      unsubscribe()
      for (const cache of resources.values()) cache.close()
      for (const waiter of [...waiting]) waiter.resolve(false)
    },
  }

  function entryOf(item: FoundItem, entryOptions: EntryOptions): CacheEntry {
    return entryOfStored(item, entryOptions, storage.mayBeGarbled === true, written.get(item.value))
  }
}

/** `pods` of /registry/pods/default/a; `services/specs` where only two segments together name a resource. */
function storagePrefixOf(key: string, root: string, resources: ReadonlyMap<string, unknown>): string {
  const first = key.indexOf('/', root.length)
  if (first < 0) return key.slice(root.length)
  const one = key.slice(root.length, first)
  if (resources.has(one)) return one
  const second = key.indexOf('/', first + 1)
  return second < 0 ? one : key.slice(root.length, second)
}

/** Keeps what belongs to resources that were not asked for yet, so that asking for one later finds it. */
function createUnclaimed(root: string, items: readonly KeyValue[]) {
  const left = new Map<string, Map<string, KeyValue>>()
  const groupOf = (key: string) => key.slice(root.length, key.indexOf('/', root.length))
  const put = (item: KeyValue) => {
    const name = groupOf(item.key)
    let group = left.get(name)
    if (!group) {
      group = new Map()
      left.set(name, group)
    }
    group.set(item.key, item)
  }
  for (const item of items) put(item)
  return {
    claim(storagePrefix: string): KeyValue[] {
      const prefix = `${root}${storagePrefix}/`
      const group = left.get(groupOf(prefix))
      if (!group) return []
      const claimed = [...group.values()].filter(({ key }) => key.startsWith(prefix))
      for (const { key } of claimed) group.delete(key)
      return claimed.sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    clear: () => left.clear(),
    apply({ key, value, revision, unreadable }: StorageEvent): void {
      const why = unreadable === undefined ? {} : { unreadable }
      if (value) put({ key, value, modRevision: revision, createRevision: revision, ...why })
      else left.get(groupOf(key))?.delete(key)
    },
  }
}
