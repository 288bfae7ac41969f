/**
 * What an API server does by itself about definitions: it accepts their names, establishes them, and serves their rows at once; what
 * ends one that is deleted is told of each change (definition-finalizer.ts). Writes of definitions go through the server's own handler as
 * `system:apiserver`, so that they are conditional, audited and seen by watchers like every client's.
 */

import { createHash } from 'node:crypto'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import type { MutableScheme } from '../../api/scheme/mutable.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { formatTime, type Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Caches } from '../cache/caches.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { withEstablished, withNames } from '../customresources/name-conflicts.ts'
import { createNameTable } from '../customresources/names-in-use.ts'
import { rowsOf } from '../customresources/rows.ts'
import type { ServerContext } from '../handlers/context.ts'
import { type Loopback, loopbackOf } from '../loopback.ts'
import type { Filter } from '../request/server-request.ts'
import { createDefinitionFinalizer, type DefinitionFinalizer } from './definition-finalizer.ts'
import { instanceDeleter } from './delete-instances.ts'

const PREFIX = 'apiextensions.k8s.io/customresourcedefinitions'
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const RETRY_MS = 1000
/** As kube-apiserver waits before it takes down how a definition's objects were served. */
const END_WATCHES_MS = 1000

/** What is served of a definition. */
interface Served {
  readonly rows: readonly ResourceRow[]
  /** What the rows are made of. */
  readonly key: string
  /** What a watch depends on, as a hash: not that the definition is being deleted. */
  readonly manner: string
  readonly replaced: AbortController
}

export interface DefinitionLoop {
  /** Begins to write; rows are served before. */
  start(handler: Handler, context: ServerContext): void
  /**
   * Passes requests on at once, but the DELETE of a definition only when what the loop has begun to write about it is
   * written: of two writes in a row (names accepted, established) nothing comes between. It does not wait for the instances of
   * another definition to go, nor for a write that fails to be tried again.
   */
  readonly settled: Filter
  stop(): void
}

