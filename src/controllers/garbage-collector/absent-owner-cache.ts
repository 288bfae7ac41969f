/** Owners known not to exist, so that the dependents of one that went need not each ask the API server again. */
import type { Identity } from './graph.ts'

export interface AbsentOwnerCache {
  add(identity: Identity): void
  has(identity: Identity): boolean
}

/** The `size` most recently used are kept. */
export function createAbsentOwnerCache(size = 500): AbsentOwnerCache {
  const known = new Set<string>()
  const keyOf = ({ uid, namespace, apiVersion, kind, name }: Identity) =>
    [uid, namespace, apiVersion, kind, name].join('\u0000')
  const touch = (key: string) => {
    known.delete(key)
    known.add(key)
  }
  return {
    add(identity) {
      touch(keyOf(identity))
      if (known.size > size) known.delete(known.values().next().value as string)
    },
    has(identity) {
      const key = keyOf(identity)
      if (!known.has(key)) return false
      touch(key)
      return true
    },
  }
}
