/** A map that is bounded: when it is full, what was used least recently goes. */
export interface LruMap<K, V> {
  readonly size: number
  /** Counts as a use. */
  get(key: K): V | undefined
  /** Does not. */
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): boolean
  clear(): void
}

/** Holds at most `most` entries. */
export function createLruMap<K, V>(most: number): LruMap<K, V> {
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
      if (!entries.delete(key) && entries.size >= most) entries.delete(entries.keys().next().value as K)
      entries.set(key, value)
    },
    delete: (key) => entries.delete(key),
    clear: () => entries.clear(),
  }
}
