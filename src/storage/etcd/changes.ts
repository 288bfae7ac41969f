/**
 * Watches at etcd. What of them is meant by "all up to a revision": where a member tells of its progress only when all events before
 * were sent, only keys under the prefix are watched, and progress is asked for. A member older than 3.4.31 or 3.5.13 may tell of
 * progress too early; there every key is watched, so that each revision has an event. While etcd is upgraded its members differ.
 */
import { CompactedError } from '../storage.ts'
import { EtcdError, isCompacted } from './errors.ts'
import { type EtcdRange, EVERYTHING, type Keys } from './keys.ts'
import type { Members, WatchStream } from './members.ts'
import type { EtcdEvent, WatchResponse } from './messages.ts'

export interface Watching {
  readonly members: Members
  readonly keys: Keys
}

export interface Followed {
  /** The watch stands: what comes is complete from its start. */
  started(response: WatchResponse): void
  /** All events up to a revision, those of others' keys too. */
  changes(events: readonly EtcdEvent[], revision: number): void
  /** It is over: CompactedError where etcd gave up the start, otherwise it may be tried again. */
  ended(error: Error): void
}

export interface Followable extends Pick<WatchStream, 'close'> {
  /** Asks how far etcd is, which `changes` tells where etcd can. */
  askProgress(): void
}

/** Changes behind a revision under a prefix, or of everything where that is how completeness is known. */
export function followChanges(
  { members, keys }: Watching,
  { after, range = keys.all, withPrevious = false }: { after: number; range?: EtcdRange; withPrevious?: boolean },
  followed: Followed,
): Followable {
  let hasProgress = false
  let last = after
  const stream = members.watch(
    (response) => {
      if (response.canceled) {
        stream.close()
        followed.ended(whyCanceled(response))
        return
      }
      if (response.created) {
        followed.started(response)
        return
      }
      const { events } = response
      const newest = events.at(-1)?.kv.mod_revision ?? (hasProgress ? response.header.revision : last)
      if (newest <= last) return
      last = newest
      followed.changes(events, newest)
    },
    (error) => followed.ended(isCompacted(error) ? new CompactedError(0) : error),
  )
  stream.version((version) => {
    hasProgress = tellsProgress(version)
    const watched = hasProgress ? range : EVERYTHING
    stream.send({ create_request: { ...watched, start_revision: after + 1, prev_kv: withPrevious } })
  })
  return {
    askProgress: () => {
      if (hasProgress) stream.send({ progress_request: {} })
    },
    close: stream.close,
  }
}

function whyCanceled({ compact_revision, cancel_reason }: WatchResponse): Error {
  if (compact_revision > 0) return new CompactedError(compact_revision)
  return new EtcdError(cancel_reason || 'etcd has ended the watch', 2, false)
}

/** `3.4.31`: whether such an etcd tells of progress only after the events before it. */
export function tellsProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  if (major !== 3) return major > 3
  return minor > 5 || (minor === 5 && patch >= 13) || (minor === 4 && patch >= 31)
}
