/**
 * What a controller wrote itself, against what its informer has shown it: until the informer has caught up, a decision would
 * be made on what the controller itself has changed since, and its next write would only be a conflict
 * (KEP-5647, stale controller mitigation).
 */
import type { KubeObject } from '../api/object.ts'

export interface OwnWrites {
  /** `written`: the server's answer to the controller's write of the object `key`. */
  wrote(key: string, written: KubeObject): void
  /** `seen`, from the informer, is older than the controller's last write. The informer's event will bring the rest. */
  isBehind(key: string, seen: KubeObject): boolean
  forget(key: string): void
}

export function createOwnWrites(): OwnWrites {
  const written = new Map<string, { readonly uid: string | undefined; readonly version: string | undefined }>()
  return {
    wrote(key, { metadata }) {
      written.set(key, { uid: metadata.uid, version: metadata.resourceVersion })
    },
    isBehind(key, { metadata }) {
      const own = written.get(key)
      if (own === undefined) return false
      if (own.uid === metadata.uid && isOlderVersion(metadata.resourceVersion, own.version)) return true
      written.delete(key)
      return false
    },
    forget(key) {
      written.delete(key)
    },
  }
}

/** By the numbers that resourceVersions of one resource are (KEP-5504); false when one of them is not known. */
export function isOlderVersion(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined) return false
  return version.length === than.length ? version < than : version.length < than.length
}
