/** Clients that write and read the same few objects at one API server or several, and what they were answered (history.ts). */
import type { KubeObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { messageOf } from '../../src/base/errors.ts'
import type { Client, ResourceClient } from '../../src/client/client.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { Change, Item, Operation, Outcome, Watched } from './history.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const LABEL = 'workload'
const PAGE = 2
const prefixOf = (namespace: string) => `/registry/configmaps/${namespace}/`

export interface WorkloadOptions {
  readonly servers: readonly Client[]
  readonly workers: number
  readonly namespace: string
  readonly keys: readonly string[]
  /** Default: as many as there are servers. */
  readonly watchers?: number
}

export interface Workload {
  /** Ends the clients, and the watches once they have told everything. @throws Error when that takes over a minute */
  finish(): Promise<{ readonly operations: readonly Operation[]; readonly watches: readonly Watched[] }>
  /** Resolves with the answer to that many more requests, by default 60. @throws Error when none is answered for a minute */
  progress(count?: number): Promise<void>
  /** Ends clients and watches as they are: there is nothing to be judged. */
  abandon(): void
}

/** No fault of these tests keeps all clients from answers for so long. */
const STALLED_MS = 60_000

export function startWorkload({ servers, workers, namespace, keys, watchers }: WorkloadOptions): Workload {
  const operations: Operation[] = []
  const waiting = new Set<{ left: number; readonly done: () => void }>()
  let order = 0
  let isOver = false
  /** Tells why nothing is answered, where a run stands still. */
  const underWay = new Map<number, string>()
  let failures = 0
  let lastFailure = 'none'
  const abandoned = new AbortController()
  const mapsAt = (server: number) => (servers[server % servers.length] as Client).resource(MAPS).namespace(namespace)
  const objectOf = (name: string, value: string, revision?: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      labels: { [LABEL]: 'yes' },
      ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
    },
    // Commits and answers of several sizes.
    data: { value, padding: 'x'.repeat((order * 977) % 5000) },
  })

  async function did(
    asked: Pick<Operation, 'what' | 'key' | 'value' | 'expected'>,
    request: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const begun = ++order
    underWay.set(begun, `${asked.what} ${asked.key}`)
    let outcome: Outcome
    try {
      outcome = await request()
      for (const one of waiting)
        if (--one.left === 0) {
          waiting.delete(one)
          one.done()
        }
    } catch (error) {
      const isAnswer = error instanceof StatusError && (error.code === 404 || error.code === 409)
      if (isAnswer && asked.what === 'get') outcome = { type: 'read', item: undefined }
      else outcome = { type: isAnswer ? 'refused' : 'unknown' }
      if (!isAnswer) [failures, lastFailure] = [failures + 1, messageOf(error)]
    } finally {
      underWay.delete(begun)
    }
    // A read that failed says nothing.
    const isRead = asked.what === 'get' || asked.what === 'list'
    if (!isRead || outcome.type !== 'unknown') operations.push({ ...asked, begun, answered: ++order, outcome })
    return outcome
  }

  async function work(worker: number): Promise<void> {
    for (let i = 0; !isOver; i++) {
      const maps = mapsAt(worker + i)
      const key = keys[(worker * 7 + i * 3) % keys.length] as string
      const value = `${worker}-${i}`
      const found = await did({ what: 'get', key }, async () => ({ type: 'read', item: itemOf(await maps.get(key)) }))
      if (found.type !== 'read') {
        await pause(20)
        continue
      }
      const expected = found.item?.revision
      // Mostly at another server than the one that was read from.
      const other = mapsAt(worker + i + 1)
      if (expected === undefined)
        await did({ what: 'create', key, value }, async () => written(await other.create(objectOf(key, value))))
      else if (i % 5 === 4)
        await did({ what: 'delete', key, expected }, async () => {
          await other.delete(key, { preconditions: { resourceVersion: String(expected) } })
          return { type: 'deleted' }
        })
      else
        await did({ what: 'update', key, value, expected }, async () =>
          written(await other.update(objectOf(key, value, expected))),
        )
      if (i % 4 === 0) await did({ what: 'list', key: '' }, () => listIn(maps, i % 8 === 0 ? PAGE : undefined))
    }
  }

  const stalled = (what: string) =>
    new Error(
      `nothing was answered for ${STALLED_MS / 1000} s: ${what}; under way are ${[...underWay.values()].join(', ') || 'none'}; ${failures} failed so far, the last one: ${lastFailure}`,
    )

  /** What no fault holds up any more. */
  async function soon<T>(what: string, task: Promise<T>): Promise<T> {
    const timer = Promise.withResolvers<never>()
    const late = setTimeout(() => timer.reject(stalled(what)), STALLED_MS)
    try {
      return await Promise.race([task, timer.promise])
    } finally {
      clearTimeout(late)
    }
  }

  /** Why it was not done yet is told where it never is. */
  async function lastWrite(): Promise<KubeObject> {
    for (;;)
      try {
        abandoned.signal.throwIfAborted()
        return await mapsAt(0).create(objectOf('the-end', 'the-end'))
      } catch (error) {
        abandoned.signal.throwIfAborted()
        ;[failures, lastFailure] = [failures + 1, messageOf(error)]
        await pause(50)
      }
  }

  const watching = Array.from({ length: watchers ?? servers.length }, (_, i) => watch(mapsAt, i, abandoned.signal))
  // They are waited for at the end, if there is one.
  for (const one of watching) one.catch(() => {})
  const working = Array.from({ length: workers }, (_, i) => work(i))
  return {
    progress: (count = 60) =>
      new Promise((resolve, reject) => {
        let seen = count
        const look = setInterval(() => {
          if (one.left < seen) {
            seen = one.left
            return
          }
          clearInterval(look)
          waiting.delete(one)
          reject(stalled(`${seen} answers of ${count} are missing`))
        }, STALLED_MS)
        const one = {
          left: count,
          done() {
            clearInterval(look)
            resolve()
          },
        }
        waiting.add(one)
      }),
    abandon() {
      isOver = true
      abandoned.abort()
    },
    async finish() {
      isOver = true
      await soon('clients do not end', Promise.all(working))
      const last = await soon('the first server takes no write', lastWrite())
      const end = Number(last.metadata.resourceVersion)
      operations.push({
        ...{ what: 'create', key: 'the-end', value: 'the-end', begun: ++order, answered: ++order },
        outcome: { type: 'written', revision: end },
      })
      return { operations, watches: await soon('a watch has not told of the last write', Promise.all(watching)) }
    },
  }
}

