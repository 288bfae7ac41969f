/** What discovery tells of groups and their resources, in the old form and in the aggregated one. */
import type { APIResource } from '../../api/generated/types.ts'
import { apiVersionOf, type JsonObject } from '../../api/object.ts'
import type { ResourceRow, Scheme } from '../../api/scheme/resource.ts'
import type { RemoteGroupVersion } from '../aggregation/aggregator.ts'
import type { DiscoveryGroup } from './groups.ts'

type Remotes = readonly RemoteGroupVersion[]

export function groupDocument({ name, versions }: DiscoveryGroup): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

/** By name. */
const rowsOf = (scheme: Scheme, group: string, version: string): readonly ResourceRow[] =>
  [...(scheme.groups().get(group)?.rows(version) ?? [])].sort((a, b) => (a.resource < b.resource ? -1 : 1))

export function resourceList(scheme: Scheme, group: string, version: string): JsonObject {
  const resources = rowsOf(scheme, group, version).flatMap((row): JsonObject[] => [
    {
      name: row.resource,
      singularName: row.singular,
      namespaced: row.namespaced,
      kind: row.kind,
      verbs: row.verbs,
      ...(row.shortNames.length ? { shortNames: row.shortNames } : {}),
      ...(row.categories.length ? { categories: row.categories } : {}),
      ...(row.storageVersionHash ? { storageVersionHash: row.storageVersionHash } : {}),
    },
    ...row.discoveredSubresources.map((sub) => ({
      name: `${row.resource}/${sub.name}`,
      singularName: '',
      namespaced: row.namespaced,
      ...(sub.group !== row.group || sub.version !== row.version ? { group: sub.group, version: sub.version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ])
  // The core group's list has no apiVersion of its own, as on a real server.
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(group, version),
    resources,
  }
}

/** A group in the aggregated form; '' is the core group. */
export function aggregatedGroup(scheme: Scheme, { name, versions }: DiscoveryGroup, remotes: Remotes): JsonObject {
  return {
    metadata: name === '' ? {} : { name },
    versions: versions.map((version) => {
      const remote = remotes.find((candidate) => candidate.group === name && candidate.version === version)
      if (remote !== undefined) return remoteVersion(remote)
      return {
        version,
        resources: rowsOf(scheme, name, version).map((row) => aggregatedResource(row)),
        freshness: 'Current',
      }
    }),
  }
}

/** What another server tells of itself by APIResourceList, in the aggregated form; stale while it cannot be reached. */
function remoteVersion({ version, resources }: RemoteGroupVersion): JsonObject {
  if (resources === undefined) return { version, freshness: 'Stale' }
  const kind = (resource: Partial<APIResource>) => ({
    group: resource.group ?? '',
    version: resource.version ?? '',
    kind: resource.kind ?? '',
  })
  const own = resources.filter(({ name }) => !String(name).includes('/'))
  return {
    version,
    resources: own.map((resource) => {
      const subresources = resources.filter(({ name }) => String(name).startsWith(`${resource.name}/`))
      return {
        resource: resource.name ?? '',
        responseKind: kind(resource),
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: resource.singularName ?? '',
        verbs: resource.verbs ?? [],
        ...(resource.shortNames?.length ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories?.length ? { categories: resource.categories } : {}),
        ...(subresources.length
          ? {
              subresources: subresources.map((sub) => ({
                subresource: String(sub.name).slice(String(resource.name).length + 1),
                responseKind: kind(sub),
                verbs: sub.verbs ?? [],
              })),
            }
          : {}),
      }
    }),
    freshness: 'Current',
  }
}

/** A response kind leaves empty what is implied. */
function aggregatedResource(row: ResourceRow): JsonObject {
  const responseKind = ({ group, version, kind }: Pick<ResourceRow, 'group' | 'version' | 'kind'>) => {
    const implied = row.impliesKind && group === row.group && version === row.version
    return implied ? { group: '', version: '', kind } : { group, version, kind }
  }
  return {
    resource: row.resource,
    responseKind: responseKind(row),
    scope: row.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: row.singular,
    verbs: row.verbs,
    ...(row.shortNames.length ? { shortNames: row.shortNames } : {}),
    ...(row.categories.length ? { categories: row.categories } : {}),
    ...(row.subresources.length
      ? {
          subresources: row.discoveredSubresources.map((sub) => ({
            subresource: sub.name,
            responseKind: responseKind(sub),
            verbs: sub.verbs,
          })),
        }
      : {}),
  }
}
