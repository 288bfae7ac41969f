/**
 * What an API server serves, as one component knows it: read whole at first, and then by group, so that a definition that comes or
 * changes costs its group and not all there are.
 */

import { apiVersionOf, parseApiVersion } from '../api/object.ts'
import { oneByOne } from '../base/one-by-one.ts'
import type { Client, DiscoveredResource, Discovery, GroupVersionResource } from './client.ts'
import { findByKind } from './discovery.ts'

/** Resources of the objects that bring kinds. Both are named after their group: `widgets.example.com`, `v1.example.com`. */
export const KIND_MAKERS: readonly GroupVersionResource[] = [
  { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' },
]

/** The group whose kinds a CustomResourceDefinition or an APIService of this name brings. */
export const groupOfKindMaker = (name: string): string => name.slice(name.indexOf('.') + 1)

/** Of Kubernetes' own Events, which come and go in numbers: a definition's resource of that name is like any other. */
export const isOfEvents = ({ group, resource }: Pick<GroupVersionResource, 'group' | 'resource'>): boolean =>
  resource === 'events' && (group === '' || group === 'events.k8s.io')

interface Group {
  readonly resources: readonly DiscoveredResource[]
  readonly everyVersion: readonly DiscoveredResource[]
  /** `group/version` of each one whose discovery failed last; what was known of it is kept. */
  readonly failed: readonly string[]
}

export interface DiscoveredResources {
  /**
   * Asks for these groups, or for everything: while the server says that its discovery is what it was when everything was asked
   * for last, only for what could not be discovered then. What cannot be discovered stays as it was. Returns the groups with
   * other resources than before.
   * @throws StatusError when a group, or the list of groups, cannot be read: nothing has changed then
   */
  refresh(groups?: Iterable<string>): Promise<readonly string[]>
  /** Of a group, each resource in the group's preferred version. */
  inGroup(group: string): readonly DiscoveredResource[]
  /** Of every group. */
  all(): DiscoveredResource[]
  findByKind(apiVersion: string, kind: string): DiscoveredResource | undefined
  /** Groups with a version that could not be discovered. */
  failedGroups(): string[]
  /** `group/version` of those of which nothing is known, since they could never be discovered. */
  unknown(): string[]
}

export function createDiscoveredResources(client: Pick<Client, 'discover' | 'discoveryTag'>): DiscoveredResources {
  const groups = new Map<string, Group>()
  /** Of what was served when everything was asked for last. */
  let tag: string | undefined
  let hasAll = false
  const inOrder = oneByOne()

  async function refreshAll(): Promise<readonly string[]> {
    // At first there is nothing to compare with.
    const next = hasAll ? await client.discoveryTag(tag) : undefined
    if (next !== undefined && next === tag) return refreshSome(failedGroups())
    const found = await client.discover()
    tag = next
    hasAll = true
    const names = new Set(groups.keys())
    for (const { group } of found.everyVersion) names.add(group)
    for (const failed of found.failed) names.add(parseApiVersion(failed).group)
    return take(names, found)
  }

  async function refreshSome(asked: readonly string[]): Promise<readonly string[]> {
    return asked.length === 0 ? [] : take(asked, await client.discover(asked))
  }

  function take(names: Iterable<string>, found: Discovery): readonly string[] {
    const resources = Map.groupBy(found.resources, ({ group }) => group)
    const everyVersion = Map.groupBy(found.everyVersion, ({ group }) => group)
    const failures = Map.groupBy(found.failed, (failed) => parseApiVersion(failed).group)
    const changed: string[] = []
    for (const name of names) {
      const before = groups.get(name)
      const failed = failures.get(name) ?? []
      const kept = (all: readonly DiscoveredResource[] = []) =>
        all.filter(({ group, version }) => failed.includes(apiVersionOf(group, version)))
      const now: Group = {
        resources: [...(resources.get(name) ?? []), ...kept(before?.resources)],
        everyVersion: [...(everyVersion.get(name) ?? []), ...kept(before?.everyVersion)],
        failed,
      }
      if (now.everyVersion.length === 0 && failed.length === 0) groups.delete(name)
      else groups.set(name, now)
      if (!isSame(before?.resources ?? [], now.resources)) changed.push(name)
    }
    return changed
  }

  const failedGroups = () => [...groups].flatMap(([name, { failed }]) => (failed.length > 0 ? [name] : []))

  return {
    refresh(asked) {
      const names = asked === undefined ? undefined : [...new Set(asked)]
      // One after the other: an older answer does not come after a newer one.
      return inOrder(() => (names === undefined ? refreshAll() : refreshSome(names)))
    },
    inGroup: (group) => groups.get(group)?.resources ?? [],
    all: () => [...groups.values()].flatMap(({ resources }) => resources),
    findByKind: (apiVersion, kind) =>
      findByKind(groups.get(parseApiVersion(apiVersion).group)?.everyVersion ?? [], apiVersion, kind),
    failedGroups,
    unknown: () =>
      [...groups.values()].flatMap(({ everyVersion, failed }) =>
        failed.filter((one) => everyVersion.every(({ group, version }) => apiVersionOf(group, version) !== one)),
      ),
  }
}

const wordOf = ({ version, resource, kind, namespaced, verbs }: DiscoveredResource): string =>
  [version, resource, kind, namespaced, ...verbs].join(' ')

function isSame(before: readonly DiscoveredResource[], now: readonly DiscoveredResource[]): boolean {
  if (before.length !== now.length) return false
  const known = new Set(before.map(wordOf))
  return now.every((resource) => known.has(wordOf(resource)))
}
