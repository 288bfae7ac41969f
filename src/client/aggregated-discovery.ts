/**
 * Discovery in two requests (apidiscovery.k8s.io, in every API server from v1.27 on): what is served with the names that users
 * type for it, and which group versions could not be asked (their aggregated API server is down).
 */
import type { ObjectMeta } from '../api/object.ts'
import type { DiscoveredResource } from './client.ts'

export const AGGREGATED_ACCEPT = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')

export interface NamedResource extends DiscoveredResource {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

export interface AggregatedDiscovery {
  /** Each resource in each version that serves it, groups and versions in the server's order of preference. */
  readonly resources: readonly NamedResource[]
  /** `group/version` of each one that the server could not ask just now; what it knew of it before is given. */
  readonly stale: readonly string[]
}

/** An APIGroupDiscoveryList, as far as it is read here; or the APIVersions or APIGroupList of a server that has none. */
interface DiscoveryList {
  readonly kind: string
  readonly items?: readonly DiscoveredGroup[]
}

interface DiscoveredGroup {
  readonly metadata?: ObjectMeta
  readonly versions?: readonly {
    readonly version: string
    readonly freshness?: string
    readonly resources?: readonly DiscoveredEntry[]
  }[]
}

interface DiscoveredEntry {
  readonly resource: string
  readonly responseKind?: { readonly kind: string }
  readonly scope?: string
  readonly verbs?: readonly string[]
  readonly singularResource?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** One answer, of /api or /apis; undefined when the server gave the old form. */
export function readAggregatedDiscovery(list: DiscoveryList): AggregatedDiscovery | undefined {
  if (list.kind !== 'APIGroupDiscoveryList') return undefined
  const resources: NamedResource[] = []
  const stale: string[] = []
  for (const { metadata, versions } of list.items ?? []) {
    const group = metadata?.name ?? ''
    for (const { version, freshness, resources: served } of versions ?? []) {
      if (freshness === 'Stale') stale.push(group === '' ? version : `${group}/${version}`)
      for (const entry of served ?? []) {
        resources.push({
          group,
          version,
          resource: entry.resource,
          kind: entry.responseKind?.kind ?? '',
          namespaced: entry.scope === 'Namespaced',
          verbs: entry.verbs ?? [],
          singular: entry.singularResource ?? '',
          shortNames: entry.shortNames ?? [],
          categories: entry.categories ?? [],
        })
      }
    }
  }
  return { resources, stale }
}
