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
  /** Which key is last in that order, where it is known: one that is asked for again and again stays where it is. */
  let last: { key: K } | undefined
  return {
    get size() {
      return entries.size
    },
    get(key) {
      const value = entries.get(key)
      if (value === undefined && !entries.has(key)) return undefined
      if (last?.key === key) return value
      entries.delete(key)
      entries.set(key, value as V)
      last = { key }
      return value
    },
    has: (key) => entries.has(key),
    set(key, value) {
      const isNew = !entries.delete(key)
      entries.set(key, value)
      last = { key }
      if (!isNew || entries.size <= most) return
      const [oldest, gone] = entries.entries().next().value as [K, V]
      entries.delete(oldest)
      evicted?.(gone)
    },
    delete(key) {
      last = undefined
      return entries.delete(key)
    },
    values: () => entries.values(),
    clear() {
      last = undefined
      entries.clear()
    },
  }
}
