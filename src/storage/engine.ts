/**
 * The engine: etcd's model over a driver's tables. Writes compare against the head (the newest state, queued writes
 * included) and so pipeline; they become durable in groups, one group in flight.
 *
 * Guarantees: nobody learns of a head that is not durable. A read and a watch see only flushed revisions; a compare that
 * failed against a queued write is answered once that write is durable. When a flush fails the state on disk is
 * unknown: what was in flight and everything queued behind it fails, and the engine answers nothing any more.
 */
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import { sweepStep } from './compaction.ts'
import { createExpirySweeper } from './expiry.ts'
import {
  CompactedError,
  FutureRevisionError,
  type KeyValue,
  type RangeResult,
  type Storage,
  StoreError,
  type Write,
  type WriteResult,
} from './storage.ts'
import type { Change, CompactionStep, Expiry, KeyEntry, Tables } from './tables.ts'
import { createWatches } from './watches.ts'

/** A group larger than this leaves the rest to the next one: it bounds the wait of the first writer. */
const GROUP_WRITES = 1024
const GROUP_BYTES = 8 << 20

/** What LMDB takes as a key, in UTF-8. The names of some kinds have no limit of their own. */
const MAX_KEY_BYTES = 1978
const isTooLong = (key: string) => key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES

interface Answer {
  resolve(result: WriteResult): void
  reject(error: unknown): void
}

interface QueuedWrite extends Answer {
  readonly change: Change
  readonly expiry: Expiry | undefined
}

/** Failed compares that wait until the write they failed against is durable. */
interface BlockedAnswer extends Answer {
  readonly key: string
  readonly revision: number
}

export interface EngineOptions {
  /** Called once, when a flush failed and the engine stopped. */
  readonly onFailure?: (error: unknown) => void
}

