/**
 * Leases of keys that end by themselves. As kube-apiserver has it, keys written within a twentieth of their time (a minute at
 * most, unless --lease-reuse-duration-seconds says otherwise) share a lease, a thousand at most: then they end that much later, and etcd
 * has few leases to keep.
 */
import type { Runtime } from '../../base/runtime.ts'
import type { Members } from './members.ts'

const MOST_SHARED_SECONDS = 60
const SHARED_PART = 0.05
const MOST_KEYS = 1000
/** Ids are chosen here: those that etcd chooses are larger than what a number holds. */
const LARGEST_ID = 2 ** 52

interface Lease {
  readonly id: Promise<number>
  /** By the monotonic clock, in milliseconds: later keys would end too early. */
  readonly until: number
  keys: number
}

export interface Leases {
  /** A lease under which a key lives for so many seconds at least. @throws EtcdError */
  leaseFor(seconds: number): Promise<number>
  /** etcd does not know it any more. */
  forget(id: number): void
}

export function createLeases(
  { clock, random }: Pick<Runtime, 'clock' | 'random'>,
  members: Pick<Members, 'call'>,
  mostSharedSeconds = MOST_SHARED_SECONDS,
): Leases {
  const newest = new Map<number, Lease>()

  async function grant(seconds: number): Promise<number> {
    const ID = 1 + Math.floor(random.float() * LARGEST_ID)
    // Whether a repeated one finds its own id taken cannot be told from another's: the next key tries another.
    const answer = await members.call('LeaseGrant', { TTL: seconds, ID }, { isRepeatable: false })
    return answer.ID
  }

  return {
    async leaseFor(seconds) {
      const shared = Math.max(0, Math.min(Math.floor(seconds * SHARED_PART), mostSharedSeconds))
      const known = newest.get(seconds)
      if (known !== undefined && clock.monotonic() < known.until && known.keys < MOST_KEYS) {
        known.keys++
        return known.id
      }
      const lease = { id: grant(seconds + shared), until: clock.monotonic() + shared * 1000, keys: 1 }
      newest.set(seconds, lease)
      lease.id.catch(() => {
        if (newest.get(seconds) === lease) newest.delete(seconds)
      })
      return lease.id
    },
    forget(id) {
      for (const [seconds, lease] of newest)
        void lease.id.then(
          (known) => {
            if (known === id && newest.get(seconds) === lease) newest.delete(seconds)
          },
          () => {},
        )
    },
  }
}
