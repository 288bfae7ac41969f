/** Watches what is there of a cluster, as metadata, and keeps each state of each object as it is seen. */

import type { Namespace } from '../../api/generated/types.ts'
import { holdsOf } from '../../api/journal.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { Client } from '../../client/client.ts'
import { isOfEvents } from '../../client/discovered-resources.ts'
import { runReflector } from '../../client/reflector.ts'
import type { SeenState } from './seen.ts'

export interface Watched {
  /** In the order in which they came. */
  readonly states: readonly SeenState[]
  /** Watches those of these kinds too that are not watched already. */
  add(resources: readonly NamedResource[]): void
  /** Kinds whose first list has not come: they may not be watched, or their server does not answer. */
  unwatched(): readonly string[]
  /** Whether an object with the name is there. */
  isThere(group: string, resource: string, namespace: string, name: string): boolean
  /** Objects that were marked while it was watched, and are still there. */
  readonly going: ReadonlySet<string>
  /** Whether an object with the name was seen to go. */
  hasGone(group: string, resource: string, namespace: string, name: string): boolean
  /** By the monotonic clock, when something was last seen to change. */
  readonly changedAt: number
}

/** Whether its objects come and go, or change, without end, and nothing waits for them: Events and Leases. */
export const isRestless = (resource: Pick<NamedResource, 'group' | 'resource'>): boolean =>
  isOfEvents(resource) || (resource.group === 'coordination.k8s.io' && resource.resource === 'leases')

const named = ({ group, resource }: NamedResource) => (group === '' ? resource : `${resource}.${group}`)

/**
 * @param namespace '': all of them, and what has none; else what is in it, and itself. Watches until `signal` is aborted.
 * @param listed told of each kind when its first list has come
 */
export function watchCluster(
  runtime: Runtime,
  client: Client,
  resources: readonly NamedResource[],
  namespace: string,
  signal: AbortSignal,
  listed: (kind: string) => void = () => {},
): Watched {
  const { clock } = runtime
  const states: SeenState[] = []
  const latest = new Map<string, SeenState>()
  const going = new Set<string>()
  const gone = new Set<string>()
  const synced = new Set<NamedResource>()
  let changedAt = clock.monotonic()
  const chosen = new Map<string, NamedResource>()
  const isWanted = (one: NamedResource) =>
    one.verbs.includes('list') &&
    one.verbs.includes('watch') &&
    !isRestless(one) &&
    (namespace === '' || one.namespaced || named(one) === 'namespaces')

  function see(type: SeenState['type'], resource: NamedResource, object: KubeObject): void {
    const state = seenStateOf(type, resource, object, clock.now())
    const { uid, group, resource: plural, namespace: within, name } = state.object
    states.push(state)
    const before = latest.get(uid)
    changedAt = clock.monotonic()
    if (type === 'DELETED') {
      latest.delete(uid)
      going.delete(uid)
      gone.add(`${group}/${plural}/${within}/${name}`)
      return
    }
    latest.set(uid, state)
    const isNew = state.holds.deletionTimestamp !== undefined && before?.holds.deletionTimestamp === undefined
    if (before !== undefined && isNew) going.add(uid)
  }

  function add(served: readonly NamedResource[]): void {
    for (const resource of served) {
      if (!isWanted(resource) || chosen.has(named(resource))) continue
      chosen.set(named(resource), resource)
      watch(resource)
    }
  }

  function watch(resource: NamedResource): void {
    const isNamespace = named(resource) === 'namespaces'
    const options = {
      // The finalizers of a namespace are in its spec.
      ...(isNamespace ? {} : { metadataOnly: true }),
      ...(isNamespace && namespace !== '' ? { fieldSelector: `metadata.name=${namespace}` } : {}),
    }
    const all = client.resource(resource)
    const within = resource.namespaced && namespace !== '' ? all.namespace(namespace) : all
    const sink = {
      replace(items: readonly KubeObject[], resourceVersion: string) {
        for (const object of items)
          if (isNews(object)) see(synced.has(resource) ? 'MODIFIED' : 'ADDED', resource, object)
        if (synced.has(resource)) leave(resource, items, resourceVersion)
        else listed(named(resource))
        synced.add(resource)
      },
      apply: ({ type, object }: { readonly type: SeenState['type']; readonly object: KubeObject }) =>
        see(type, resource, object),
      bookmark() {},
    }
    void runReflector(runtime, within, options, sink, signal)
  }

  const isNews = ({ metadata: { uid = '', resourceVersion } }: KubeObject) =>
    latest.get(uid)?.revision !== Number(resourceVersion)

  /** What a new list does not have went while nothing was watched. */
  function leave({ group, resource }: NamedResource, items: readonly KubeObject[], revision: string): void {
    const there = new Set(items.map(({ metadata }) => metadata.uid))
    for (const state of [...latest.values()]) {
      const { object } = state
      if (object.group !== group || object.resource !== resource || there.has(object.uid)) continue
      states.push({ ...state, type: 'DELETED', revision: Number(revision), time: clock.now() })
      latest.delete(object.uid)
      going.delete(object.uid)
      gone.add(`${group}/${resource}/${object.namespace}/${object.name}`)
    }
  }

  add(resources)
  return {
    states,
    going,
    add,
    unwatched: () => [...chosen.values()].filter((one) => !synced.has(one)).map(named),
    isThere: (group, resource, within, name) =>
      latest
        .values()
        .some(
          ({ object }) =>
            object.name === name &&
            object.namespace === within &&
            object.resource === resource &&
            object.group === group,
        ),
    hasGone: (group, resource, within, name) => gone.has(`${group}/${resource}/${within}/${name}`),
    get changedAt() {
      return changedAt
    },
  }
}

const specFinalizers = ({ spec }: Namespace): readonly string[] => spec?.finalizers ?? []

export function seenStateOf(
  type: SeenState['type'],
  { group, resource, kind }: NamedResource,
  object: KubeObject,
  time: number,
): SeenState {
  const { metadata } = object
  const { name = '', namespace = '', uid = '', resourceVersion = '0', managedFields = [] } = metadata
  const own = resource === 'namespaces' && group === '' ? specFinalizers(object) : []
  const newest = managedFields.reduce<(typeof managedFields)[number] | undefined>(
    (last, entry) => ((entry.time ?? '') >= (last?.time ?? '') ? entry : last),
    undefined,
  )
  return {
    type,
    object: { group, resource, kind, namespace, name, uid },
    revision: Number(resourceVersion),
    time,
    holds: holdsOf(metadata, own),
    ...(newest?.manager === undefined ? {} : { lastManager: newest.manager }),
  }
}
