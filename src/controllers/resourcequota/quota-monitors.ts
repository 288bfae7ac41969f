/**
 * The objects that quotas count: an informer for each resource that some quota limits, made when the first such quota is
 * synced. They follow discovery, group by group.
 */

import type { KubeObject } from '../../api/object.ts'
import { evaluatorOf } from '../../api/objects/quota-usage.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import {
  createDiscoveredResources,
  groupOfKindMaker,
  isOfEvents,
  KIND_MAKERS,
} from '../../client/discovered-resources.ts'
import type { Informer } from '../../client/informer.ts'
import { indexNamespace, namespaceIndex } from '../../client/store.ts'
import type { ControllerContext } from '../controller.ts'
import type { CountedObjects } from './usage.ts'
import { usesOtherwise } from './usage.ts'

const quotable = ['create', 'list', 'watch', 'delete']

/** Kubernetes' own Events are not counted; a definition's resource of that name is. */
export const isCounted = (resource: DiscoveredResource): boolean =>
  resource.namespaced && !isOfEvents(resource) && quotable.every((verb) => resource.verbs.includes(verb))

const keyOf = ({ group, version, resource }: DiscoveredResource): string => `${group}/${version}/${resource}`

export interface CountedResource {
  /** Of the resources of the last discovery, those that `wanted` chooses, with their objects. */
  inNamespace(namespace: string, wanted: (resource: DiscoveredResource) => boolean): Promise<readonly CountedObjects[]>
  /** Asks discovery for what has changed; whether there are other resources than before. */
  refresh(): Promise<boolean>
}

/** `released` is told whenever an object may use less than before. */
export function createCounted(
  { runtime, client, informers, signal }: ControllerContext,
  released: (resource: DiscoveredResource, namespace: string) => void,
): CountedResource {
  const running = new Map<string, { group: string; informer: Informer; end: () => void }>()
  const discovered = createDiscoveredResources(client)
  let begun: Promise<unknown> | undefined
  /** Groups in which kinds have come, changed or gone since they were discovered. */
  const changedGroups = new Set<string>()

  function informerOf(resource: DiscoveredResource): Informer {
    const informer = informers.informer(resource, { metadataOnly: !evaluatorOf(resource).looksInside })
    const key = keyOf(resource)
    const known = running.get(key)
    if (known?.informer === informer) return informer
    known?.end()
    informer.addIndex(namespaceIndex, indexNamespace)
    const end = informer.addHandlers({
      updated(old, object) {
        const replaced = old.metadata.uid !== object.metadata.uid
        if (replaced || usesOtherwise(resource, old, object, runtime.clock.now()))
          released(resource, object.metadata.namespace ?? '')
      },
      deleted: (object) => released(resource, object.metadata.namespace ?? ''),
    })
    running.set(key, { group: resource.group, informer, end })
    return informer
  }

  async function begin(): Promise<void> {
    await discovered.refresh()
    const changed = ({ metadata }: KubeObject) => void changedGroups.add(groupOfKindMaker(metadata.name ?? ''))
    const added = (object: KubeObject, initial: boolean) => (initial ? undefined : changed(object))
    const updated = (_: KubeObject, object: KubeObject) => changed(object)
    for (const maker of KIND_MAKERS)
      informers.informer(maker, { metadataOnly: true }).addHandlers({ added, updated, deleted: changed })
  }

  async function refresh(): Promise<boolean> {
    const asked = [...changedGroups]
    changedGroups.clear()
    let changed: readonly string[]
    try {
      // Whether anything else is served than was known is asked when no definition changes.
      changed = await discovered.refresh(asked.length > 0 ? asked : undefined)
    } catch (error) {
      for (const group of asked) changedGroups.add(group)
      throw error
    }
    for (const [key, { group, end }] of running) {
      if (!changed.includes(group) || discovered.inGroup(group).some((one) => isCounted(one) && keyOf(one) === key))
        continue
      end()
      running.delete(key)
    }
    return changed.length > 0
  }

  return {
    refresh,
    async inNamespace(namespace, wanted) {
      begun ??= begin().catch((error) => {
        begun = undefined
        throw error
      })
      await begun
      return Promise.all(
        discovered
          .all()
          .filter((resource) => isCounted(resource) && wanted(resource))
          .map(async (resource) => {
            const informer = informerOf(resource)
            await informer.whenSynced(signal)
            return { resource, objects: informer.store.byIndex(namespaceIndex, namespace) }
          }),
      )
    },
  }
}
