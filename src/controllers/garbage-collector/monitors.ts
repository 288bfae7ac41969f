/** Monitors: an informer for each resource that can be deleted, listed and watched. They follow discovery. */
import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { DiscoveredResource, GroupVersionResource } from '../../client/client.ts'
import type { Informer, InformerFactory } from '../../client/informer.ts'
import type { GraphChange } from './graph-builder.ts'

/** Events are many, own nothing and are owned by nothing. */
const ignored = new Set(['events', 'events.events.k8s.io'])

export const keyOf = ({ group, version, resource }: GroupVersionResource): string => `${group}/${version}/${resource}`

export function deletableResources(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  return resources.filter(
    ({ group, resource, verbs }) =>
      ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb)) &&
      !ignored.has(group === '' ? resource : `${resource}.${group}`),
  )
}

/** Owners, finalizers and the mark are all that the graph knows of an object; most changes are of something else. */
function changesGraph({ metadata: old }: KubeObject, { metadata: now }: KubeObject): boolean {
  return (
    old.deletionTimestamp !== now.deletionTimestamp ||
    !sameJson(old.ownerReferences ?? [], now.ownerReferences ?? []) ||
    !sameJson(old.finalizers ?? [], now.finalizers ?? [])
  )
}

export interface Monitors {
  /** Starts and stops informers until there is one for each of these. Returns the resources that are new. */
  sync(resources: readonly DiscoveredResource[]): DiscoveredResource[]
  whenSynced(signal: AbortSignal): Promise<void>
  informerOf(resource: GroupVersionResource): Informer | undefined
  stop(): void
}

/** Objects that make kinds. */
const makeKinds = new Set(['customresourcedefinitions.apiextensions.k8s.io', 'apiservices.apiregistration.k8s.io'])

/** `kindsChanged`: told whenever an object that makes kinds has changed. */
export function createMonitors(
  factory: InformerFactory,
  enqueue: (change: GraphChange) => void,
  kindsChanged: () => void = () => {},
): Monitors {
  const running = new Map<string, { resource: DiscoveredResource; informer: Informer; end: () => void }>()

  return {
    sync(resources) {
      const wanted = new Map(resources.map((resource) => [keyOf(resource), resource]))
      for (const [key, monitor] of running) {
        if (wanted.has(key)) continue
        monitor.end()
        factory.stopInformer(monitor.resource, { metadataOnly: true })
        running.delete(key)
        // Nothing of that kind is served any more: its objects are gone for the graph.
        for (const object of monitor.informer.store.list()) enqueue({ type: 'delete', object })
      }
      const added: DiscoveredResource[] = []
      for (const [key, resource] of wanted) {
        if (running.has(key)) continue
        added.push(resource)
        const informer = factory.informer(resource, { metadataOnly: true })
        const kinded = (object: KubeObject): KubeObject =>
          object.kind === 'PartialObjectMetadata'
            ? { ...object, apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind }
            : object
        const changed = makeKinds.has(`${resource.resource}.${resource.group}`) ? kindsChanged : () => {}
        const end = informer.addHandlers({
          added: (object) => {
            changed()
            enqueue({ type: 'add', object: kinded(object) })
          },
          updated: (old, object) => {
            changed()
            if (old.metadata.uid === object.metadata.uid) {
              if (!changesGraph(old, object)) return
              enqueue({ type: 'update', old: kinded(old), object: kinded(object) })
              return
            }
            // A relist that missed a deletion: one object went and another of its name came.
            enqueue({ type: 'delete', object: kinded(old) })
            enqueue({ type: 'add', object: kinded(object) })
          },
          deleted: (object) => {
            changed()
            enqueue({ type: 'delete', object: kinded(object) })
          },
        })
        running.set(key, { resource, informer, end })
      }
      return added
    },
    async whenSynced(signal) {
      await Promise.all([...running.values()].map(({ informer }) => informer.whenSynced(signal)))
    },
    informerOf: (resource) => running.get(keyOf(resource))?.informer,
    stop() {
      for (const { end } of running.values()) end()
      running.clear()
    },
  }
}
