/** How long a node whose daemon pod keeps ending is let alone: a second, doubled each time, at most fifteen minutes. */
import type { Clock } from '../../base/clock.ts'

const firstMs = 1000
const longestMs = 900_000

export interface FailedPodBackoff {
  /** Milliseconds until it may be tried again. */
  remaining(key: string): number
  next(key: string): void
}

export function createFailedPodBackoff(clock: Clock): FailedPodBackoff {
  const known = new Map<string, { waitMs: number; at: number }>()
  return {
    remaining(key) {
      const own = known.get(key)
      return own === undefined ? 0 : Math.max(0, own.at + own.waitMs - clock.monotonic())
    },
    next(key) {
      const at = clock.monotonic()
      // Long quiet: what was is forgotten.
      for (const [other, own] of known) if (at - own.at > 2 * longestMs) known.delete(other)
      const own = known.get(key)
      known.set(key, { waitMs: own === undefined ? firstMs : Math.min(own.waitMs * 2, longestMs), at })
    },
  }
}