/** Rows of established definitions are in the scheme when this returns, and follow the definitions in the same commit. */
export function createDefinitionLoop(runtime: Runtime, caches: Caches, scheme: MutableScheme): DefinitionLoop {
  const cache = caches.resource(PREFIX)
  const served = new Map<string, Served>()
  const names = createNameTable()
  const dirty = new Set<string>()
  const ending = new Set<Timer>()
  const stopping = new AbortController()
  let send: Loopback = () => Promise.reject(new Error('the loop has not been started'))
  let finalizer: DefinitionFinalizer | undefined
  let started = false
  let running = false
  let writing: string | undefined
  /** DELETEs that wait, by the name of the definition. */
  const held = new Map<string, PromiseWithResolvers<void>>()
  let retry: Timer | undefined

  function serve(name: string, entry: CacheEntry | undefined): void {
    const definition = entry?.object
    const before = served.get(name)
    // Only what rows are made of counts: another resourceVersion makes no other rows.
    const key = definition === undefined ? '' : servedKey(definition)
    if (before?.key === key) return
    const manner = definition === undefined ? '' : mannerOf(definition)
    const isSame = before?.manner === manner
    const replaced = isSame ? before.replaced : new AbortController()
    const rows =
      entry === undefined
        ? []
        : rowsOf(entry.object, { replaced: replaced.signal, digest: manner, again: () => entry.object })
    if (before !== undefined && !isSame) endWatches(before.replaced)
    if (before !== undefined) scheme.removeRows(before.rows.filter((row) => !rows.some((next) => sameRow(row, next))))
    if (rows.length === 0) served.delete(name)
    else {
      served.set(name, { rows, key, manner, replaced })
      // After a restart too: the definition's revision is at least that of its last change.
      for (const row of rows) if (!isSame && entry) caches.resource(row.storagePrefix).beginAt(entry.revision)
      scheme.addRows(rows)
    }
  }

  /** A while later: what still happens to objects as they were served (the last DELETED) comes before the end. */
  function endWatches(replaced: AbortController): void {
    const timer = runtime.clock.setTimer(END_WATCHES_MS, 'watches of a replaced definition', () => {
      ending.delete(timer)
      replaced.abort()
    })
    ending.add(timer)
  }

  function take(name: string, entry: CacheEntry | undefined): void {
    serve(name, entry)
    for (const waiting of names.put(name, entry?.object)) dirty.add(waiting)
    if (entry !== undefined) dirty.add(name)
  }

  const nameOf = (key: string) => key.slice(cache.prefix.length)
  function definitionOf(name: string): Given<CustomResourceDefinition> | undefined {
    const entry = cache.get(`${cache.prefix}${name}`)
    return entry?.unreadable === undefined ? entry?.object : undefined
  }
  for (const entry of cache.list()) if (entry.unreadable === undefined) take(nameOf(entry.key), entry)
  const unsubscribe = cache.onChange(({ key, entry }) => {
    take(nameOf(key), entry)
    finalizer?.add(nameOf(key))
    kick()
  })

  function kick(): void {
    if (running || !started || stopping.signal.aborted) return
    running = true
    runtime.scheduler.handOver('definitions', () => {
      drain()
        .catch((error) => {
          releaseAll()
          if (!stopping.signal.aborted) runtime.log.error('definitions were not brought up to date', error)
          retry ??= runtime.clock.setTimer(RETRY_MS, 'definitions', () => {
            retry = undefined
            kick()
          })
        })
        .finally(() => {
          running = false
          if (dirty.size > 0 && retry === undefined) kick()
        })
    })
  }

  async function drain(): Promise<void> {
    for (;;) {
      const [name] = held.size > 0 ? held.keys() : dirty
      if (name === undefined || stopping.signal.aborted) return
      dirty.delete(name)
      const definition = definitionOf(name)
      writing = name
      try {
        if (definition !== undefined) await sync(definition)
      } catch (error) {
        dirty.add(name)
        if (!isConflict(error) && !isNotFound(error)) throw error
      } finally {
        writing = undefined
        release(name)
      }
    }
  }

  function release(name: string): void {
    held.get(name)?.resolve()
    held.delete(name)
  }

  function releaseAll(): void {
    for (const name of [...held.keys()]) release(name)
  }

  /** When the loop has written what it knows to be due of a definition. */
  async function written(name: string): Promise<void> {
    if (!running || (writing !== name && !dirty.has(name))) return
    const wait = held.get(name) ?? Promise.withResolvers<void>()
    held.set(name, wait)
    await wait.promise
  }

  async function sync(definition: Given<CustomResourceDefinition>): Promise<void> {
    if (definition.metadata.deletionTimestamp !== undefined) return
    const now = formatTime(runtime.clock.now())
    let current = definition
    const named = withNames(current, names, now)
    if (named !== current) current = await put(named, '/status')
    const established = withEstablished(current, now)
    if (established !== current) await put(established, '/status')
  }

  /** In the version they are stored in, no webhook need convert them. */
  function storedRow(name: string): ResourceRow | undefined {
    const rows = served.get(name)?.rows ?? []
    return rows.find(({ version, storageVersion }) => version === storageVersion) ?? rows[0]
  }

  async function put(definition: Given<CustomResourceDefinition>, subresource: string): Promise<KubeObject> {
    const answer = await send('PUT', `${PATH}/${definition.metadata.name}${subresource}`, definition)
    return answer ?? definition
  }

  return {
    start(handler, context) {
      send = loopbackOf(handler, stopping.signal)
      started = true
      finalizer = createDefinitionFinalizer({
        runtime,
        get: definitionOf,
        rowOf: storedRow,
        instancesOf: (row) => caches.resource(row.storagePrefix),
        remove: instanceDeleter(context, stopping.signal),
        putStatus: (definition) => put(definition, '/status'),
        signal: stopping.signal,
      })
      for (const { key } of cache.list()) finalizer.add(nameOf(key))
      kick()
    },
    settled: (next) => (request) => {
      if (request.method !== 'DELETE' || !request.path.startsWith(`${PATH}/`)) return next(request)
      return written(request.path.slice(PATH.length + 1)).then(() => next(request))
    },
    stop() {
      stopping.abort()
      releaseAll()
      unsubscribe()
      retry?.cancel()
      for (const timer of ending) timer.cancel()
    },
  }
}

function sameRow(a: ResourceRow, b: ResourceRow): boolean {
  return a.group === b.group && a.version === b.version && a.resource === b.resource
}

function mannerOf(definition: Given<CustomResourceDefinition>): string {
  const manner = [definition.metadata.uid, definition.spec, definition.status?.acceptedNames ?? null]
  return createHash('sha256').update(JSON.stringify(manner)).digest('base64')
}

function servedKey(definition: Given<CustomResourceDefinition>): string {
  const { uid, generation, deletionTimestamp } = definition.metadata
  const { acceptedNames, conditions } = definition.status ?? {}
  const established = (conditions ?? []).some(
    (condition: { type: string; status: string }) => condition.type === 'Established' && condition.status === 'True',
  )
  return JSON.stringify([uid, generation, deletionTimestamp ?? '', established, acceptedNames ?? null])
}
