/** The objects an informer knows, by key and by index. */
import type { KubeObject } from '../api/object.ts'

export interface Store<T> {
  /** `namespace/name`, or `name` for what is cluster-scoped. */
  get(key: string): T | undefined
  list(): readonly T[]
  /** Objects whose index function gave `value`; in no order to rely on. Throws for an index never added. */
  byIndex(index: string, value: string): readonly T[]
  keys(): Iterable<string>
  readonly size: number
}

export interface IndexedStore<T> extends Store<T> {
  set(key: string, object: T): void
  delete(key: string): void
  addIndex(name: string, values: (object: T) => readonly string[]): void
}

export function objectKey(object: KubeObject): string {
  const { namespace, name } = object.metadata
  return namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name}`
}

export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Objects by their namespace: the index's name and its function. */
export const namespaceIndex = 'namespace'
export const indexNamespace = ({ metadata }: KubeObject): readonly string[] => [metadata.namespace ?? '']

interface Index<T> {
  readonly values: (object: T) => readonly string[]
  readonly sets: Map<string, Map<string, T>>
}

export function createStore<T>(): IndexedStore<T> {
  const objects = new Map<string, T>()
  const indexes = new Map<string, Index<T>>()
  const nothing: readonly T[] = []

  const unindex = (index: Index<T>, key: string, object: T) => {
    for (const value of index.values(object)) {
      const set = index.sets.get(value)
      if (set?.delete(key) && set.size === 0) index.sets.delete(value)
    }
  }
  const enter = (index: Index<T>, key: string, object: T) => {
    for (const value of index.values(object)) {
      const set = index.sets.get(value)
      if (set === undefined) index.sets.set(value, new Map([[key, object]]))
      else set.set(key, object)
    }
  }

  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    byIndex(name, value) {
      const index = indexes.get(name)
      if (index === undefined) throw new Error(`no index ${name}`)
      const set = index.sets.get(value)
      return set === undefined ? nothing : [...set.values()]
    },
    keys: () => objects.keys(),
    get size() {
      return objects.size
    },
    set(key, object) {
      const old = objects.get(key)
      for (const index of indexes.values()) {
        if (old !== undefined) {
          // Most changes leave an object where it is.
          const before = index.values(old)
          const now = index.values(object)
          if (before.length === now.length && before.every((value, at) => value === now[at])) {
            for (const value of now) index.sets.get(value)?.set(key, object)
            continue
          }
          unindex(index, key, old)
        }
        enter(index, key, object)
      }
      objects.set(key, object)
    },
    delete(key) {
      const old = objects.get(key)
      if (old === undefined) return
      for (const index of indexes.values()) unindex(index, key, old)
      objects.delete(key)
    },
    addIndex(name, values) {
      if (indexes.has(name)) return
      const index: Index<T> = { values, sets: new Map() }
      indexes.set(name, index)
      for (const [key, object] of objects) enter(index, key, object)
    },
  }
}
