/**
 * The engine: etcd's model over a driver's tables. Writes compare against the head (the newest state, queued writes
 * included) and so pipeline; they become durable in groups, one group in flight.
 *
 * Guarantees: no caller learns of a head that is not durable. A read and a watch see only flushed revisions; a compare that
 * failed against a queued write is answered once that write is durable. When a flush fails the state on disk is
 * unknown: what was in flight and everything queued behind it fails. Where only room was missing, the engine finds out what
 * is on disk, goes on with reads and takes writes again once there is room; otherwise it answers nothing any more.
 */
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import { sweepStep } from './compaction-steps.ts'
import { createExpirySweeper } from './expiry.ts'
import { createFlushTurns } from './flush-turns.ts'
import { imageOf, type StoreImage } from './image.ts'
import {
  createJournalBounds,
  JOURNAL_BOUNDS,
  type JournalAddition,
  type JournalBounds,
  type JournalText,
} from './journal.ts'
import { rangeAt, valueAt, versionOf } from './reads.ts'
import { createRecovery, type PendingCompaction } from './recovery.ts'
import {
  CompactedError,
  FutureRevisionError,
  type KeyValue,
  NoRoomError,
  type RangeResult,
  type Storage,
  StoreError,
  type Write,
  type WriteResult,
} from './storage.ts'
import type { Expiry, Group, KeyChange, KeyEntry, Tables } from './tables.ts'
import { createWatches } from './watches.ts'

/** A group larger than this leaves the rest to the next one: it bounds the wait of the first writer. */
const GROUP_WRITES = 1024
const GROUP_BYTES = 8 << 20

/** What LMDB takes as a key, in UTF-8. The names of some kinds have no limit of their own. */
const MAX_KEY_BYTES = 1978
const isTooLong = (key: string) => key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES

interface Rejectable {
  reject(error: unknown): void
}

interface Answer extends Rejectable {
  resolve(result: WriteResult): void
}

interface QueuedWrite extends Answer {
  readonly change: KeyChange
  readonly expiry: Expiry | undefined
  readonly journal: (() => JournalText) | undefined
  /** The key is deleted by a later group; that answers. */
  readonly thenDelete: boolean
}

interface Head extends KeyEntry {
  /** Its removal follows: until then no compare with it succeeds. */
  readonly isGoing?: boolean
}

/** Failed compares that wait until the write they failed against is durable. */
interface BlockedAnswer extends Answer {
  readonly key: string
  readonly revision: number
}

/** How a store is: what health checks and metrics tell of it. */
export type StoreState =
  | { readonly type: 'well' }
  /** Its disk has no room: it refuses writes until there is some. */
  | { readonly type: 'waiting'; readonly error: StoreError }
  /** It answers nothing any more. */
  | { readonly type: 'failed'; readonly error: StoreError }

export interface EngineOptions {
  /** Called each time that it changes. */
  readonly onState?: (state: StoreState) => void
  /** Default JOURNAL_BOUNDS. */
  readonly journal?: JournalBounds
  /** Between what is put to be deleted and its deletion (`thenDelete`). Default: none, the deletion is in the group after it. */
  readonly removalDelayMs?: number
}

