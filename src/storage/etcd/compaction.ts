/**
 * Compacts by the clock, once for all API servers of a cluster, those of Kubernetes among them: the key `compact_rev_key` is
 * their marker. Its version counts compactions. The process that raises it from the version of its last look (five minutes ago, or
 * --etcd-compaction-interval) compacts to the revision of that time; the others find that it was raised, and wait anew.
 */
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { EtcdError, isDenied } from './errors.ts'
import type { Members } from './members.ts'

const FOR_ROOT =
  'etcd lets nobody but its root compact (3.5.35, 3.6.16, 3.7): give this client the role root, or etcd --auto-compaction-retention'
const MARKER = Buffer.from('compact_rev_key')
export const COMPACT_EVERY_MS = 300_000

export interface Compaction {
  /** Tells that history up to a revision is gone. */
  compacted(revision: number): void
}

/** Runs until the returned function is called. */
export function startMarkedCompaction(
  { clock, log }: Runtime,
  members: Members,
  { compacted }: Compaction,
  everyMs = COMPACT_EVERY_MS,
): () => void {
  let version = 0
  let revision = 0
  let timer: Timer | undefined
  let isStopped = false

  async function tick(): Promise<void> {
    const answer = await members.call(
      'Txn',
      {
        compare: [{ target: 'VERSION', key: MARKER, version }],
        success: [{ request_put: { key: MARKER, value: Buffer.from(String(revision)) } }],
        failure: [{ request_range: { key: MARKER } }],
      },
      { isRepeatable: false },
    )
    const target = revision
    revision = answer.header.revision
    if (answer.succeeded) {
      version++
      if (target > 0) await members.call('Compact', { revision: target }, { isRepeatable: true })
      compacted(target)
      return
    }
    const [found] = answer.responses[0]?.response_range?.kvs ?? []
    version = found?.version ?? 0
    const marked = Number(found?.value.toString() ?? 0)
    if (Number.isSafeInteger(marked)) compacted(marked)
  }

  function schedule(): void {
    timer = clock.setTimer(everyMs, 'etcd compaction', () => {
      tick().then(schedule, (error) => {
        if (isStopped) return
        if (error instanceof EtcdError && isDenied(error)) log.error(FOR_ROOT, error)
        else log.error('etcd was not compacted', error)
        schedule()
      })
    })
  }

  // What the marker is, and the revision to begin with.
  tick().then(schedule, (error) => {
    if (isStopped) return
    log.error('the marker of compactions could not be read', error)
    schedule()
  })
  return () => {
    isStopped = true
    timer?.cancel()
  }
}
