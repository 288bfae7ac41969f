/**
 * ConfigMaps, Secrets and trust bundles that pods refer to, read with the node's own rights; the first two are kept for a
 * moment, since many pods of one node ask for the same ones, and where they are immutable until the last pod has ended that refers to them.
 */

import type { ClusterTrustBundle, ConfigMap, Secret } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { CompiledSelector } from '../api/objects/label-selector.ts'
import { refersToConfigMap, refersToSecret } from '../api/objects/pod-references.ts'
import { isNotFound } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import { createExpiringMap } from '../base/expiring-map.ts'
import type { Client } from '../client/client.ts'
import { namespaceOf, type Pod, uidOf } from './pod.ts'

export interface References {
  /** Undefined when there is none. @throws StatusError when it may not be read */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  /** Those named so, or those of a signer that a selector matches. @throws StatusError when they may not be read */
  trustBundles(which: { readonly name: string } | TrustBundlesOfSigner): Promise<readonly ClusterTrustBundle[]>
  /** What is read from now on is newer than now. */
  renew(): void
  /** The pod has ended: immutable objects that no other one refers to are kept no longer. */
  ended(pod: Pod): void
}

export interface TrustBundlesOfSigner {
  readonly signerName: string
  readonly selector: CompiledSelector
}

const TRUST_BUNDLES = { group: 'certificates.k8s.io', version: 'v1', resource: 'clustertrustbundles' }
/** Pods that start together read the same ones; a container that starts after a change has to see it, as by a kubelet, which watches them. */
const KEPT_MS = 1000
const MOST_KEPT = 500
const REFERS = { configmaps: refersToConfigMap, secrets: refersToSecret }

interface Immutable {
  readonly object: KubeObject
  isOf(pod: Pod): boolean
}

/** `activePods`: those that have not ended. */
export function createReferences(clock: Clock, client: Client, activePods: () => Iterable<Pod>): References {
  const createKept = () => createExpiringMap<Promise<KubeObject>>(clock, MOST_KEPT)
  let kept = createKept()
  const immutables = new Map<string, Immutable>()

  async function find<T extends ConfigMap | Secret>(
    resource: keyof typeof REFERS,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    const key = `${resource}/${namespace}/${name}`
    const immutable = immutables.get(key)
    if (immutable !== undefined) return immutable.object as T
    const object = await read<T>(resource, namespace, name)
    const isOf = (pod: Pod) => namespaceOf(pod) === namespace && REFERS[resource](pod, name)
    if (object?.immutable === true && some(activePods(), isOf)) immutables.set(key, { object, isOf })
    return object
  }

  async function read<T extends KubeObject>(resource: string, namespace: string, name: string): Promise<T | undefined> {
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
    renew() {
      kept = createKept()
    },
    ended(pod) {
      for (const [key, { isOf }] of immutables) {
        if (!isOf(pod) || some(activePods(), (other) => uidOf(other) !== uidOf(pod) && isOf(other))) continue
        immutables.delete(key)
        kept.delete(key)
      }
    },
  }
}

function some(pods: Iterable<Pod>, fits: (pod: Pod) => boolean): boolean {
  for (const pod of pods) if (fits(pod)) return true
  return false
}
