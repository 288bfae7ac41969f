/** A subscriber that is behind is told what it has missed, page by page, until it is as far as the feed. */
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { CompactedError, type KeyValue, type StorageEvent, type StorageSubscriber } from '../storage.ts'
import { EtcdError, isFinal } from './errors.ts'
import { pauseAfter } from './feed.ts'

type Page =
  | { readonly events: readonly StorageEvent[]; readonly revision: number }
  | { readonly items: readonly KeyValue[]; readonly revision: number }

export interface Missed {
  /** Changes, or everything where etcd has given them up. */
  read(after: number): Promise<Page>
  /** It needs no more of this: it is as far as the feed, which goes on with it, or the store is over. */
  joins(at: number): boolean
}

/** Ends early when the signal says so. @throws Error when a page cannot be read and never will be */
export async function catchUp(
  { clock, log }: Pick<Runtime, 'clock' | 'log'>,
  after: number,
  { read, joins }: Missed,
  subscriber: StorageSubscriber,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  for (let at = after; !signal.aborted && !joins(at); ) {
    try {
      const page = await read(at)
      failures = 0
      at = page.revision
      if (signal.aborted) return
      tell(page)
    } catch (error) {
      if (!passes(error)) throw error
      failures++
      log.info(0, 'what etcd had before could not be read yet', { why: messageOf(error), after: at })
      await sleep(clock, pauseAfter(failures), signal).catch(() => {})
    }
  }

  function tell(page: Page): void {
    try {
      if ('events' in page) subscriber.events(page.events, page.revision)
      else subscriber.reset?.(page.items, page.revision)
    } catch (error) {
      log.error('a storage subscriber failed', error)
    }
  }
}

/** etcd may also compact what is being read in pages. Connections break in many words, and a watch is ended in others. */
function passes(error: unknown): boolean {
  if (error instanceof CompactedError) return true
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof EtcdError && !isFinal(cause)
}
