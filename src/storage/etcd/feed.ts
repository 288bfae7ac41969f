/**
 * The one watch that this process has at etcd: what it brings goes to the subscribers in revision order, and what waits for a
 * revision is told. It is begun again at the next member when it breaks off, and where it ended.
 */
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { CompactedError, type KeyValue, type StorageEvent, type StorageSubscriber, StoreError } from '../storage.ts'
import { type Followable, followChanges, type Watching } from './changes.ts'
import { EtcdError, isDenied } from './errors.ts'
import type { Keys } from './keys.ts'
import type { EtcdEvent } from './messages.ts'
import { withoutRights } from './rights.ts'

/** While a read waits for a revision: how often etcd is asked how far it is. */
const ASK_AGAIN_MS = 20
const TRY_AGAIN_MS = 100
const LONGEST_TRY_MS = 1000
/** A watch that has brought nothing for so long, while a revision is waited for that there is, is begun at the next member. */
const STANDS_STILL_MS = 4000

export interface FeedHost {
  /** The bytes that this process is writing to the key, where these are the same: the writer recognizes them. */
  ownValue(key: string, value: Uint8Array): Uint8Array
  /** Everything under a prefix, at a revision. */
  readAll(prefix: string): Promise<{ items: readonly KeyValue[]; revision: number }>
  /** The watch stands (undefined), or does not, and why. */
  state(hindrance: StoreError | undefined): void
  /** How far etcd is by its majority, whatever the member that is asked has taken in yet. */
  newest(): Promise<number>
  /** The store is not the one it was. */
  failed(error: StoreError): void
}

interface Subscription {
  readonly prefix: string
  readonly subscriber: StorageSubscriber
  /** What is not newer it has already. */
  seen: number
}

interface Waiter {
  readonly revision: number
  readonly asks: boolean
  resolve(): void
}

export interface Feed {
  readonly revision: number
  /** Settles with the first watch: @throws StoreError where this client has no right to it */
  readonly begun: Promise<void>
  /** Resolves when subscribers were told of everything up to the revision. Those that wait `quietly` know that an event comes. */
  reached(revision: number, quietly?: boolean): Promise<void>
  subscribe(prefix: string, seen: number, subscriber: StorageSubscriber): () => void
  close(): void
}

