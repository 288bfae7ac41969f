/** How long a job waits after its pods have failed: 10 seconds, doubled with each failure since the last success. */
import type { Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { finishTime, hasSucceeded } from './job.ts'

const firstMs = 10_000
const longestMs = 600_000

interface Failures {
  readonly count: number
  readonly lastMs: number
}

/** After so many failures in a row. */
export const backoffMs = (failures: number): number => Math.min(firstMs * 2 ** (failures - 1), longestMs)

/** Jobs go by their uid: another that is made under the name of one begins anew. */
export interface JobBackoff {
  /** Takes note of pods that have been counted. */
  finished(uid: string, pods: readonly Pod[]): void
  /** Milliseconds until the next pod may be made, with these pods counted too. */
  remaining(uid: string, finished: readonly KubeObject[], nowMs: number): number
  forget(uid: string): void
}

export function createJobBackoff(): JobBackoff {
  const known = new Map<string, Failures>()

  function after(uid: string, pods: readonly Pod[]): Failures {
    let { count, lastMs } = known.get(uid) ?? { count: 0, lastMs: 0 }
    const timed = pods.map((pod) => ({ pod, at: finishTime(pod) })).sort((a, b) => a.at - b.at)
    for (const { pod, at } of timed) {
      if (hasSucceeded(pod)) count = 0
      else {
        count++
        lastMs = Math.max(lastMs, at)
      }
    }
    return { count, lastMs }
  }

  return {
    finished: (uid, pods) => void known.set(uid, after(uid, pods)),
    remaining(uid, pods, nowMs) {
      const { count, lastMs } = after(uid, pods)
      if (count === 0) return 0
      return Math.max(0, backoffMs(count) - (nowMs - lastMs))
    },
    forget: (uid) => void known.delete(uid),
  }
}