const written = (object: KubeObject): Outcome => ({
  type: 'written',
  revision: Number(object.metadata.resourceVersion),
})

const itemOf = ({ metadata, data }: KubeObject): Item => ({
  key: metadata.name ?? '',
  value: data?.value ?? '',
  revision: Number(metadata.resourceVersion),
})

/** Pages are of one revision, at whichever moments they are asked for. */
async function listIn(maps: ResourceClient, limit: number | undefined): Promise<Outcome> {
  const items: Item[] = []
  const selected = { labelSelector: `${LABEL}=yes`, ...(limit === undefined ? {} : { limit }) }
  let page = await maps.list(selected)
  const revision = Number(page.metadata.resourceVersion)
  for (;;) {
    items.push(...page.items.map(itemOf))
    if (page.metadata.continue === undefined) return { type: 'listed', revision, items }
    page = await maps.list({ ...selected, continue: page.metadata.continue })
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function untilDone<T>(request: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
  for (;;) {
    abandoned?.throwIfAborted()
    try {
      return await request()
    } catch {
      await pause(50)
    }
  }
}

/** Follows the objects until the last one, going on at the other server whenever a watch ends, and every hundred events. */
async function watch(
  mapsAt: (server: number) => ResourceClient,
  first: number,
  abandoned: AbortSignal,
): Promise<Watched> {
  const start = await untilDone(() => mapsAt(first).list({ labelSelector: `${LABEL}=yes` }), abandoned)
  const from = Number(start.metadata.resourceVersion)
  const changes: Change[] = []
  let at = from
  for (let server = first; !abandoned.aborted; server++) {
    const ending = new AbortController()
    try {
      const options = { labelSelector: `${LABEL}=yes`, resourceVersion: String(at), allowWatchBookmarks: true }
      const reader = await mapsAt(server).watch(options, AbortSignal.any([ending.signal, abandoned]))
      for (let count = 0; count < 100; count++) {
        const event = await reader.next()
        if (event === undefined) break
        at = Number(event.object.metadata.resourceVersion)
        if (event.type === 'BOOKMARK') continue
        const { key, value } = itemOf(event.object)
        changes.push({
          type: event.type === 'DELETED' ? 'delete' : 'put',
          key,
          revision: at,
          ...(event.type === 'DELETED' ? {} : { value }),
        })
        if (key === 'the-end') return { from, until: at, changes }
      }
    } catch (error) {
      if (error instanceof StatusError && error.code === 410) throw error
      await pause(50)
    } finally {
      ending.abort()
    }
  }
  throw abandoned.reason
}

/** What the store itself tells of the objects. */
export async function truthOf(storage: Storage, namespace: string, after: number): Promise<readonly Change[]> {
  const prefix = prefixOf(namespace)
  const truth: Change[] = []
  for (let at = after; ; ) {
    const { events, revision } = await storage.history(prefix, at)
    for (const { type, key, revision: changed, value } of events) {
      const object: KubeObject | undefined = value && JSON.parse(Buffer.from(value).toString())
      if (object !== undefined && object.metadata.labels?.[LABEL] === undefined) continue
      truth.push({
        type,
        key: key.slice(prefix.length),
        revision: changed,
        ...(object === undefined ? {} : { value: object['data'].value }),
      })
    }
    if (revision >= storage.revision) return truth
    at = revision
  }
}

/** The objects as the store has them now. */
export async function itemsIn(storage: Storage, namespace: string): Promise<readonly Item[]> {
  const prefix = prefixOf(namespace)
  const { items } = await storage.range(prefix, prefix.replace(/\/$/, '0'))
  return items.map(({ key, value, modRevision }) => ({
    key: key.slice(prefix.length),
    value: JSON.parse(Buffer.from(value).toString()).data.value,
    revision: modRevision,
  }))
}
