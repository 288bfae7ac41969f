/**
 * etcd's Watch over a store here: any number of watches in one stream. Events are read out of the store's history at the pace of
 * their readers, so that nothing is buffered for a slow one; what the compaction overtakes ends as etcd ends it.
 */

import { messageOf } from '../../../base/errors.ts'
import { CompactedError, type HistoryEvent } from '../../storage.ts'
import type { EtcdEvent, EtcdKeyValue } from '../messages.ts'
import { boundsOf, keyValueOf } from './range.ts'
import type { ReadStore } from './under-prefix.ts'

export interface ServedWatchRequest {
  readonly create_request?: {
    readonly key: Buffer
    readonly range_end: Buffer
    readonly start_revision: number
    readonly filters: readonly ('NOPUT' | 'NODELETE')[]
    readonly prev_kv: boolean
    readonly watch_id: number
  } | null
  readonly cancel_request?: { readonly watch_id: number } | null
  readonly progress_request?: Readonly<Record<string, never>> | null
}

/** What a response says beside the header. */
export interface ServedWatchResponse {
  readonly watch_id: number
  readonly created?: boolean
  readonly canceled?: boolean
  readonly compact_revision?: number
  readonly cancel_reason?: string
  readonly events?: readonly EtcdEvent[]
}

export interface ServedWatches {
  take(request: ServedWatchRequest): void
  close(): void
}

/** In a progress answer it stands for all watches of the stream. */
const EVERY_WATCH = -1

/**
 * @param send resolves when the reader has room for more
 * @param failed called once when the store can be read no more
 */
export function serveWatches(
  store: ReadStore,
  send: (response: ServedWatchResponse, revision: number) => Promise<void>,
  failed: (error: unknown) => void,
): ServedWatches {
  const open = new Map<number, () => void>()
  let nextId = 0

  function create(request: NonNullable<ServedWatchRequest['create_request']>): void {
    const refuse = (cancel_reason: string, watch_id = EVERY_WATCH) => {
      void send({ watch_id, created: true, canceled: true, cancel_reason }, store.revision)
    }
    if (open.has(request.watch_id)) {
      refuse('etcdserver: mvcc: duplicate watch ID provided on the WatchStream')
      return
    }
    const id = request.watch_id > 0 ? request.watch_id : freeId()
    let bounds: ReturnType<typeof boundsOf>
    try {
      // An empty key is the first that there can be.
      bounds = boundsOf(request.key.length === 0 ? Buffer.of(0) : request.key, request.range_end)
    } catch (error) {
      refuse(messageOf(error), id)
      return
    }
    void send({ watch_id: id, created: true }, store.revision)
    const first = request.start_revision > 0 ? request.start_revision : store.revision + 1
    open.set(id, follow(id, bounds, first, request))
  }

  function freeId(): number {
    while (open.has(nextId)) nextId++
    return nextId++
  }

  /** Tells of all that is new whenever there is something, one page after another. */
  function follow(
    id: number,
    { start, end }: ReturnType<typeof boundsOf>,
    first: number,
    { filters, prev_kv }: NonNullable<ServedWatchRequest['create_request']>,
  ): () => void {
    const prefix = commonStart(start, end)
    let after = first - 1
    let isBusy = false
    let isOver = false
    let unsubscribe = () => {}
    const over = () => {
      isOver = true
      unsubscribe()
      open.delete(id)
    }
    const isWanted = ({ key, type }: HistoryEvent) =>
      key >= start && key < end && !filters.includes(type === 'put' ? 'NOPUT' : 'NODELETE')
    const tell = async () => {
      if (isBusy || isOver) return
      isBusy = true
      try {
        while (!isOver && after < store.revision) {
          const page = await store.history(prefix, after)
          const events: EtcdEvent[] = []
          for (const event of page.events.filter(isWanted)) events.push(await eventOf(event, prev_kv))
          after = page.revision
          if (events.length > 0 && !isOver) await send({ watch_id: id, events }, store.revision)
        }
      } catch (error) {
        if (isOver) return
        over()
        if (!(error instanceof CompactedError)) return failed(error)
        const compact_revision = error.compactedRevision
        void send({ watch_id: id, canceled: true, compact_revision }, store.revision)
      } finally {
        isBusy = false
      }
    }
    // Told within the commit: read in a later turn.
    unsubscribe = store.subscribe('', store.revision, {
      events: () => void tell(),
      failed: (error) => {
        if (isOver) return
        over()
        failed(error)
      },
    })
    void tell()
    return over
  }

  async function eventOf(event: HistoryEvent, withPrevious: boolean): Promise<EtcdEvent> {
    const { key, revision } = event
    const prev_kv = withPrevious && event.previous !== undefined ? await keyAt(key, revision - 1) : null
    if (event.type === 'put') return { type: 'PUT', kv: await keyAt(key, revision), prev_kv }
    const kv = { key: Buffer.from(key), value: Buffer.alloc(0), create_revision: 0, mod_revision: revision, version: 0 }
    return { type: 'DELETE', kv, prev_kv }
  }

  async function keyAt(key: string, revision: number): Promise<EtcdKeyValue> {
    const { item } = await store.get(key, revision)
    // What was there and is no more was compacted meanwhile.
    if (item === undefined) throw new CompactedError(store.compactedRevision)
    return keyValueOf(store, item)
  }

  return {
    take({ create_request: create_, cancel_request: cancel, progress_request: progress }) {
      if (create_ != null) create(create_)
      else if (cancel != null) {
        const { watch_id } = cancel
        if (!open.has(watch_id)) return
        open.get(watch_id)?.()
        void send({ watch_id, canceled: true }, store.revision)
      } else if (progress != null) void send({ watch_id: EVERY_WATCH }, store.revision)
    },
    close() {
      for (const over of [...open.values()]) over()
    },
  }
}

function commonStart(a: string, b: string): string {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return a.slice(0, length)
}
