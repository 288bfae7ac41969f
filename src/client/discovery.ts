/** Discovery: every resource served, or those of some groups, in its group's preferred version. */
import type { APIGroup, APIGroupList, APIResource, APIResourceList } from '../api/generated/types.ts'
import { apiVersionOf, parseApiVersion } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { AGGREGATED_ACCEPT } from './aggregated-discovery.ts'
import type { DiscoveredResource, Discovery } from './client.ts'
import { responseObject } from './response.ts'
import type { Requester } from './transport.ts'

interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** @throws StatusError */
type Read = <T>(path: string) => Promise<T>

const CORE: GroupVersion = { group: '', version: 'v1' }

/**
 * A resource that the preferred version of its group lacks is given in the first version that has it. A group version
 * whose discovery fails (an aggregated API that is down) is named in `failed` as `group/version`; the others are given.
 * @param groups only these are asked; one that is not served has no resources
 * @throws StatusError when /apis, or one of `groups`, cannot be read
 */
export async function discover(requester: Requester, groups?: readonly string[]): Promise<Discovery> {
  const read: Read = async <T>(path: string) => responseObject(await requester.request({ method: 'GET', path })) as T
  const versions = groups === undefined ? await everyGroup(read) : await someGroups(read, groups)
  const failed: string[] = []
  const lists = await Promise.all(
    versions.map(async ({ group, version }): Promise<readonly APIResource[]> => {
      try {
        const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
        return (await read<Partial<APIResourceList>>(path)).resources ?? []
      } catch {
        failed.push(apiVersionOf(group, version))
        return []
      }
    }),
  )
  const preferred = new Map<string, DiscoveredResource>()
  const everyVersion: DiscoveredResource[] = []
  lists.forEach((list, index) => {
    const { group, version } = versions[index]!
    for (const entry of list) {
      const resource = entry.name
      if (resource.includes('/')) continue
      const found: DiscoveredResource = {
        group: entry.group ?? group,
        version: entry.version ?? version,
        resource,
        kind: entry.kind,
        namespaced: entry.namespaced,
        verbs: entry.verbs ?? [],
      }
      everyVersion.push(found)
      const key = `${resource}.${group}`
      if (!preferred.has(key)) preferred.set(key, found)
    }
  })
  return { resources: [...preferred.values()], everyVersion, failed }
}

async function everyGroup(read: Read): Promise<readonly GroupVersion[]> {
  const { groups } = await read<APIGroupList>('/apis')
  return [CORE, ...groups.flatMap(versionsOf)]
}

async function someGroups(read: Read, groups: readonly string[]): Promise<readonly GroupVersion[]> {
  const found = await Promise.all(
    groups.map(async (group): Promise<readonly GroupVersion[]> => {
      if (group === '') return [CORE]
      try {
        return versionsOf(await read<APIGroup>(`/apis/${group}`))
      } catch (error) {
        // In plain text, of a group that no server has.
        if (error instanceof StatusError && error.code === 404) return []
        throw error
      }
    }),
  )
  return found.flat()
}

/** The preferred one first. */
function versionsOf({ name: group, preferredVersion, versions }: APIGroup): readonly GroupVersion[] {
  const others = versions.filter(({ version }) => version !== preferredVersion?.version)
  return [...(preferredVersion === undefined ? [] : [preferredVersion]), ...others].map(({ version }) => ({
    group,
    version,
  }))
}

/**
 * A word that changes with what is served (the ETags of aggregated discovery), in two requests that have no body when it is
 * still `last`; undefined where the server gives none.
 */
export async function discoveryTag(requester: Requester, last?: string): Promise<string | undefined> {
  const before = last?.split(' ') ?? []
  const tagOf = async (path: string, known: string | undefined): Promise<string | undefined> => {
    const headers = { accept: AGGREGATED_ACCEPT, ...(known === undefined ? {} : { 'if-none-match': known }) }
    const answer = await requester.request({ method: 'GET', path, headers }).catch(() => undefined)
    const tag = answer?.status === 304 ? known : answer !== undefined && 'headers' in answer && answer.headers?.['etag']
    return typeof tag === 'string' && tag !== '' ? tag : undefined
  }
  const [core, groups] = await Promise.all([tagOf('/api', before[0]), tagOf('/apis', before[1])])
  return core === undefined || groups === undefined ? undefined : `${core} ${groups}`
}

/** The resource that serves just this `apiVersion` and `kind`, or undefined. */
export function findByKind(
  everyVersion: readonly DiscoveredResource[],
  apiVersion: string,
  kind: string,
): DiscoveredResource | undefined {
  const { group, version } = parseApiVersion(apiVersion)
  return everyVersion.find(
    (resource) => resource.kind === kind && resource.group === group && resource.version === version,
  )
}
