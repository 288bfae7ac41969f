/**
 * ConfigMaps, Secrets and trust bundles that pods refer to, read with the node's own rights; the first two are kept for a
 * moment, since many pods of one node ask for the same ones.
 */

import type { ClusterTrustBundle, ConfigMap, Secret } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { CompiledSelector } from '../api/objects/label-selector.ts'
import { isNotFound } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import { createExpiringMap } from '../base/expiring-map.ts'
import type { Client } from '../client/client.ts'

export interface References {
  /** Undefined when there is none. @throws StatusError when it may not be read */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  /** Those named so, or those of a signer that a selector matches. @throws StatusError when they may not be read */
  trustBundles(which: { readonly name: string } | TrustBundlesOfSigner): Promise<readonly ClusterTrustBundle[]>
}

export interface TrustBundlesOfSigner {
  readonly signerName: string
  readonly selector: CompiledSelector
}

const TRUST_BUNDLES = { group: 'certificates.k8s.io', version: 'v1', resource: 'clustertrustbundles' }
const KEPT_MS = 60_000
const MOST_KEPT = 500

export function createReferences(clock: Clock, client: Client): References {
  const kept = createExpiringMap<Promise<KubeObject>>(clock, MOST_KEPT)

  async function find<T extends KubeObject>(resource: string, namespace: string, name: string): Promise<T | undefined> {
    const key = `${resource}/${namespace}/${name}`
    const known = kept.get(key)
    try {
      if (known !== undefined) return (await known.value) as T
      const object = client.resource<T>({ group: '', version: 'v1', resource }).namespace(namespace).get(name)
      kept.set(key, object, KEPT_MS)
      return await object
    } catch (error) {
      kept.delete(key)
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async function trustBundles(
    which: { readonly name: string } | TrustBundlesOfSigner,
  ): Promise<readonly ClusterTrustBundle[]> {
    const named = 'name' in which
    const [field, value] = named ? ['metadata.name', which.name] : ['spec.signerName', which.signerName]
    const { items } = await client
      .resource<ClusterTrustBundle>(TRUST_BUNDLES)
      .list({ fieldSelector: `${field}=${value}` })
    return named ? items : items.filter(({ metadata }) => which.selector.matches(metadata.labels ?? {}))
  }

  return {
    trustBundles,
    configMap: (namespace, name) => find('configmaps', namespace, name),
    secret: (namespace, name) => find('secrets', namespace, name),
  }
}
