/** What a program calls the client of a built-in resource: `client.apps.deployments`, `client.core.configMaps`. */
import type { ResourceRow } from '../api/scheme/resource.ts'

/** The first word of a group's name. resource.k8s.io is `resources`: `client.resource` is any resource's. */
export function groupName(group: string): string {
  const [first = ''] = group.split('.')
  if (first === '') return 'core'
  return first === 'resource' ? 'resources' : first
}

/** The plural, in the spelling of the kind: configMaps, networkPolicies, apiServices. */
export function clientMethodName({ kind, resource }: Pick<ResourceRow, 'kind' | 'resource'>): string {
  let common = 0
  while (common < kind.length && kind[common]?.toLowerCase() === resource[common]) common++
  const spelled = kind.slice(0, common) + resource.slice(common)
  // Of a word in capitals all but the last, which begins the next word: CSIDriver, IPAddress.
  const capitals = /^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/.exec(spelled)?.[0] ?? ''
  return capitals.toLowerCase() + spelled.slice(capitals.length)
}
