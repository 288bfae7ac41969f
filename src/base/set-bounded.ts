/**
 * A map of what is quickly found again is kept small by emptying it when it is full: to read from it costs no more than from any
 * map, and what recurs is soon in it again. Where what is lost would cost more than a computation, a map that knows what was used
 * last is kept (lru.ts).
 */

/** Sets it in a map that holds at most `most` entries, which it empties first where another one would be too many. */
export function setBounded<K, V>(map: Map<K, V>, most: number, key: K, value: V): void {
  if (map.size >= most && !map.has(key)) map.clear()
  map.set(key, value)
}
