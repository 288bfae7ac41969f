/**
 * Shared informers: one reflector per resource and selection, one store with indexes, any number of handlers. The store is
 * ahead of the handlers: when a handler runs, the store holds at least what the handler is told.
 */
import type { KubeObject } from '../api/object.ts'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import type { Client, GroupVersionResource } from './client.ts'
import { runReflector } from './reflector.ts'
import { createStore, objectKey, type Store } from './store.ts'

export type { Store } from './store.ts'

export interface EventHandlers<T> {
  /** `initial`: the object was there before the handlers were, or came with the first list. */
  added?(object: T, initial: boolean): void
  /** Also called with the same object twice by a resync, and with different uids when a relist missed a deletion. */
  updated?(old: T, object: T): void
  /** The last state seen; after a relist possibly not the last one there was. */
  deleted?(object: T): void
}

export interface Informer<T extends KubeObject = KubeObject> {
  readonly gvr: GroupVersionResource
  readonly store: Store<T>
  /** The first list is in the store. */
  readonly hasSynced: boolean
  /** Of the last event seen; '' before the first list. */
  readonly resourceVersion: string
  /** Of the last object that came, changed or went; '' before the first list. */
  readonly changedAt: string
  /**
   * Handlers of one call run in the order of the events, one at a time; what is in the store comes first. Returns the way to
   * end it.
   */
  addHandlers(handlers: EventHandlers<T>, options?: { readonly resyncMs?: number }): () => void
  addIndex(name: string, values: (object: T) => readonly string[]): void
  /** Resolves once the first list is in the store and the handlers there now have been told of it. */
  whenSynced(signal?: AbortSignal): Promise<void>
}

export interface InformerOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Only metadata is needed. In-process the whole objects come all the same, from the informer others use. */
  readonly metadataOnly?: boolean
  /** Objects come with managedFields, which informers leave out otherwise. */
  readonly managedFields?: boolean
}

export interface InformerFactory {
  /** The same informer for equal arguments. Once the factory is started, it starts at once. */
  informer<T extends KubeObject = KubeObject>(gvr: GroupVersionResource, options?: InformerOptions): Informer<T>
  /** Ends the informer: its resource is no longer served. */
  stopInformer(gvr: GroupVersionResource, options?: InformerOptions): void
  start(): void
  stop(): void
  /** Resolves when every informer made so far has synced. */
  whenSynced(signal?: AbortSignal): Promise<void>
}

/** Objects of a list that are put into the store in one turn of the event loop. */
const REPLACED_AT_ONCE = 128

interface Listener<T> {
  readonly handlers: EventHandlers<T>
  active: boolean
}

interface RunningInformer<T extends KubeObject> extends Informer<T> {
  run(signal: AbortSignal): void
}

