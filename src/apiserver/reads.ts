/** The API server's view of its own state: what admission, authorization and loops read. */

import type { APIService, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { Scheme } from '../api/scheme/resource.ts'
import type { Storage } from '../storage/storage.ts'
import type { Caches } from './cache/caches.ts'
import type { CacheEntry } from './cache/entry.ts'
import { storageKey, storageRange } from './cache/keys.ts'
import type { ResourceCache } from './cache/resource-cache.ts'
import type { FieldsOf } from './cache/selected.ts'

export interface ServerReads extends CacheReads {
  /** Pods bound to a node. */
  podsOnNode(node: string): Iterable<KubeObject>
  /** APIServices with a server of their own behind them, in the order of their names. */
  remoteServices(): readonly KubeObject[]
  /**
   * The same, to which what is stored and cannot be read is not there. For what only adds, as a role does; what may refuse something must not
   * pass over it, so that everything else here throws the answer to a read of it.
   */
  readonly readable: CacheReads
  /** A number that rises whenever an object of one of these resources changes. */
  generationOf(resources: readonly { readonly group: string; readonly resource: string }[]): () => number
}

const NONE: readonly KubeObject[] = Object.freeze([])

/**
 * Objects come in the storage version. A resource that is not served reads as empty. `podFields`: by which pods are selected, the very function that
 * selectors have, so that values and index are theirs.
 */
export function createReads(
  scheme: Scheme,
  caches: Caches,
  storage: Storage,
  podFields: FieldsOf = nodeNameOf,
): ServerReads {
  const rowOf = scheme.stored
  const pods = caches.resource('pods')
  const nodeName = { field: 'spec.nodeName', fieldsOf: podFields, namespaced: true }
  const apiServices = caches.resource('apiregistration.k8s.io/apiservices')
  apiServices.addIndex('remote', isRemote)
  const readsOf = (isWanted: (entry: CacheEntry) => boolean): CacheReads => ({
    get<T extends KubeObject>(group: string, resource: string, namespace: string, name: string) {
      const row = rowOf(group, resource)
      const entry = row && caches.resource(row.storagePrefix).get(storageKey(row, namespace, name))
      return entry && isWanted(entry) ? (entry.object as T) : undefined
    },
    list<T extends KubeObject>(group: string, resource: string, namespace = ''): readonly T[] {
      const row = rowOf(group, resource)
      if (row === undefined) return NONE as readonly T[]
      const cache = caches.resource(row.storagePrefix)
      if (cache.size === 0) return NONE as readonly T[]
      const entries = cache.list(storageRange(row, namespace))
      return (cache.unreadable().length === 0 ? entries : entries.filter(isWanted)).map((entry) => entry.object as T)
    },
    async getLive<T extends KubeObject>(group: string, resource: string, namespace: string, name: string) {
      const row = rowOf(group, resource)
      if (row === undefined) return undefined
      const { item } = await storage.get(storageKey(row, namespace, name))
      const entry = item && caches.entryOf(item)
      return entry && isWanted(entry) ? (entry.object as T) : undefined
    },
  })
  return {
    ...readsOf(() => true),
    readable: readsOf((entry) => entry.unreadable === undefined),
    *podsOnNode(node) {
      for (const entry of pods.eachByField(nodeName, node)) yield entry.object
    },
    remoteServices: () => apiServices.byIndex('remote', 'true').map(({ object }) => object),
    generationOf(resources) {
      let foundAt = -1
      let found: readonly ResourceCache[] = []
      return () => {
        if (foundAt !== scheme.generation) {
          foundAt = scheme.generation
          found = resources.flatMap(({ group, resource }) => {
            const row = rowOf(group, resource)
            return row === undefined ? [] : [caches.resource(row.storagePrefix)]
          })
        }
        let sum = 0
        for (const cache of found) sum += cache.generation
        return sum
      }
    },
  }
}

const nodeNameOf = ({ spec }: Pod) => ({ 'spec.nodeName': spec?.nodeName ?? '' })

const isRemote = (service: APIService): readonly string[] => (service.spec?.service ? ['true'] : [])

/** The API server's own caches: synchronous, as of the newest revision published. */
export interface CacheReads {
  get<T extends KubeObject = KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): T | undefined
  list<T extends KubeObject = KubeObject>(group: string, resource: string, namespace?: string): readonly T[]
  /** Reads storage itself, for a plugin that must not miss what its cache has not seen yet. */
  getLive<T extends KubeObject = KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Promise<T | undefined>
}
