/**
 * The pace at which an owner makes pods that keep ending. Where requests take no time, a pod that is ended as soon as it is made (on a
 * node with a NoExecute taint, by `nodeName`) would be made again without end at one moment of a clock that is moved. Owners whose pods
 * live never come near it, nor do those that ask no faster than kube-controller-manager may.
 */
import type { Clock } from '../../base/clock.ts'

/** kube-controller-manager's 20 requests in a second are so many: each pod is a creation, an Event and two writes of a status. */
const PODS_PER_SECOND = 5
/** So many pods, and so many times all replicas, are made at once before that: what users delete at a moment comes back at it. */
const AT_ONCE = 50
const TIMES_ALL = 4
/** Then it is waited before each attempt, twice as long each time. */
const firstMs = 200
const longestMs = 10_000

export interface CreationPace {
  /** Whole milliseconds until more may be made; 0: now. */
  wait(key: string): number
  made(key: string, replicas: number, pods: number): void
  forget(key: string): void
}

/** What was made lately; from `at` on it becomes less, and before it none is made. */
interface Made {
  pods: number
  at: number
  waitMs: number
}

export function createCreationPace(clock: Clock): CreationPace {
  const known = new Map<string, Made>()
  return {
    wait: (key) => Math.max(0, Math.ceil((known.get(key)?.at ?? 0) - clock.monotonic())),
    made(key, replicas, pods) {
      const now = clock.monotonic()
      const most = AT_ONCE + TIMES_ALL * replicas
      const own = known.get(key) ?? { pods: 0, at: now, waitMs: firstMs }
      known.set(key, own)
      own.pods = Math.max(0, own.pods - ((now - own.at) / 1000) * PODS_PER_SECOND) + pods
      own.at = now
      if (own.pods < most / 2) own.waitMs = firstMs
      if (own.pods <= most) return
      own.pods = most
      own.at += own.waitMs
      own.waitMs = Math.min(2 * own.waitMs, longestMs)
    },
    forget: (key) => void known.delete(key),
  }
}
