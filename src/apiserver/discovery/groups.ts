/** Which API groups are served and in which versions: by this server, and by those of aggregated APIs. */
import type { Scheme } from '../../api/scheme/resource.ts'
import { type ApiGroup, builtinGroups, isBuiltinGroup } from '../../api/scheme/scheme.ts'
import { byPriority } from '../../api/scheme/version-priority.ts'
import type { RemoteGroupVersion } from '../aggregation/aggregator.ts'

export interface DiscoveryGroup {
  readonly name: string
  /** The preferred one first. */
  readonly versions: readonly string[]
}

type Remotes = readonly RemoteGroupVersion[]

/** Named groups in the order of /apis: the built-in ones in Kubernetes' order, then those of custom resources by name. */
export function servedGroups(scheme: Scheme, remotes: Remotes = []): readonly DiscoveryGroup[] {
  const own = scheme.groups()
  const custom = [...own.keys()].filter((name) => name !== '' && !isBuiltinGroup(name)).sort()
  const names = new Set([...builtinGroups().map(({ name }) => name), ...custom, ...remotes.map(({ group }) => group)])
  const groups: DiscoveryGroup[] = []
  for (const name of names) {
    const group = servedGroup(scheme, name, remotes)
    if (group !== undefined) groups.push(group)
  }
  return groups
}

/** undefined when no version of it is served. */
export function servedGroup(scheme: Scheme, name: string, remotes: Remotes = []): DiscoveryGroup | undefined {
  const served = scheme.groups().get(name)?.versions ?? []
  const usual = (builtin().get(name)?.versions ?? []).map(({ version }) => version)
  const own = [
    ...usual.filter((version) => served.includes(version)),
    ...served.filter((version) => !usual.includes(version)).sort(byPriority),
  ]
  const added = remotes.filter(({ group, version }) => group === name && !own.includes(version))
  const versions = [...own, ...added.map(({ version }) => version)]
  return versions.length === 0 ? undefined : { name, versions }
}

let byName: ReadonlyMap<string, ApiGroup> | undefined
function builtin(): ReadonlyMap<string, ApiGroup> {
  byName ??= new Map(builtinGroups().map((group) => [group.name, group]))
  return byName
}
