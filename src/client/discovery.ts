/** Discovery: every resource served, in its group's preferred version. */
import { apiVersionOf, type Fields, parseApiVersion } from '../api/object.ts'
import type { DiscoveredResource, Discovery } from './client.ts'
import { responseObject } from './response.ts'
import type { Requester } from './transport.ts'

/**
 * A resource that the preferred version of its group lacks is given in the first version that has it. A group version
 * whose discovery fails (an aggregated API that is down) is named in `failed` as `group/version`; the others are given.
 * @throws StatusError when /api or /apis themselves cannot be read
 */
export async function discover(requester: Requester): Promise<Discovery> {
  const read = async (path: string): Promise<Fields> => responseObject(await requester.request({ method: 'GET', path }))
  const groups = (await read('/apis'))['groups'] as readonly Fields[]
  const versions: { group: string; version: string }[] = [{ group: '', version: 'v1' }]
  for (const group of groups) {
    const preferred: string = group['preferredVersion'].version
    versions.push({ group: group['name'], version: preferred })
    for (const { version } of group['versions']) {
      if (version !== preferred) versions.push({ group: group['name'], version })
    }
  }
  const failed: string[] = []
  const lists = await Promise.all(
    versions.map(async ({ group, version }): Promise<readonly Fields[]> => {
      try {
        return (await read(group === '' ? `/api/${version}` : `/apis/${group}/${version}`))['resources'] ?? []
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
      const resource: string = entry['name']
      if (resource.includes('/')) continue
      const found: DiscoveredResource = {
        group: entry['group'] ?? group,
        version: entry['version'] ?? version,
        resource,
        kind: entry['kind'],
        namespaced: entry['namespaced'],
        verbs: entry['verbs'] ?? [],
      }
      everyVersion.push(found)
      const key = `${resource}.${group}`
      if (!preferred.has(key)) preferred.set(key, found)
    }
  })
  return { resources: [...preferred.values()], everyVersion, failed }
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
