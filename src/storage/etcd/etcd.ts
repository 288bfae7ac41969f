/**
 * etcd: the driver for a store that several API servers share. Keys and values are those of Kubernetes, so an API server of
 * either kind can take the store over. Each write is one transaction that compares the key's mod_revision; a put that is deleted at
 * once is two. One watch feeds the subscribers of this process; a write is answered when it has brought the write.
 *
 * A call that etcd left without an answer may have been done: it fails, and nothing is said of it until the watch does.
 */
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { holdProcess } from '../../base/live-clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { StoreState } from '../engine.ts'
import {
  CompactedError,
  FutureRevisionError,
  type Guard,
  type KeyValue,
  NoRoomError,
  type RangeResult,
  type Storage,
  type StorageSubscriber,
  StoreError,
  type Write,
  type WriteResult,
} from '../storage.ts'
import { catchUp } from './catch-up.ts'
import type { Watching } from './changes.ts'
import { startMarkedCompaction } from './compaction.ts'
import { EtcdError, isCompacted, isDenied, isFutureRevision, isLeaseGone, isOutOfSpace, isPassing } from './errors.ts'
import { type Feed, startFeed, unreachable } from './feed.ts'
import { readHistory } from './history.ts'
import { startEtcdJournal } from './journal.ts'
import { createKeys } from './keys.ts'
import { createLeases } from './leases.ts'
import { MAKE_ROOM, memberFaults } from './member-faults.ts'
import { connectMembers, type Members } from './members.ts'
import type { EtcdKeyValue, RangeResponse, RequestOp } from './messages.ts'
import { withoutRights } from './rights.ts'
import { type EtcdOptions, etcdServers } from './servers.ts'

export interface EtcdStorageOptions extends EtcdOptions {
  readonly onState?: (state: StoreState) => void
  /** Milliseconds to wait for etcd at the start. Default half a minute. */
  readonly startMs?: number
}

const START_MS = 30_000
/** Keys read at once. */
const PAGE = 2000
/** How long a write that is done waits for the watch to bring it, and a read for the newest, in milliseconds. */
const CATCH_UP_MS = 10_000
/** As long as a member may take to say how it is. */
const FAULTS_MS = 2000

/** @throws StoreError when a flag is wrong, or etcd cannot be reached */
export async function openEtcd(runtime: Runtime, options: EtcdStorageOptions): Promise<Storage> {
  const servers = etcdServers(options)
  const members = connectMembers(runtime, servers)
  // A live timer keeps no process alive by itself, and nothing else may do so yet.
  const release = holdProcess()
  try {
    await untilAnswered(runtime, members, options.startMs ?? START_MS)
    const keys = createKeys(servers.prefix)
    return await createEtcdStorage(runtime, { members, keys }, servers.prefix, options)
  } catch (error) {
    members.close()
    throw error
  } finally {
    release()
  }
}

/** By any member. @throws StoreError when none does in time */
async function untilAnswered({ clock, log }: Runtime, members: Members, ms: number): Promise<void> {
  const until = clock.monotonic() + ms
  for (;;) {
    try {
      await members.call('Status', {}, { isRepeatable: true, timeoutMs: Math.min(5000, ms) })
      return
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(messageOf(error))
      if (!(error instanceof EtcdError) || !isPassing(error) || clock.monotonic() >= until) throw unreachable(reason)
      log.info(0, 'etcd does not answer yet', { why: reason.message })
    }
    await sleep(clock, 200)
  }
}

