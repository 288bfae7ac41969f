/** A map that is bounded: when it is full, what was used least recently goes. */
export interface LruMap<K, V> {
  readonly size: number
  /** Counts as a use. */
  get(key: K): V | undefined
  /** Does not. */
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): boolean
  /** In the order of their last use, the longest unused first. */
  values(): Iterable<V>
  clear(): void
}

/** Holds at most `most` entries. `evicted` is told of each that goes because there were more, not of those deleted. */
export function createLruMap<K, V>(most: number, evicted?: (value: V) => void): LruMap<K, V> {
  // In the order of their last use: a Map keeps that in which keys were added.
  const entries = new Map<K, V>()
  return {
    get size() {
      return entries.size
    },
    get(key) {
      const value = entries.get(key)
      if (value === undefined && !entries.has(key)) return undefined
      entries.delete(key)
      entries.set(key, value as V)
      return value
    },
    has: (key) => entries.has(key),
    set(key, value) {
      const isNew = !entries.delete(key)
      entries.set(key, value)
      if (!isNew || entries.size <= most) return
      const [oldest, gone] = entries.entries().next().value as [K, V]
      entries.delete(oldest)
      evicted?.(gone)
    },
    delete: (key) => entries.delete(key),
    values: () => entries.values(),
    clear: () => entries.clear(),
  }
}
