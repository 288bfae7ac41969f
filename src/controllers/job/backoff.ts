/** How long a job waits after its pods have failed: 10 seconds, doubled with each failure since the last success. */
import type { KubeObject } from '../../api/object.ts'
import { finishTime, hasSucceeded } from './job.ts'

const firstMs = 10_000
const longestMs = 600_000

interface Failures {
  readonly count: number
  readonly lastMs: number
}

export interface JobBackoff {
  /** Takes note of pods that have been counted. */
  finished(key: string, pods: readonly KubeObject[], nowMs: number): void
  /** Milliseconds until the next pod may be made, with these pods counted too. */
  remaining(key: string, finished: readonly KubeObject[], nowMs: number): number
  forget(key: string): void
}

export function createJobBackoff(): JobBackoff {
  const known = new Map<string, Failures>()

  function after(key: string, pods: readonly KubeObject[], nowMs: number): Failures {
    let { count, lastMs } = known.get(key) ?? { count: 0, lastMs: 0 }
    const timed = pods.map((pod) => ({ pod, at: finishTime(pod, nowMs) })).sort((a, b) => a.at - b.at)
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
    finished: (key, pods, nowMs) => void known.set(key, after(key, pods, nowMs)),
    remaining(key, pods, nowMs) {
      const { count, lastMs } = after(key, pods, nowMs)
      if (count === 0) return 0
      return Math.max(0, Math.min(firstMs * 2 ** (count - 1), longestMs) - (nowMs - lastMs))
    },
    forget: (key) => void known.delete(key),
  }
}
