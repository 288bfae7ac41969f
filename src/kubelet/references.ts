/**
 * ConfigMaps and Secrets that pods refer to, read with the node's own rights and kept for a moment: many pods of one node
 * ask for the same ones.
 */
import type { KubeObject } from '../api/object.ts'
import { isNotFound } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'

export interface References {
  /** Undefined when there is none. @throws StatusError when it may not be read */
  configMap(namespace: string, name: string): Promise<KubeObject | undefined>
  secret(namespace: string, name: string): Promise<KubeObject | undefined>
}

const KEPT_MS = 60_000
const MOST_KEPT = 500

export function createReferences(clock: Clock, client: Client): References {
  const kept = new Map<string, { readonly object: Promise<KubeObject>; readonly until: number }>()

  async function find(resource: string, namespace: string, name: string): Promise<KubeObject | undefined> {
    const key = `${resource}/${namespace}/${name}`
    const known = kept.get(key)
    try {
      if (known !== undefined && known.until > clock.monotonic()) return await known.object
      if (kept.size >= MOST_KEPT) kept.clear()
      const object = client.resource({ group: '', version: 'v1', resource }).namespace(namespace).get(name)
      kept.set(key, { object, until: clock.monotonic() + KEPT_MS })
      return await object
    } catch (error) {
      kept.delete(key)
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  return {
    configMap: (namespace, name) => find('configmaps', namespace, name),
    secret: (namespace, name) => find('secrets', namespace, name),
  }
}
