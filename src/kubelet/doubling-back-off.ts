/** Waits that double: between restarts of a failing container, and between pulls of a missing image. */
import type { Clock } from '../base/clock.ts'

export interface BackOff {
  /** Milliseconds left until the key may be tried, counted from `sinceMs`; 0 when it may be now. */
  remaining(key: string, sinceMs: number): number
  /** Notes a try: the next wait is twice as long, or begins anew after a quiet time of twice the longest wait. */
  next(key: string, sinceMs: number): void
  /** The key's wait in milliseconds. */
  current(key: string): number
  delete(prefix: string): void
}

export function createBackOff(clock: Clock, firstMs: number, longestMs: number): BackOff {
  const entries = new Map<string, { wait: number; updatedAt: number }>()
  const expired = (sinceMs: number, updatedAt: number) => sinceMs - updatedAt > longestMs * 2
  return {
    remaining(key, sinceMs) {
      const entry = entries.get(key)
      if (entry === undefined || expired(sinceMs, entry.updatedAt)) return 0
      return Math.max(0, sinceMs + entry.wait - clock.now())
    },
    next(key, sinceMs) {
      const entry = entries.get(key)
      const now = clock.now()
      if (entry === undefined || expired(sinceMs, entry.updatedAt)) entries.set(key, { wait: firstMs, updatedAt: now })
      else entries.set(key, { wait: Math.min(entry.wait * 2, longestMs), updatedAt: now })
    },
    current: (key) => entries.get(key)?.wait ?? 0,
    delete(prefix) {
      if (entries.size === 0) return
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key)
    },
  }
}