function createInformer<T extends KubeObject>(
  runtime: Runtime,
  client: Client,
  gvr: GroupVersionResource,
  options: InformerOptions,
): RunningInformer<T> {
  const store = createStore<T>()
  const listeners = new Set<Listener<T>>()
  const label = `informer ${gvr.resource}${gvr.group === '' ? '' : `.${gvr.group}`}`
  const syncWaiters: (() => void)[] = []
  const resyncs = new Set<Timer>()
  let hasSynced = false
  let version = ''
  let changedAt = ''
  let stopped = false

  const tell = (task: (handlers: EventHandlers<T>) => void) => {
    for (const listener of listeners) tellOne(listener, task)
  }
  // A listener is a lane: what it is told keeps its order, whatever the scheduler does with others.
  const tellOne = (listener: Listener<T>, task: (handlers: EventHandlers<T>) => void) => {
    const run = () => {
      if (!listener.active) return
      try {
        task(listener.handlers)
      } catch (error) {
        runtime.log.error('Informer handler failed', error, { informer: label })
      }
    }
    runtime.scheduler.handOver(label, run, listener)
  }

  const put = (key: string, object: T, initial: boolean) => {
    const old = store.get(key)
    store.set(key, object)
    if (old === undefined) tell((handlers) => handlers.added?.(object, initial))
    else if (old.metadata.resourceVersion !== object.metadata.resourceVersion)
      tell((handlers) => handlers.updated?.(old, object))
  }
  const remove = (key: string, last: T) => {
    if (store.get(key) === undefined) return
    store.delete(key)
    tell((handlers) => handlers.deleted?.(last))
  }

  const sink = {
    async replace(items: readonly T[], resourceVersion: string) {
      const initial = !hasSynced
      const keys = new Set<string>()
      for (const [at, item] of items.entries()) {
        // What its handlers do with so many of them is work of one turn.
        if (at > 0 && at % REPLACED_AT_ONCE === 0) {
          await new Promise<void>((resolve) => runtime.scheduler.later(label, resolve))
          if (stopped) return
        }
        const key = objectKey(item)
        keys.add(key)
        put(key, item, initial)
      }
      for (const key of [...store.keys()]) {
        if (!keys.has(key)) remove(key, store.get(key) as T)
      }
      version = resourceVersion
      changedAt = version
      hasSynced = true
      for (const wake of syncWaiters.splice(0)) wake()
    },
    apply(event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }) {
      const object = event.object as T
      version = object.metadata.resourceVersion ?? version
      changedAt = version
      if (event.type === 'DELETED') remove(objectKey(object), object)
      else put(objectKey(object), object, false)
    },
    bookmark(resourceVersion: string) {
      version = resourceVersion
    },
  }

  return {
    gvr,
    store,
    get hasSynced() {
      return hasSynced
    },
    get resourceVersion() {
      return version
    },
    get changedAt() {
      return changedAt
    },
    addHandlers(handlers, handlerOptions = {}) {
      const listener: Listener<T> = { handlers, active: true }
      listeners.add(listener)
      for (const object of store.list()) tellOne(listener, (own) => own.added?.(object, true))
      const stopResync = handlerOptions.resyncMs ? resync(listener, handlerOptions.resyncMs) : undefined
      return () => {
        listener.active = false
        listeners.delete(listener)
        stopResync?.()
      }
    },
    addIndex: (name, values) => store.addIndex(name, values),
    async whenSynced(signal) {
      await new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (hasSynced) return resolve()
        const aborted = () => reject(signal?.reason)
        signal?.addEventListener('abort', aborted, { once: true })
        syncWaiters.push(() => {
          signal?.removeEventListener('abort', aborted)
          resolve()
        })
      })
      await Promise.all([...listeners].map((listener) => turn(runtime.scheduler, label, listener)))
    },
    run(signal) {
      signal.addEventListener(
        'abort',
        () => {
          stopped = true
          for (const timer of resyncs) timer.cancel()
        },
        { once: true },
      )
      const resource = client.resource<T>(gvr)
      const scoped = options.namespace ? resource.namespace(options.namespace) : resource
      const { namespace: _, managedFields = false, ...ofThese } = options
      const selection = { ...ofThese, withoutManagedFields: !managedFields }
      void runReflector(runtime, scoped, selection, sink, signal, { endless: client.inProcess })
    },
  }

  function resync(listener: Listener<T>, ms: number): () => void {
    let timer: Timer | undefined
    const arm = () => {
      if (stopped) return
      const again = () => {
        resyncs.delete(timer as Timer)
        for (const object of store.list()) tellOne(listener, (own) => own.updated?.(object, object))
        arm()
      }
      const nothingBefore = () => (store.size > 0 ? 0 : Number.POSITIVE_INFINITY)
      timer = runtime.clock.setTimer(ms, `resync ${label}`, again, {
        everyMs: ms,
        nothingBefore,
        goesOn: true,
      })
      resyncs.add(timer)
    }
    arm()
    return () => {
      timer?.cancel()
      if (timer !== undefined) resyncs.delete(timer)
    }
  }
}

/** `metadata`: a client of their own for informers that need metadata alone, as client-go's have; default: the same. */
export function createInformerFactory(
  runtime: Runtime,
  client: Client,
  signal: AbortSignal,
  metadata: Client = client,
): InformerFactory {
  const informers = new Map<
    string,
    { informer: RunningInformer<KubeObject>; stop: AbortController; running: boolean }
  >()
  let started = false

  const idOf = (gvr: GroupVersionResource, options: InformerOptions) =>
    JSON.stringify([
      gvr.group,
      gvr.version,
      gvr.resource,
      options.namespace ?? '',
      options.labelSelector ?? '',
      options.fieldSelector ?? '',
      options.metadataOnly === true && !client.inProcess,
      options.managedFields === true,
    ])
  const run = (entry: { informer: RunningInformer<KubeObject>; stop: AbortController; running: boolean }) => {
    if (entry.running || entry.stop.signal.aborted) return
    entry.running = true
    entry.informer.run(entry.stop.signal)
  }

  const factory: InformerFactory = {
    informer<T extends KubeObject>(gvr: GroupVersionResource, options: InformerOptions = {}): Informer<T> {
      const id = idOf(gvr, options)
      let entry = informers.get(id)
      if (entry === undefined) {
        const own = options.metadataOnly === true ? metadata : client
        entry = { informer: createInformer(runtime, own, gvr, options), stop: new AbortController(), running: false }
        informers.set(id, entry)
        if (started) run(entry)
      }
      return entry.informer as Informer<KubeObject> as unknown as Informer<T>
    },
    stopInformer(gvr, options = {}) {
      const id = idOf(gvr, options)
      informers.get(id)?.stop.abort()
      informers.delete(id)
    },
    start() {
      started = true
      for (const entry of informers.values()) run(entry)
    },
    stop() {
      for (const entry of informers.values()) entry.stop.abort()
    },
    async whenSynced(abort) {
      await Promise.all([...informers.values()].map(({ informer }) => informer.whenSynced(abort)))
    },
  }
  if (signal.aborted) factory.stop()
  else signal.addEventListener('abort', () => factory.stop(), { once: true })
  return factory
}
