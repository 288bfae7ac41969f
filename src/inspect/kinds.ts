/** What a cluster serves, and what a user means by `deploy`, `Pod`, `deployments.apps` or `deployments.v1.apps`. */
import type { APIGroupList, APIResourceList, APIVersions } from '../api/generated/types.ts'
import type { Given } from '../api/object.ts'
import { AGGREGATED_ACCEPT, type NamedResource, readAggregatedDiscovery } from '../client/aggregated-discovery.ts'
import type { ClusterReader } from './cluster-reader.ts'

export interface Kinds {
  /** Each resource once, in the version that its group prefers. */
  readonly resources: readonly NamedResource[]
  /** Each in all its versions. */
  readonly everyVersion: readonly NamedResource[]
  /** `group/version` of each whose server does not answer. */
  readonly stale: readonly string[]
  /** What KIND means, as kubectl takes it; undefined: nothing that is served. */
  find(kind: string): NamedResource | undefined
  /** What `delete KIND` means: those of a category (`all`), else the one of that name; none: nothing that is served. */
  findAll(kind: string): readonly NamedResource[]
  /** The resource of a kind in a group, in any version. */
  ofKind(group: string, kind: string): NamedResource | undefined
  ofResource(group: string, resource: string): NamedResource | undefined
}

/** @throws Error when the cluster cannot be asked what it serves */
export async function readKinds(reader: ClusterReader): Promise<Kinds> {
  const answers = await Promise.all(['/api', '/apis'].map((path) => reader.document<Served>(path, AGGREGATED_ACCEPT)))
  const everyVersion: NamedResource[] = []
  const stale: string[] = []
  for (const [index, answer] of answers.entries()) {
    if (answer.state !== 'found') throw new Error(answer.message)
    const aggregated = readAggregatedDiscovery(answer.value)
    const part = aggregated ?? (await readEachVersion(reader, answer.value, index === 0))
    everyVersion.push(...part.resources)
    stale.push(...part.stale)
  }
  const preferred = new Map<string, NamedResource>()
  for (const resource of everyVersion) {
    const key = `${resource.resource}.${resource.group}`
    if (!preferred.has(key)) preferred.set(key, resource)
  }
  const resources = [...preferred.values()]
  return {
    resources,
    everyVersion,
    stale,
    find: (kind) => findKind(kind, resources, everyVersion),
    findAll: (kind) => ofCategory(kind, resources) ?? [findKind(kind, resources, everyVersion)].filter(isServed),
    ofKind: (group, kind) => resources.find((one) => one.group === group && one.kind === kind),
    ofResource: (group, resource) => preferred.get(`${resource}.${group}`),
  }
}

const isServed = (one: NamedResource | undefined): one is NamedResource => one !== undefined

/** As kubectl does, categories are looked for before names. */
function ofCategory(word: string, resources: readonly NamedResource[]): readonly NamedResource[] | undefined {
  const members = resources.filter(({ categories, verbs }) => categories.includes(word) && verbs.includes('delete'))
  return members.length === 0 ? undefined : members
}

/** The old form of /api and /apis, where the aggregated one is not given. */
type Served = Given<APIVersions & APIGroupList>

/** The form of servers without aggregated discovery: a document for each group version. */
async function readEachVersion(reader: ClusterReader, list: Served, isCore: boolean) {
  const versions: { group: string; version: string }[] = isCore
    ? (list.versions ?? ['v1']).map((version) => ({ group: '', version }))
    : (list.groups ?? []).flatMap(({ name, versions, preferredVersion }) => {
        const first = preferredVersion?.version
        const all = versions.map(({ version }) => version)
        return [...all.filter((version) => version === first), ...all.filter((version) => version !== first)].map(
          (version) => ({ group: name, version }),
        )
      })
  const stale: string[] = []
  const lists = await Promise.all(
    versions.map(async ({ group, version }): Promise<NamedResource[]> => {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const read = await reader.document<Partial<APIResourceList>>(path, 'application/json')
      if (read.state !== 'found') {
        stale.push(group === '' ? version : `${group}/${version}`)
        return []
      }
      return (read.value.resources ?? [])
        .filter(({ name }) => !name.includes('/'))
        .map((entry) => ({
          group,
          version,
          resource: entry.name,
          kind: entry.kind,
          namespaced: entry.namespaced,
          verbs: entry.verbs ?? [],
          singular: entry.singularName ?? '',
          shortNames: entry.shortNames ?? [],
          categories: entry.categories ?? [],
        }))
    }),
  )
  return { resources: lists.flat(), stale }
}

/** `KIND`, `KIND.GROUP` or `KIND.VERSION.GROUP`, in any case; a plural, a singular, a short name or a kind. */
function findKind(
  text: string,
  resources: readonly NamedResource[],
  everyVersion: readonly NamedResource[],
): NamedResource | undefined {
  const wanted = text.toLowerCase()
  const isNamed = (one: NamedResource, name: string) =>
    one.resource === name ||
    one.singular === name ||
    one.kind.toLowerCase() === name ||
    one.shortNames.some((short) => short.toLowerCase() === name)
  const best = (name: string, among: readonly NamedResource[]) =>
    among.find(({ resource }) => resource === name) ?? among.find((one) => isNamed(one, name))
  const dot = wanted.indexOf('.')
  if (dot < 0) return best(wanted, resources)
  const [name, rest] = [wanted.slice(0, dot), wanted.slice(dot + 1)]
  const inGroup = best(
    name,
    resources.filter(({ group }) => group === rest || (group !== '' && group.startsWith(`${rest}.`))),
  )
  if (inGroup !== undefined) return inGroup
  const at = rest.indexOf('.')
  const [version, group] = at < 0 ? [rest, ''] : [rest.slice(0, at), rest.slice(at + 1)]
  return best(
    name,
    everyVersion.filter((one) => one.version === version && one.group === group),
  )
}
