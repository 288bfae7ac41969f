/** Monitors: an informer for each resource that can be deleted, listed and watched. They follow discovery, group by group. */
import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import { sameOwnerReferences } from '../../api/owner-references.ts'
import { sameJson } from '../../api/same.ts'
import type { DiscoveredResource, GroupVersionResource } from '../../client/client.ts'
import { groupOfKindMaker, isOfEvents, KIND_MAKERS } from '../../client/discovered-resources.ts'
import type { Informer, InformerFactory } from '../../client/informer.ts'
import type { GraphChange } from './graph-builder.ts'

export const keyOf = ({ group, version, resource }: GroupVersionResource): string => `${group}/${version}/${resource}`

/** Without Events: they are many, own nothing and are owned by nothing. */
export function deletableResources(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  return resources.filter(
    (resource) => ['delete', 'list', 'watch'].every((verb) => resource.verbs.includes(verb)) && !isOfEvents(resource),
  )
}

/** Owners, finalizers and the mark are all that the graph knows of an object; most changes are of something else. */
function changesGraph({ metadata: old }: KubeObject, { metadata: now }: KubeObject): boolean {
  return (
    old.deletionTimestamp !== now.deletionTimestamp ||
    !sameOwnerReferences(old.ownerReferences ?? [], now.ownerReferences ?? []) ||
    !sameJson(old.finalizers ?? [], now.finalizers ?? [])
  )
}

export interface Monitors {
  /** Starts and stops informers of this group until there is one for each of these. Returns the resources that are new. */
  sync(group: string, resources: readonly DiscoveredResource[]): DiscoveredResource[]
  /** Of these resources, or of all that have a monitor. */
  whenSynced(signal: AbortSignal, resources?: readonly DiscoveredResource[]): Promise<void>
  informerOf(resource: GroupVersionResource): Informer | undefined
  stop(): void
}

interface Monitor {
  readonly resource: DiscoveredResource
  readonly informer: Informer
  end(): void
}

const isSameResource = (one: GroupVersionResource, other: GroupVersionResource): boolean =>
  one.group === other.group && one.version === other.version && one.resource === other.resource

/** `kindsChanged`: told of the group whose kinds an object brings, whenever such an object has changed. */
export function createMonitors(
  factory: InformerFactory,
  enqueue: (change: GraphChange) => void,
  kindsChanged: (group: string) => void = () => {},
): Monitors {
  /** By group, and in it by `group/version/resource`. */
  const running = new Map<string, Map<string, Monitor>>()
  const monitorOf = (resource: GroupVersionResource) => running.get(resource.group)?.get(keyOf(resource))

  const kindedBy =
    (resource: DiscoveredResource) =>
    (object: KubeObject): KubeObject =>
      object.kind === 'PartialObjectMetadata'
        ? { ...object, apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind }
        : object

  function start(resource: DiscoveredResource): Monitor {
    const informer = factory.informer(resource, { metadataOnly: true })
    const kinded = kindedBy(resource)
    const changed = KIND_MAKERS.some((maker) => isSameResource(maker, resource))
      ? ({ metadata }: KubeObject) => kindsChanged(groupOfKindMaker(metadata.name ?? ''))
      : () => {}
    const end = informer.addHandlers({
      added: (object) => {
        changed(object)
        enqueue({ type: 'add', object: kinded(object) })
      },
      updated: (old, object) => {
        changed(object)
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
        changed(object)
        enqueue({ type: 'delete', object: kinded(object) })
      },
    })
    return { resource, informer, end }
  }

  return {
    sync(group, resources) {
      const known = running.get(group) ?? new Map<string, Monitor>()
      running.set(group, known)
      const wanted = new Map(resources.map((resource) => [keyOf(resource), resource]))
      for (const [key, monitor] of known) {
        if (wanted.has(key)) continue
        monitor.end()
        factory.stopInformer(monitor.resource, { metadataOnly: true })
        known.delete(key)
        // Nothing of that kind is served any more: its objects are gone for the graph.
        const kinded = kindedBy(monitor.resource)
        for (const object of monitor.informer.store.list()) enqueue({ type: 'delete', object: kinded(object) })
      }
      const added = [...wanted].flatMap(([key, resource]) => (known.has(key) ? [] : [resource]))
      for (const resource of added) known.set(keyOf(resource), start(resource))
      if (known.size === 0) running.delete(group)
      return added
    },
    async whenSynced(signal, resources) {
      const monitors = resources?.map(monitorOf) ?? [...running.values()].flatMap((group) => [...group.values()])
      await Promise.all(monitors.map((monitor) => monitor?.informer.whenSynced(signal)))
    },
    informerOf: (resource) => monitorOf(resource)?.informer,
    stop() {
      for (const group of running.values()) for (const { end } of group.values()) end()
      running.clear()
    },
  }
}
