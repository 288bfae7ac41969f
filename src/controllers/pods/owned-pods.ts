/** What happens to pods, told to the objects that control them or might. */

import type { Pod } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { EventHandlers } from '../../client/informer.ts'
import type { Store } from '../../client/store.ts'
import { namespaceIndex } from '../../client/store.ts'
import { controllerOf, isReady } from './pod.ts'

export interface PodOwners<T extends KubeObject = KubeObject> {
  readonly kind: string
  /** With a namespace index. */
  readonly store: Store<T>
  selects(owner: T, pod: Pod): boolean
  changed(owner: T): void
  created?(owner: T, pod: Pod): void
  /** Its deletion has begun, or it has gone. */
  goes?(owner: T, pod: Pod): void
  becameReady?(owner: T): void
}

/** The pod's controller, when it is one of these and still the same object. */
export function ownerOf<T extends KubeObject>(owners: PodOwners<T>, pod: Pod): T | undefined {
  return resolve(owners, pod, controllerOf(pod))
}

function resolve<T extends KubeObject>(
  owners: PodOwners<T>,
  pod: Pod,
  reference: OwnerReference | undefined,
): T | undefined {
  if (reference?.kind !== owners.kind) return undefined
  const owner = owners.store.get(`${pod.metadata.namespace}/${reference.name}`)
  return owner?.metadata.uid === reference.uid ? owner : undefined
}

export function podHandlers<T extends KubeObject>(owners: PodOwners<T>): EventHandlers<Pod> {
  const adoptable = (pod: Pod) => {
    for (const owner of owners.store.byIndex(namespaceIndex, pod.metadata.namespace ?? ''))
      if (owners.selects(owner, pod)) owners.changed(owner)
  }
  const deleted = (pod: Pod) => {
    const owner = ownerOf(owners, pod)
    if (owner === undefined) return
    owners.goes?.(owner, pod)
    owners.changed(owner)
  }
  const added = (pod: Pod) => {
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
