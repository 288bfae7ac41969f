/** What is made once per key. */

interface Table<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** As `Map.prototype.getOrInsertComputed` of ECMAScript, which Node 24 does not have; of any table. No value is undefined. */
export function getOrInsertComputed<K, V>(table: Table<K, V>, key: K, compute: (key: K) => V): V {
  let value = table.get(key)
  if (value === undefined) {
    value = compute(key)
    table.set(key, value)
  }
  return value
}
