/** What is remembered for a time: bounded in number, what was used least recently goes first. */
import type { Clock } from './clock.ts'
import { createLruMap } from './lru.ts'

export interface ExpiringMap<V> {
  /** In an object, so that undefined can be a value; undefined for what is not known, or not any more. Counts as a use. */
  get(key: string): { readonly value: V } | undefined
  /** For so many milliseconds of the monotonic clock; not at all for none. */
  set(key: string, value: V, ms: number): void
  delete(key: string): void
}

export function createExpiringMap<V>(clock: Clock, most: number): ExpiringMap<V> {
  const kept = createLruMap<string, { readonly value: V; readonly until: number }>(most)
  return {
    get(key) {
      const known = kept.get(key)
      if (known === undefined || clock.monotonic() < known.until) return known
      kept.delete(key)
      return undefined
    },
    set(key, value, ms) {
      if (ms > 0) kept.set(key, { value, until: clock.monotonic() + ms })
      else kept.delete(key)
    },
    delete: (key) => void kept.delete(key),
  }
}
