/** A token bucket that refuses: so many in a second, and so many at once before that. */
import type { Clock } from './clock.ts'

export interface Rate {
  readonly qps: number
  readonly burst: number
}

/** Whether another may come now; it then counts. */
export function tokenBucket(clock: Pick<Clock, 'monotonic'>, { qps, burst }: Rate): () => boolean {
  let tokens = burst
  let at = clock.monotonic()
  return () => {
    const now = clock.monotonic()
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * qps)
    at = now
    if (tokens < 1) return false
    tokens--
    return true
  }
}
