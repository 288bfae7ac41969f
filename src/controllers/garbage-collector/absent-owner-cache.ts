/** Owners known not to exist, so that the dependents of one that went need not each ask the API server again. */
import { createLruMap } from '../../base/lru.ts'
import type { ObjectIdentity } from './graph.ts'

export interface AbsentOwnerCache {
  add(identity: ObjectIdentity): void
  has(identity: ObjectIdentity): boolean
}

/** The `size` most recently used are kept. */
export function createAbsentOwnerCache(size = 500): AbsentOwnerCache {
  const known = createLruMap<string, true>(size)
  const keyOf = ({ uid, namespace, apiVersion, kind, name }: ObjectIdentity) =>
    [uid, namespace, apiVersion, kind, name].join('\u0000')
  return {
    add: (identity) => known.set(keyOf(identity), true),
    has: (identity) => known.get(keyOf(identity)) === true,
  }
}
