/** What happens to pods, told to the objects that control them or might. */

import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { EventHandlers } from '../../client/informer.ts'
import type { Store } from '../../client/store.ts'
import { namespaceIndex } from '../../client/store.ts'
import { controllerOf, isReady } from './pod.ts'

export interface PodOwners {
  readonly kind: string
  /** With a namespace index. */
  readonly store: Store<KubeObject>
  selects(owner: KubeObject, pod: KubeObject): boolean
  changed(owner: KubeObject): void
  created?(owner: KubeObject, pod: KubeObject): void
  /** Its deletion has begun, or it has gone. */
  goes?(owner: KubeObject, pod: KubeObject): void
  becameReady?(owner: KubeObject): void
}

/** The pod's controller, when it is one of these and still the same object. */
export function ownerOf(owners: PodOwners, pod: KubeObject): KubeObject | undefined {
  return resolve(owners, pod, controllerOf(pod))
}

function resolve(owners: PodOwners, pod: KubeObject, reference: OwnerReference | undefined): KubeObject | undefined {
  if (reference?.kind !== owners.kind) return undefined
  const owner = owners.store.get(`${pod.metadata.namespace}/${reference.name}`)
  return owner?.metadata.uid === reference.uid ? owner : undefined
}

export function podHandlers(owners: PodOwners): EventHandlers<KubeObject> {
  const adoptable = (pod: KubeObject) => {
    for (const owner of owners.store.byIndex(namespaceIndex, pod.metadata.namespace ?? ''))
      if (owners.selects(owner, pod)) owners.changed(owner)
  }
  const deleted = (pod: KubeObject) => {
    const owner = ownerOf(owners, pod)
    if (owner === undefined) return
    owners.goes?.(owner, pod)
    owners.changed(owner)
  }
  const added = (pod: KubeObject) => {
    if (pod.metadata.deletionTimestamp !== undefined) return deleted(pod)
    if (controllerOf(pod) === undefined) return adoptable(pod)
    const owner = ownerOf(owners, pod)
    if (owner === undefined) return
    owners.created?.(owner, pod)
    owners.changed(owner)
  }
  return {
    added,
    deleted,
    updated(old, pod) {
      if (old === pod) return
      if (old.metadata.uid !== pod.metadata.uid) {
        deleted(old)
        return added(pod)
      }
      if (pod.metadata.deletionTimestamp !== undefined) return deleted(pod)
      const reowned = controllerOf(old)?.uid !== controllerOf(pod)?.uid
      const former = reowned ? ownerOf(owners, old) : undefined
      if (former !== undefined) owners.changed(former)
      if (controllerOf(pod) === undefined) {
        if (reowned || !sameJson(old.metadata.labels, pod.metadata.labels)) adoptable(pod)
        return
      }
      const owner = ownerOf(owners, pod)
      if (owner === undefined) return
      owners.changed(owner)
      if (!isReady(old) && isReady(pod)) owners.becameReady?.(owner)
    },
  }
}