export function createEngine(runtime: Runtime, tables: Tables, options: EngineOptions = {}): Storage {
  const { scheduler } = runtime
  const { removalDelayMs = 0 } = options
  let durable = tables.initial.revision
  let headRevision = durable
  let compacted = tables.initial.compactedRevision
  let swept = tables.initial.sweptRevision
  let failure: StoreError | undefined
  let closed = false

  /** The newest queued state of each key that has one. */
  const heads = new Map<string, Head>()
  let queue: QueuedWrite[] = []
  let blocked: BlockedAnswer[] = []
  let endedExpiries: { readonly expiries: readonly Expiry[]; readonly done: Answerless }[] = []
  let compaction: PendingCompaction | undefined
  let flushing = false
  /** Whether something came while the group before was written. */
  let hasWaited = false
  let idle: (() => void)[] = []
  /** How many objects were put to be deleted whose removal is not queued yet. */
  let removals = 0
  /** The last one that was made: the next one shares what has not changed. */
  let lastImage: WeakRef<StoreImage> | undefined

  const flushTurns = createFlushTurns(scheduler, runtime.machineClock)
  const journal = createJournalBounds(tables, options.journal ?? JOURNAL_BOUNDS)
  const watches = createWatches(runtime, tables, () => ({ durable, compacted }))
  const recovery = createRecovery(runtime, tables, {
    durable: () => durable,
    setBusy: (isBusy) => {
      if (isBusy) flushing = true
      else becomeIdle()
    },
    takeCompaction: () => {
      const taken = compaction
      compaction = undefined
      return taken
    },
    giveBack: (taken) => {
      if (closed) taken.done.reject(closedError())
      else compaction = taken
    },
    goOn,
    stop,
  })
  const expirySweeper = createExpirySweeper(runtime, tables, {
    write,
    end: (expiries) =>
      new Promise((resolve, reject) => {
        const refusal = refused()
        if (refusal !== undefined) return reject(refusal)
        endedExpiries.push({ expiries, done: { resolve, reject } })
        startFlush()
      }),
  })

  function refused(): StoreError | undefined {
    return failure ?? (closed ? closedError() : recovery.hindrance)
  }

  function write(request: Write): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      const refusal = refused()
      if (refusal !== undefined) return reject(refusal)
      const { expectRevision } = request
      // What a key is, its bytes say.
      const key = request.key.toWellFormed()
      if (isTooLong(key)) return reject(new RangeError(`the key is longer than ${MAX_KEY_BYTES} bytes`))
      const head = heads.get(key)
      const entry = head ?? tables.entry(key)
      const current = entry === undefined || entry.deleted ? 0 : entry.modRevision
      if (current !== expectRevision || head?.isGoing === true || (request.type === 'delete' && current === 0)) {
        if (head) blocked.push({ key, revision: head.modRevision, resolve, reject })
        else answerConflict({ key, revision: 0, resolve, reject })
        return
      }
      const thenDelete = request.type === 'put' && request.thenDelete === true
      const change = changeOf(key, entry, request.type === 'put' ? request.value : undefined)
      const { revision } = change
      const lease = request.type === 'put' && !thenDelete ? request.leaseSeconds : undefined
      const expiry = lease === undefined ? undefined : { expiresAt: runtime.clock.now() + lease * 1000, revision, key }
      if (thenDelete) heads.set(key, { ...headOf(change), isGoing: true })
      queue.push({ change, expiry, journal: request.journal, thenDelete, resolve, reject })
      startFlush()
    })
  }

  /** The next revision, which is the key's head from now on. */
  function changeOf(key: string, entry: KeyEntry | undefined, value: Uint8Array | undefined): KeyChange {
    const revision = ++headRevision
    const createRevision = entry === undefined || entry.deleted ? revision : entry.createRevision
    const change: KeyChange = { revision, key, createRevision, previousRevision: entry?.modRevision ?? 0, value }
    heads.set(key, headOf(change))
    return change
  }

  /** The second half of a write that is to be deleted: a commit of its own. */
  function queueRemoval({ change, journal, resolve, reject }: QueuedWrite): void {
    const removal = changeOf(change.key, headOf(change), undefined)
    queue.push({ change: removal, expiry: undefined, journal, thenDelete: false, resolve, reject })
  }

  /** Those of one group at once: a timer for each would cost as much as to queue it. */
  function queueRemovalsLater(group: readonly QueuedWrite[], ms: number): void {
    removals += group.length
    scheduler.soon(ms, 'storage removal', () => {
      removals -= group.length
      const refusal = failure ?? recovery.hindrance
      if (refusal === undefined) {
        for (const queued of group) queueRemoval(queued)
        return startFlush()
      }
      for (const { reject } of group) reject(refusal)
      if (!flushing) becomeIdle()
    })
  }

  function answerConflict({ key, resolve, reject }: BlockedAnswer): void {
    scheduler.handOver('storage answer', () => {
      if (failure !== undefined) return reject(failure)
      attempt(reject, () => resolve({ ok: false, current: readAt(key, durable), revision: durable }))
    })
  }

  function startFlush(): void {
    if (flushing || failure !== undefined || recovery.hindrance !== undefined) return
    flushing = true
    flushTurns.begin(flush, tables.isInPlace === true, () => queue.length)
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
    flushTurns.wrote(group.length)
    const compacting = compaction
    compaction = undefined
    // Not before the deletes that end them.
    const ended = queue.length === 0 ? endedExpiries : []
    if (queue.length === 0) endedExpiries = []
    const changes = group.map((queued) => queued.change)
    const newExpiries: Expiry[] = []
    const journalled: JournalAddition[] = []
    for (const { change, expiry, journal, thenDelete } of group) {
      if (expiry !== undefined) newExpiries.push(expiry)
      if (journal === undefined || thenDelete) continue
      try {
        journalled.push({ revision: change.revision, text: journal() })
      } catch (error) {
        runtime.log.error('storage journal', error)
      }
    }
    const others = [...ended.map(({ done }) => done), ...(compacting ? [compacting.done] : [])]
    const whole: Group = {
      hasWaited,
      compaction: compacting?.step,
      endedExpiries: ended.flatMap(({ expiries }) => expiries),
      changes,
      newExpiries,
      ...(journalled.length === 0 ? {} : { journal: journal.step(journalled) }),
    }
    scheduler.during(tables.flush(whole)).then(
      () => {
        complete(group)
        for (const done of others) done.resolve()
        expirySweeper.added(newExpiries)
      },
      (error) => fail(error, changes, [...group, ...others]),
    )
  }

  function complete(group: readonly QueuedWrite[]): void {
    const last = group.at(-1)
    if (last) durable = last.change.revision
    const going: QueuedWrite[] = []
    for (const queued of group) {
      const { change, thenDelete } = queued
      if (thenDelete && removalDelayMs > 0) going.push(queued)
      else if (thenDelete) queueRemoval(queued)
      else if (heads.get(change.key)?.modRevision === change.revision) heads.delete(change.key)
    }
    if (going.length > 0) queueRemovalsLater(going, removalDelayMs)
    flushing = false
    hasWaited = queue.length > 0 || compaction !== undefined || endedExpiries.length > 0
    // The disk works on the next group while this one is told.
    if (hasWaited) startFlush()
    if (last) watches.publish(group.map((queued) => queued.change))
    for (const { change, thenDelete, resolve } of group) {
      if (thenDelete) continue
      scheduler.handOver('storage answer', () => resolve({ ok: true, revision: change.revision }))
    }
    if (blocked.length > 0) {
      const answerable = blocked.filter(({ revision }) => revision <= durable)
      blocked = blocked.filter(({ revision }) => revision > durable)
      for (const answer of answerable) answerConflict(answer)
    }
    if (!flushing) becomeIdle()
  }

  function becomeIdle(): void {
    flushing = false
    if (removals > 0) return
    for (const resolve of idle) resolve()
    idle = []
  }

  function fail(error: unknown, changes: readonly KeyChange[], writers: readonly Rejectable[]): void {
    const { reload } = tables
    journal.forget()
    if (!(error instanceof NoRoomError) || reload === undefined) {
      stop(error, writers)
      return
    }
    recovery.begin(error, changes, () => reload.call(tables))
    rejectAll(error, writers)
    runtime.log.error('storage has no room', error)
    tell({ type: 'waiting', error })
  }

  function goOn(found: readonly KeyChange[]): void {
    headRevision = found.at(-1)?.revision ?? durable
    durable = headRevision
    becomeIdle()
    if (closed) return
    // Their writers were told that they failed; what is on disk, and safe by the write just done, is so nevertheless.
    if (found.length > 0) watches.publish(found)
    runtime.log.info(0, 'storage has room again', { revision: durable })
    tell({ type: 'well' })
    if (compaction !== undefined) startFlush()
    expirySweeper.resume()
  }

  /** For good. */
  function stop(error: unknown, writers: readonly Rejectable[] = []): void {
    const reason =
      error instanceof StoreError && !(error instanceof NoRoomError)
        ? error
        : new StoreError(
            `the store could not write to disk (${messageOf(error)}); ` +
              'it has stopped: free or mend the disk and start again',
            { cause: error },
          )
    failure = reason
    recovery.end()
    rejectAll(reason, writers)
    if (compaction) compaction.done.reject(reason)
    compaction = undefined
    becomeIdle()
    runtime.log.error('storage failed', reason)
    watches.fail(reason)
    expirySweeper.stop()
    tell({ type: 'failed', error: reason })
  }

  /** Those of the failed group, and all that wait; but a compaction is left, which may make room. */
  function rejectAll(error: StoreError, writers: readonly Rejectable[]): void {
    const rejected = [...writers, ...queue, ...blocked, ...endedExpiries.map(({ done }) => done)]
    queue = []
    blocked = []
    endedExpiries = []
    heads.clear()
    for (const { reject } of rejected) reject(error)
  }

  function tell(state: StoreState): void {
    try {
      options.onState?.(state)
    } catch (error) {
      runtime.log.error('the listener to the state of the store failed', error)
    }
  }

  /** The key's state at a flushed revision. */
  function readAt(key: string, revision: number): KeyValue | undefined {
    const whole = key.toWellFormed()
    const entry = isTooLong(whole) ? undefined : tables.entry(whole)
    return entry && valueAt(tables, whole, entry, revision)
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
    return rangeAt(tables, start, end, at, limit)
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
    recovery.end()
    expirySweeper.stop()
    if (compaction !== undefined && recovery.hindrance !== undefined) compaction.done.reject(recovery.hindrance)
    if (flushing || removals > 0) await new Promise<void>((resolve) => idle.push(resolve))
    watches.close()
    await tables.close()
  }

  return {
    isShared: false,
    get revision() {
      return durable
    },
    get compactedRevision() {
      return compacted
    },
    get failure() {
      return refused()
    },
    async get(key, revision) {
      await turn(scheduler, 'storage read')
      const at = readable(revision)
      return { item: readAt(key, at), revision: at }
    },
    range,
    write,
    fresh: () => undefined,
    async history(prefix, afterRevision) {
      await turn(scheduler, 'storage read')
      readable(undefined)
      return watches.history(prefix, afterRevision)
    },
    subscribe: (prefix, afterRevision, subscriber) => {
      readable(undefined)
      return watches.subscribe(prefix, afterRevision, subscriber)
    },
    image() {
      readable(undefined)
      const image = imageOf(tables, durable, lastImage?.deref())
      lastImage = new WeakRef(image)
      return image
    },
    version: (item) => versionOf(tables, item),
    ...(tables.size === undefined ? {} : { size: async () => tables.size?.() ?? 0 }),
    async journal(afterRevision) {
      await turn(scheduler, 'storage read')
      readable(undefined)
      return [...tables.journal(afterRevision)]
    },
    compact,
    close,
  }
}

interface Answerless extends Rejectable {
  resolve(): void
}

const headOf = ({ revision, createRevision, value }: KeyChange): Head => ({
  modRevision: revision,
  createRevision,
  deleted: value === undefined,
})

const closedError = () => new StoreError('the store is closed')

function attempt(reject: (error: unknown) => void, task: () => void): void {
  try {
    task()
  } catch (error) {
    reject(error)
  }
}