async function createEtcdStorage(
  runtime: Runtime,
  watching: Watching,
  prefix: string,
  options: EtcdStorageOptions,
): Promise<Storage> {
  const { clock, scheduler, log } = runtime
  const { members, keys } = watching
  const leases = createLeases(runtime, members, options.leaseReuseSeconds)
  const journal = startEtcdJournal(runtime, members, prefix)
  let compacted = 0
  let failure: StoreError | undefined
  let hindrance: StoreError | undefined
  let isClosed = false
  /** The last write to each key that has one under way. */
  const tails = new Map<string, Promise<unknown>>()
  /** The value that is being put to each key. */
  const writing = new Map<string, Uint8Array>()
  /** What tells subscribers the changes that they have missed. */
  const catchingUp = new Set<Promise<void>>()

  const first = await ask(() => members.call('Range', { ...keys.all, limit: 1, keys_only: true }, REPEATABLE), 0)
  const feed: Feed = startFeed(
    runtime,
    watching,
    {
      ownValue: (key, value) => {
        const own = writing.get(key)
        return own !== undefined && Buffer.compare(own, value) === 0 ? own : value
      },
      readAll: (prefix) => readAll(prefix, `${prefix}\u{10ffff}`),
      newest: askNewest,
      state: (found) => {
        if (failure !== undefined || hindrance?.message === found?.message) return
        hindrance = found
        if (found !== undefined) log.error('etcd cannot be reached', found)
        tell(found === undefined ? { type: 'well' } : { type: 'waiting', error: found })
      },
      failed: fail,
    },
    { revision: first.header.revision, clusterId: first.header.cluster_id },
  )
  const subscribers = new Set<StorageSubscriber>()
  const stopCompacting =
    (options.compactEveryMs ?? 1) <= 0
      ? () => {}
      : startMarkedCompaction(runtime, members, { compacted: hasCompacted }, options.compactEveryMs)

  function tell(state: StoreState): void {
    try {
      options.onState?.(state)
    } catch (error) {
      log.error('the listener to the state of the store failed', error)
    }
  }

  function fail(error: StoreError): void {
    failure = error
    log.error('the store has failed', error)
    for (const { failed } of subscribers) failed?.(error)
    tell({ type: 'failed', error })
  }

  function hasCompacted(revision: number): void {
    compacted = Math.max(compacted, revision)
  }

  function refused(): StoreError | undefined {
    return failure ?? (isClosed ? new StoreError('the store is closed') : undefined)
  }

  /** @throws what the storage's contract says of a call's failure */
  async function ask<T>(call: () => Promise<T>, revision: number): Promise<T> {
    const refusal = refused()
    if (refusal !== undefined) throw refusal
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error
      if (refused() !== undefined) throw refused()
      if (isCompacted(error)) {
        hasCompacted(revision + 1)
        throw new CompactedError(compacted)
      }
      if (isFutureRevision(error)) throw new FutureRevisionError(revision, feed.revision)
      if (isOutOfSpace(error)) throw overQuota(error)
      if (isDenied(error)) throw withoutRights(error, watching)
      const unsure = isPassing(error) && !error.isUnsent ? '; whether it was done is not known' : ''
      throw new StoreError(`etcd at ${error.address ?? members.address}: ${error.message}${unsure}`, { cause: error })
    }
  }

  const readPage = (start: string, end: string, revision: number, limit: number): Promise<RangeResponse> =>
    ask(
      () => members.call('Range', { ...keys.range(start, end), revision, limit }, { ...REPEATABLE, timeoutMs: 30_000 }),
      revision,
    )

  function itemOf(found: EtcdKeyValue): KeyValue {
    const { key, value, mod_revision, create_revision } = found
    return {
      key: keys.ofEtcd(key) ?? '',
      value,
      modRevision: mod_revision,
      createRevision: create_revision,
    }
  }

  /** In pages, all of one revision. */
  async function readAll(start: string, end: string, at = 0): Promise<{ items: KeyValue[]; revision: number }> {
    const items: KeyValue[] = []
    let revision = at
    for (let from = start; ; ) {
      const page = await readPage(from, end, revision, PAGE)
      if (revision === 0) revision = page.header.revision
      for (const found of page.kvs) items.push(itemOf(found))
      if (!page.more) return { items, revision }
      from = `${items.at(-1)?.key}\0`
    }
  }

  async function range(
    start: string,
    end: string,
    { revision = 0, limit = 0 }: { revision?: number; limit?: number } = {},
  ): Promise<RangeResult> {
    if (limit === 0) return { ...(await readAll(start, end, revision)), more: false, remaining: 0 }
    const page = await readPage(start, end, revision, limit)
    return {
      items: page.kvs.map(itemOf),
      revision: revision || page.header.revision,
      more: page.more,
      remaining: page.count - page.kvs.length,
    }
  }

  async function get(key: string, revision = 0) {
    const answer = await ask(() => members.call('Range', { key: keys.toEtcd(key), revision }, REPEATABLE), revision)
    const [found] = answer.kvs
    return { item: found && itemOf(found), revision: revision || answer.header.revision }
  }

  /** In the order of the calls for each key. */
  function write(request: Write): Promise<WriteResult> {
    const { key } = request
    const before = tails.get(key)
    const result = before === undefined ? writeNow(request) : before.then(() => writeNow(request))
    const settled = result.then(
      () => {},
      () => {},
    )
    tails.set(key, settled)
    void settled.then(() => {
      if (tails.get(key) === settled) tails.delete(key)
    })
    return result
  }

  async function writeNow(request: Write): Promise<WriteResult> {
    const { key, expectRevision } = request
    if (request.type === 'delete') return noted(request, await removed(key, expectRevision))
    const put = await putWith(request)
    return noted(request, put.ok && request.thenDelete === true ? await removed(key, put.revision) : put)
  }

  function noted({ journal: textOf }: Write, result: WriteResult): WriteResult {
    if (textOf !== undefined && result.ok) journal.add({ revision: result.revision, text: textOf() })
    return result
  }

  async function putWith(request: Extract<Write, { type: 'put' }>): Promise<WriteResult> {
    const { key, value, expectRevision, leaseSeconds, guard } = request
    for (let isFirst = true; ; isFirst = false) {
      const lease =
        leaseSeconds === undefined || request.thenDelete === true
          ? 0
          : await ask(() => leases.leaseFor(leaseSeconds), 0)
      writing.set(key, value)
      try {
        return await transact(key, expectRevision, { request_put: { key: keys.toEtcd(key), value, lease } }, guard)
      } catch (error) {
        if (lease === 0 || !isFirst || !(error instanceof Error) || !isLeaseGone(error)) throw error
        leases.forget(lease)
      } finally {
        writing.delete(key)
      }
    }
  }

  async function removed(key: string, expectRevision: number): Promise<WriteResult> {
    if (expectRevision > 0) return transact(key, expectRevision, { request_delete_range: { key: keys.toEtcd(key) } })
    const { item, revision } = await get(key)
    return { ok: false, current: item, revision }
  }

  async function transact(
    key: string,
    expectRevision: number,
    success: RequestOp,
    guard?: Guard,
  ): Promise<WriteResult> {
    const at = keys.toEtcd(key)
    const guarded = guard === undefined ? undefined : keys.toEtcd(guard.key)
    const answer = await ask(
      () =>
        members.call(
          'Txn',
          {
            compare: [
              { target: 'MOD', key: at, mod_revision: expectRevision },
              ...(guard === undefined || guarded === undefined
                ? []
                : [{ target: 'MOD' as const, key: guarded, mod_revision: guard.expectRevision }]),
            ],
            success: [success, ...(guarded === undefined ? [] : [{ request_put: { key: guarded, value: NOTHING } }])],
            failure: [{ request_range: { key: at } }],
          },
          { isRepeatable: false },
        ),
      0,
    )
    const { succeeded, header, responses } = answer
    if (succeeded) {
      await brought(header.revision)
      return { ok: true, revision: header.revision }
    }
    const [found] = responses[0]?.response_range?.kvs ?? []
    const current = found && itemOf(found)
    if (current !== undefined) await brought(current.modRevision)
    const guardMoved = guard !== undefined && (current?.modRevision ?? 0) === expectRevision
    return { ok: false, current, revision: Math.max(feed.revision, current?.modRevision ?? 0), guardMoved }
  }

  /** Until subscribers have been told of what this revision wrote; not for ever, since it is done whether they are or not. */
  async function brought(revision: number): Promise<void> {
    if (revision > feed.revision) await within(CATCH_UP_MS, feed.reached(revision, true))
    if (catchingUp.size > 0) await within(CATCH_UP_MS, Promise.all(catchingUp))
  }

  /** Whether it comes to an end in time. */
  function within(ms: number, task: Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isDone: boolean) => {
        timer.cancel()
        signal?.removeEventListener('abort', onAbort)
        resolve(isDone)
      }
      const onAbort = () => end(false)
      const timer = clock.setTimer(ms, 'etcd catch up', () => end(false))
      signal?.addEventListener('abort', onAbort, { once: true })
      task.then(
        () => scheduler.handOver('storage answer', () => end(true)),
        () => end(false),
      )
    })
  }

  /** One question is under way, and one more waits for all that are asked meanwhile: it must begin after they were asked. */
  let question: Promise<number> | undefined
  let nextQuestion: Promise<number> | undefined

  function newest(): Promise<number> {
    if (question === undefined) {
      question = askNewest().finally(() => {
        question = undefined
      })
      return question
    }
    nextQuestion ??= question
      .catch(() => {})
      .then(() => {
        nextQuestion = undefined
        return newest()
      })
    return nextQuestion
  }

  async function askNewest(): Promise<number> {
    const { header } = await ask(() => members.call('Range', { key: keys.all.key, keys_only: true }, REPEATABLE), 0)
    return header.revision
  }

  async function fresh(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const revision = await newest()
    signal?.throwIfAborted()
    if (catchingUp.size === 0 && revision <= feed.revision) return
    if (await within(CATCH_UP_MS, Promise.all([feed.reached(revision), ...catchingUp]), signal)) return
    signal?.throwIfAborted()
    throw hindrance ?? new StoreError(`etcd has not told of revision ${revision} within ${CATCH_UP_MS / 1000} seconds`)
  }

  async function history(prefix: string, after: number) {
    const refusal = refused()
    if (refusal !== undefined) throw refusal
    if (after < compacted) throw new CompactedError(compacted)
    if (after >= feed.revision) return { events: [], revision: after }
    const page = await readHistory(
      watching,
      { range: keys.range(prefix, `${prefix}\u{10ffff}`), after, upTo: feed.revision },
      (ms, task) => clock.setTimer(ms, 'etcd history', task),
    ).catch((error: unknown) => {
      if (error instanceof CompactedError) hasCompacted(error.compactedRevision)
      throw error
    })
    return { ...page, events: page.events.filter(({ key }) => key.startsWith(prefix)) }
  }

  /** Changes, or everything where etcd has given them up. */
  async function pastOrAnew(prefix: string, after: number) {
    try {
      return await history(prefix, after)
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error
      return readAll(prefix, `${prefix}\u{10ffff}`)
    }
  }

  function subscribe(prefix: string, after: number, subscriber: StorageSubscriber): () => void {
    const refusal = refused()
    if (refusal !== undefined) throw refusal
    if (after < compacted) throw new CompactedError(compacted)
    subscribers.add(subscriber)
    let end = () => {}
    if (after >= feed.revision) end = feed.subscribe(prefix, after, subscriber)
    else {
      const over = new AbortController()
      const joins = (at: number) => {
        if (refused() !== undefined) return true
        if (at < feed.revision) return false
        end = feed.subscribe(prefix, at, subscriber)
        return true
      }
      const read = (at: number) => pastOrAnew(prefix, at)
      const task = catchUp(runtime, after, { read, joins }, subscriber, over.signal).catch((error: unknown) => {
        if (refused() !== undefined || over.signal.aborted) return
        fail(error instanceof StoreError ? error : new StoreError(messageOf(error), { cause: error }))
      })
      const forget = () => catchingUp.delete(task)
      catchingUp.add(task)
      void task.then(forget)
      end = () => {
        over.abort()
        forget()
      }
    }
    return () => {
      subscribers.delete(subscriber)
      end()
    }
  }

  async function compact(revision: number): Promise<void> {
    if (revision <= compacted) throw new CompactedError(compacted)
    await ask(() => members.call('Compact', { revision }, { isRepeatable: false }), revision)
    hasCompacted(revision)
  }

  const storage: Storage = {
    isShared: true,
    mayBeGarbled: true,
    get revision() {
      return feed.revision
    },
    get compactedRevision() {
      return compacted
    },
    get failure() {
      return refused() ?? hindrance
    },
    fresh,
    get,
    range,
    write,
    history,
    subscribe,
    size: async () => (await ask(() => members.call('Status', {}, REPEATABLE), 0)).dbSize,
    faults: async () => memberFaults(await members.states(FAULTS_MS)),
    journal: (afterRevision) => ask(() => journal.read(afterRevision), 0),
    compact,
    async close() {
      if (isClosed) return
      await Promise.all(tails.values())
      await journal.close()
      isClosed = true
      stopCompacting()
      feed.close()
      members.close()
    },
  }
  try {
    await feed.begun
  } catch (error) {
    await storage.close()
    throw error
  }
  return storage
}

/** It is a quota that is full, not a disk, and room alone ends nothing: an alarm stands until it is taken away by hand. */
const overQuota = (cause: EtcdError): NoRoomError =>
  new NoRoomError(cause.message, { cause }, `${cause.message}: ${MAKE_ROOM}`)

const REPEATABLE = { isRepeatable: true }
const NOTHING = Buffer.alloc(0)