export function startFeed(
  { clock, log }: Runtime,
  watching: Watching,
  host: FeedHost,
  begin: { readonly revision: number; readonly clusterId: number },
): Feed {
  const subscriptions = new Set<Subscription>()
  /** In the order of their revisions. */
  const waiters: Waiter[] = []
  let asking = 0
  let revision = begin.revision
  let stream: Followable | undefined
  let isClosed = false
  let failures = 0
  let retry: Timer | undefined
  let askAgain: Timer | undefined
  let patience: Timer | undefined
  const begun = Promise.withResolvers<void>()

  function open(): void {
    let isFirst = true
    const own = followChanges(
      watching,
      { after: revision },
      {
        started({ header }) {
          if (header.cluster_id !== begin.clusterId) {
            stop()
            host.failed(new StoreError(`${watching.members.address} is another etcd cluster than before: start again`))
          } else if (header.revision < revision) void judge()
          else stands()
        },
        changes: (events, newest) => deliver(events, newest),
        ended(error) {
          if (!isFirst || isClosed) return
          isFirst = false
          stream = undefined
          if (error instanceof CompactedError) void readAnew()
          else again(error)
        },
      },
    )
    stream = own

    /** A member that was away has not taken in yet what others answered. It tells that too, once it has. */
    async function judge(): Promise<void> {
      const seen = revision
      try {
        const newest = await host.newest()
        if (isClosed) return
        if (newest >= seen) {
          if (isFirst) stands()
          return
        }
        stop()
        const what = `etcd is at revision ${newest}, which was at ${seen}: it has lost what it had; start again`
        host.failed(new StoreError(what))
      } catch (error) {
        if (!isFirst || isClosed) return
        isFirst = false
        own.close()
        again(error instanceof Error ? error : new Error(messageOf(error)))
      }
    }
  }

  function stands(): void {
    if (failures > 0) log.info(2, 'etcd is watched again', { at: watching.members.address, revision })
    failures = 0
    host.state(undefined)
    begun.resolve()
    if (asking > 0) ask()
  }

  function again(error: Error, task = open): void {
    if (isClosed) return
    stream = undefined
    failures++
    // Reads have put what etcd said into words already.
    const met = error instanceof StoreError && error.cause instanceof EtcdError ? error.cause : error
    const hindrance = isDenied(met) ? withoutRights(met, watching) : unreachable(met)
    if (isDenied(met)) begun.reject(hindrance)
    else begun.resolve()
    // One member that goes is no outage.
    if (failures > 2) host.state(hindrance)
    const wait = failures === 1 ? 0 : pauseAfter(failures)
    retry = clock.setTimer(wait, 'etcd watch', task)
  }

  /** etcd gave up history that this process has not seen. */
  async function readAnew(): Promise<void> {
    try {
      log.info(0, 'etcd has compacted what was not seen yet: everything is read anew', { seen: revision })
      const { items, revision: newest } = await host.readAll('')
      if (isClosed) return
      revision = newest
      for (const subscription of [...subscriptions]) {
        const { prefix, subscriber } = subscription
        subscription.seen = newest
        attempt(() =>
          subscriber.reset?.(
            items.filter(({ key }) => key.startsWith(prefix)),
            newest,
          ),
        )
      }
      settle()
      open()
    } catch (error) {
      // A watch of what is compacted would begin, and look like one that stands, before it ends.
      again(error instanceof Error ? error : new Error(messageOf(error)), () => void readAnew())
    }
  }

  function deliver(changes: readonly EtcdEvent[], newest: number): void {
    const events = changes.flatMap((change) => {
      const event = storageEventOf(watching.keys, change)
      if (event?.value === undefined) return event ?? []
      return { ...event, value: host.ownValue(event.key, event.value) }
    })
    revision = newest
    for (const subscription of [...subscriptions]) {
      const { prefix, subscriber, seen } = subscription
      if (newest <= seen) continue
      const isNew = (event: StorageEvent) => event.revision > seen && event.key.startsWith(prefix)
      const own = prefix === '' && (events[0]?.revision ?? newest) > seen ? events : events.filter(isNew)
      subscription.seen = newest
      attempt(() => subscriber.events(own, newest))
    }
    settle()
  }

  function attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      log.error('a storage subscriber failed', error)
    }
  }

  function settle(): void {
    let count = 0
    for (; (waiters[count]?.revision ?? Number.POSITIVE_INFINITY) <= revision; count++) waiters[count]?.resolve()
    for (const { asks } of waiters.splice(0, count)) if (asks) asking--
  }

  function ask(): void {
    stream?.askProgress()
    askAgain ??= clock.setTimer(ASK_AGAIN_MS, 'etcd progress', () => {
      askAgain = undefined
      if (asking > 0) ask()
    })
  }

  /** A member may answer questions and tell nothing by its watches: nothing else would end that. */
  function lookWhetherItStandsStill(): void {
    const seen = revision
    const at = watching.members.address
    patience ??= clock.setTimer(STANDS_STILL_MS, 'etcd watch', () => {
      patience = undefined
      if (waiters.length === 0) return
      if (revision === seen && stream !== undefined) {
        log.info(0, 'a watch at etcd brings nothing', { at, revision })
        watching.members.leave(at)
      }
      lookWhetherItStandsStill()
    })
  }

  function stop(): void {
    isClosed = true
    stream?.close()
    retry?.cancel()
    askAgain?.cancel()
    patience?.cancel()
  }

  open()
  return {
    begun: begun.promise,
    get revision() {
      return revision
    },
    reached(wanted, quietly = false) {
      if (wanted <= revision) return Promise.resolve()
      return new Promise((resolve) => {
        let place = waiters.length
        while (place > 0 && (waiters[place - 1]?.revision ?? 0) > wanted) place--
        waiters.splice(place, 0, { revision: wanted, asks: !quietly, resolve })
        if (!quietly && asking++ === 0) ask()
        lookWhetherItStandsStill()
      })
    },
    subscribe(prefix, seen, subscriber) {
      const subscription = { prefix, subscriber, seen }
      subscriptions.add(subscription)
      return () => {
        subscriptions.delete(subscription)
      }
    },
    close() {
      stop()
      subscriptions.clear()
      for (const { resolve } of waiters.splice(0)) resolve()
    },
  }
}

/** Milliseconds before the next try. */
export const pauseAfter = (failures: number): number => Math.min(TRY_AGAIN_MS * failures, LONGEST_TRY_MS)

export const unreachable = (error: Error): StoreError =>
  new StoreError(
    `etcd cannot be reached (${error.message}): start it, or mend --etcd-servers and the files beside it`,
    {
      cause: error,
    },
  )

/** undefined: it is about another's key. */
export function storageEventOf(keys: Keys, { type, kv }: EtcdEvent): StorageEvent | undefined {
  const key = keys.ofEtcd(kv.key)
  if (key === undefined) return undefined
  const isPut = type === 'PUT'
  return { type: isPut ? 'put' : 'delete', key, revision: kv.mod_revision, value: isPut ? kv.value : undefined }
}
