/** The API server's view of its own state: what admission, authorization and loops read. */
import type { KubeObject } from '../api/object.ts'
import type { ResourceRow, Scheme } from '../api/scheme/resource.ts'
import type { Storage } from '../storage/storage.ts'
import type { CacheReads } from './admission/plugin.ts'
import type { Caches } from './cache/caches.ts'
import { byNodeName } from './cache/indexes.ts'
import { storageKey, storageRange } from './registry/registry.ts'

export interface ServerReads extends CacheReads {
  /** Pods bound to a node. */
  podsOnNode(node: string): readonly KubeObject[]
  /** Rises whenever an object of one of these resources changes. */
  generationOf(...resources: readonly { readonly group: string; readonly resource: string }[]): number
}

/** Objects come in the storage version. A resource that is not served reads as empty. */
export function createReads(scheme: Scheme, caches: Caches, storage: Storage): ServerReads {
  const rows = new Map<string, ResourceRow | undefined>()
  let generation = scheme.generation
  const rowOf = (group: string, resource: string): ResourceRow | undefined => {
    if (generation !== scheme.generation) {
      rows.clear()
      generation = scheme.generation
    }
    const name = `${group}/${resource}`
    if (!rows.has(name))
      rows.set(
        name,
        scheme.rows().find((row) => row.group === group && row.resource === resource && row.storagePrefix !== ''),
      )
    return rows.get(name)
  }
  const pods = caches.resource('pods')
  pods.addIndex('nodeName', byNodeName)
  return {
    get(group, resource, namespace, name) {
      const row = rowOf(group, resource)
      return row && caches.resource(row.storagePrefix).get(storageKey(row, namespace, name))?.object
    },
    list(group, resource, namespace = '') {
      const row = rowOf(group, resource)
      if (row === undefined) return []
      return caches
        .resource(row.storagePrefix)
        .list(storageRange(row, namespace))
        .map((entry) => entry.object)
    },
    async getLive(group, resource, namespace, name) {
      const row = rowOf(group, resource)
      if (row === undefined) return undefined
      const { item } = await storage.get(storageKey(row, namespace, name))
      return item && caches.entryOf(item).object
    },
    podsOnNode: (node) => pods.byIndex('nodeName', node).map((entry) => entry.object),
    generationOf(...resources) {
      let sum = 0
      for (const { group, resource } of resources) {
        const row = rowOf(group, resource)
        if (row !== undefined) sum += caches.resource(row.storagePrefix).generation
      }
      return sum
    },
  }
}
