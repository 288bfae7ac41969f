/** Past changes, read by a watch that is ended when it has come far enough. */
import { CompactedError, type HistoryEvent, StoreError } from '../storage.ts'
import { followChanges, type Watching } from './changes.ts'
import { isCompacted, isDenied } from './errors.ts'
import { storageEventOf } from './feed.ts'
import type { EtcdRange } from './keys.ts'
import type { EtcdEvent } from './messages.ts'
import { withoutRights } from './rights.ts'

/** Events of a page; it may be more, since those of one message belong together. */
const PAGE = 500
/** While nothing comes, milliseconds between two questions how far etcd is. */
const ASK_AGAIN_MS = 50

/**
 * The changes with after < revision up to `upTo`, or a page of them.
 * @throws CompactedError, StoreError
 */
export function readHistory(
  watching: Watching,
  { range, after, upTo }: { readonly range: EtcdRange; readonly after: number; readonly upTo: number },
  setTimer: (ms: number, task: () => void) => { cancel(): void },
): Promise<{ events: readonly HistoryEvent[]; revision: number }> {
  return new Promise((resolve, reject) => {
    const found: EtcdEvent[] = []
    let timer: { cancel(): void } | undefined
    const ask = () => {
      stream.askProgress()
      timer = setTimer(ASK_AGAIN_MS, ask)
    }
    const end = () => {
      timer?.cancel()
      stream.close()
    }
    const stream = followChanges(
      watching,
      { after, range, withPrevious: true },
      {
        started: () => ask(),
        changes(events, revision) {
          found.push(...events)
          if (found.length < PAGE && revision < upTo) return
          end()
          resolve({ events: found.flatMap((event) => pastOf(watching, event) ?? []), revision })
        },
        ended(error) {
          end()
          if (error instanceof CompactedError) reject(error)
          else if (isCompacted(error)) reject(new CompactedError(0))
          else if (isDenied(error)) reject(withoutRights(error, watching))
          else reject(new StoreError(`etcd: ${error.message}`, { cause: error }))
        },
      },
    )
  })
}

function pastOf({ keys }: Watching, event: EtcdEvent): HistoryEvent | undefined {
  const seen = storageEventOf(keys, event)
  const { prev_kv } = event
  return (
    seen && { ...seen, previous: prev_kv ? { value: prev_kv.value, modRevision: prev_kv.mod_revision } : undefined }
  )
}
