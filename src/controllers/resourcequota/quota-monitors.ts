/**
 * The objects that quotas count: an informer for each resource that some quota limits, made when the first such quota is
 * synced. They follow discovery.
 */

import { evaluatorOf } from '../../api/objects/quota-usage.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import { indexNamespace, namespaceIndex } from '../../client/store.ts'
import type { ControllerContext } from '../controller.ts'
import type { CountedObjects } from './usage.ts'
import { usesOtherwise } from './usage.ts'

const quotable = ['create', 'list', 'watch', 'delete']

const keyOf = ({ group, version, resource }: DiscoveredResource): string => `${group}/${version}/${resource}`

export interface CountedResource {
  /** Of the resources of the last discovery, those that `wanted` chooses, with their objects. */
  inNamespace(namespace: string, wanted: (resource: DiscoveredResource) => boolean): Promise<readonly CountedObjects[]>
  /** Asks discovery; whether there are other resources than before. */
  refresh(): Promise<boolean>
}

/** `released` is told whenever an object may use less than before. */
export function createCounted(
  { runtime, client, informers, signal }: ControllerContext,
  released: (resource: DiscoveredResource, namespace: string) => void,
): CountedResource {
  const running = new Map<string, { informer: Informer; end: () => void }>()
  let resources: readonly DiscoveredResource[] | undefined

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
    running.set(key, { informer, end })
    return informer
  }

  async function refresh(): Promise<boolean> {
    const found = await client.discover()
    const failed = new Set(found.failed)
    const next = [
      ...found.resources,
      // What could not be discovered now may well exist.
      ...(resources ?? []).filter(({ group, version }) => failed.has(group === '' ? version : `${group}/${version}`)),
    ].filter(
      ({ resource, namespaced, verbs }) =>
        namespaced && resource !== 'events' && quotable.every((verb) => verbs.includes(verb)),
    )
    const keys = new Set(next.map(keyOf))
    const before = new Set((resources ?? []).map(keyOf))
    resources = next
    for (const [key, { end }] of running) {
      if (keys.has(key)) continue
      end()
      running.delete(key)
    }
    return keys.size !== before.size || [...keys].some((key) => !before.has(key))
  }

  return {
    refresh,
    async inNamespace(namespace, wanted) {
      if (resources === undefined) await refresh()
      return Promise.all(
        (resources ?? []).filter(wanted).map(async (resource) => {
          const informer = informerOf(resource)
          await informer.whenSynced(signal)
          return { resource, objects: informer.store.byIndex(namespaceIndex, namespace) }
        }),
      )
    },
  }
}