export function createEngine(runtime: Runtime, tables: Tables, options: EngineOptions = {}): Storage {
  const { scheduler } = runtime
  let durable = tables.initial.revision
  let headRevision = durable
  let compacted = tables.initial.compactedRevision
  let swept = tables.initial.sweptRevision
  let failure: unknown
  let closed = false

  /** The newest queued state of each key that has one. */
  const heads = new Map<string, KeyEntry>()
  let queue: QueuedWrite[] = []
  let blocked: BlockedAnswer[] = []
  let endedExpiries: Expiry[] = []
  let compaction: { step: CompactionStep; done: Answerless } | undefined
  let flushing = false
  /** Whether something came while the group before was written. */
  let hasWaited = false
  let idle: (() => void)[] = []

  const watches = createWatches(runtime, tables, () => ({ durable, compacted }))
  const expirySweeper = createExpirySweeper(runtime, tables, {
    write,
    end(expiries) {
      endedExpiries.push(...expiries)
      startFlush()
    },
  })

  function write(request: Write): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      if (failure !== undefined || closed) return reject(failure ?? closedError())
      const { key, expectRevision } = request
      if (isTooLong(key)) return reject(new RangeError(`the key is longer than ${MAX_KEY_BYTES} bytes`))
      const head = heads.get(key)
      const entry = head ?? tables.entry(key)
      const current = entry === undefined || entry.deleted ? 0 : entry.modRevision
      if (current !== expectRevision || (request.type === 'delete' && current === 0)) {
        if (head) blocked.push({ key, revision: head.modRevision, resolve, reject })
        else answerConflict({ key, revision: 0, resolve, reject })
        return
      }
      const revision = ++headRevision
      const change: Change = {
        revision,
        key,
        createRevision: current === 0 || !entry ? revision : entry.createRevision,
        previousRevision: entry?.modRevision ?? 0,
        value: request.type === 'put' ? request.value : undefined,
      }
      const lease = request.type === 'put' ? request.leaseSeconds : undefined
      const expiry = lease === undefined ? undefined : { expiresAt: runtime.clock.now() + lease * 1000, revision, key }
      heads.set(key, {
        modRevision: revision,
        createRevision: change.createRevision,
        deleted: change.value === undefined,
      })
      if (request.type === 'put' && request.thenDelete === true) {
        const removal = { ...change, revision: ++headRevision, previousRevision: revision, value: undefined }
        heads.set(key, { modRevision: removal.revision, createRevision: change.createRevision, deleted: true })
        queue.push({ change, expiry: undefined, resolve: () => {}, reject: () => {} })
        queue.push({ change: removal, expiry: undefined, resolve, reject })
      } else queue.push({ change, expiry, resolve, reject })
      startFlush()
    })
  }

  function answerConflict({ key, resolve, reject }: BlockedAnswer): void {
    scheduler.handOver('storage answer', () => {
      if (failure !== undefined) return reject(failure)
      attempt(reject, () => resolve({ ok: false, current: readAt(key, durable), revision: durable }))
    })
  }

  function startFlush(): void {
    if (flushing || failure !== undefined) return
    flushing = true
    scheduler.handOver('storage group', flush)
  }

  function takeGroup(): QueuedWrite[] {
    let bytes = 0
    let count = 0
    while (count < queue.length && count < GROUP_WRITES && bytes < GROUP_BYTES) {
      bytes += queue[count++]!.change.value?.length ?? 0
    }
    if (count === queue.length) {
      const all = queue
      queue = []
      return all
    }
    return queue.splice(0, count)
  }

  function flush(): void {
    const group = takeGroup()
    const compacting = compaction
    compaction = undefined
    const ended = endedExpiries
    endedExpiries = []
    const changes = group.map((queued) => queued.change)
    const newExpiries = group.flatMap((queued) => queued.expiry ?? [])
    tables.flush({ hasWaited, compaction: compacting?.step, endedExpiries: ended, changes, newExpiries }).then(
      () => {
        complete(group)
        compacting?.done.resolve()
        expirySweeper.added(newExpiries)
      },
      (error) => fail(error, group, compacting?.done),
    )
  }

  function complete(group: readonly QueuedWrite[]): void {
    const last = group.at(-1)
    if (last) durable = last.change.revision
    for (const { change } of group) {
      if (heads.get(change.key)?.modRevision === change.revision) heads.delete(change.key)
    }
    flushing = false
    hasWaited = queue.length > 0 || compaction !== undefined || endedExpiries.length > 0
    // The disk works on the next group while this one is told.
    if (hasWaited) startFlush()
    if (last) watches.publish(group.map((queued) => queued.change))
    for (const { change, resolve } of group) {
      scheduler.handOver('storage answer', () => resolve({ ok: true, revision: change.revision }))
    }
    if (blocked.length > 0) {
      const answerable = blocked.filter(({ revision }) => revision <= durable)
      blocked = blocked.filter(({ revision }) => revision > durable)
      for (const answer of answerable) answerConflict(answer)
    }
    if (!flushing) {
      for (const resolve of idle) resolve()
      idle = []
    }
  }

  function fail(error: unknown, group: readonly QueuedWrite[], compacting: Answerless | undefined): void {
    failure =
      error instanceof StoreError
        ? error
        : new StoreError(
            `the store could not write to disk (${messageOf(error)}); ` +
              'it has stopped: free or mend the disk and start again',
            { cause: error },
          )
    flushing = false
    const waiting: { reject(error: unknown): void }[] = [...group, ...queue, ...blocked]
    if (compacting) waiting.push(compacting)
    if (compaction) waiting.push(compaction.done)
    queue = []
    blocked = []
    compaction = undefined
    heads.clear()
    for (const { reject } of waiting) reject(failure)
    for (const resolve of idle) resolve()
    idle = []
    runtime.log.error('storage failed', failure)
    watches.fail(failure)
    expirySweeper.stop()
    options.onFailure?.(failure)
  }

  /** The key's state at a flushed revision: along its changes back to the first one that is not newer. */
  function readAt(key: string, revision: number): KeyValue | undefined {
    const entry = isTooLong(key) ? undefined : tables.entry(key)
    return entry && valueAt(key, entry, revision)
  }

  function valueAt(key: string, entry: KeyEntry, revision: number): KeyValue | undefined {
    if (entry.deleted && entry.modRevision <= revision) return undefined
    for (let at = entry.modRevision; at > 0; ) {
      const change = tables.change(at)
      if (!change) return undefined
      if (change.revision <= revision) {
        if (change.value === undefined) return undefined
        return { key, value: change.value, modRevision: change.revision, createRevision: change.createRevision }
      }
      at = change.previousRevision
    }
    return undefined
  }

  /** The revision to read at. */
  function readable(revision: number | undefined): number {
    if (failure !== undefined) throw failure
    if (closed) throw closedError()
    if (revision === undefined || revision === 0) return durable
    if (revision > durable) throw new FutureRevisionError(revision, durable)
    if (revision < compacted) throw new CompactedError(compacted)
    return revision
  }

  async function range(
    start: string,
    end: string,
    { revision, limit = 0 }: { revision?: number; limit?: number } = {},
  ): Promise<RangeResult> {
    await turn(scheduler, 'storage read')
    const at = readable(revision)
    const items: KeyValue[] = []
    let remaining = 0
    for (const [key, entry] of tables.entries(start, end)) {
      if (limit > 0 && items.length >= limit) {
        if (existsAt(entry, at)) remaining++
        continue
      }
      const item = valueAt(key, entry, at)
      if (item) items.push(item)
    }
    return { items, revision: at, more: remaining > 0, remaining }
  }

  function existsAt(entry: KeyEntry, revision: number): boolean {
    if (entry.modRevision <= revision) return !entry.deleted
    if (!entry.deleted && entry.createRevision <= revision) return true
    for (let at = entry.modRevision; at > 0; ) {
      const change = tables.change(at)
      if (!change) return false
      if (change.revision <= revision) return change.value !== undefined
      at = change.previousRevision
    }
    return false
  }

  async function compact(revision: number): Promise<void> {
    if (revision > durable) throw new FutureRevisionError(revision, durable)
    if (revision <= compacted) throw new CompactedError(compacted)
    compacted = revision
    while (swept < revision) {
      if (failure !== undefined) throw failure
      if (closed) return
      const step = sweepStep(tables, swept, revision, (key) => heads.has(key))
      await new Promise<void>((resolve, reject) => {
        compaction = { step, done: { resolve, reject } }
        startFlush()
      })
      swept = step.sweptRevision
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    expirySweeper.stop()
    if (flushing) await new Promise<void>((resolve) => idle.push(resolve))
    watches.close()
    await tables.close()
  }

  return {
    get revision() {
      return durable
    },
    get compactedRevision() {
      return compacted
    },
    async get(key, revision) {
      await turn(scheduler, 'storage read')
      const at = readable(revision)
      return { item: readAt(key, at), revision: at }
    },
    range,
    write,
    watch: (prefix, afterRevision, signal) => {
      readable(undefined)
      return watches.watch(prefix, afterRevision, signal)
    },
    async history(prefix, afterRevision) {
      await turn(scheduler, 'storage read')
      readable(undefined)
      return watches.history(prefix, afterRevision)
    },
    subscribe: (prefix, afterRevision, subscriber) => {
      readable(undefined)
      return watches.subscribe(prefix, afterRevision, subscriber)
    },
    compact,
    close,
  }
}

interface Answerless {
  resolve(): void
  reject(error: unknown): void
}

const closedError = () => new StoreError('the store is closed')

function attempt(reject: (error: unknown) => void, task: () => void): void {
  try {
    task()
  } catch (error) {
    reject(error)
  }
}
