/** Kinds that owners and scale targets name, as discovery tells them to controllers that scale or count what is behind a scale subresource. */
import { apiVersionOf } from '../api/object.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client, DiscoveredResource, Discovery } from '../client/client.ts'

/** A kind that was not found may come: discovery is asked again, but not for each. */
const DISCOVERY_MS = 30_000

export interface KnownKinds {
  /** What `pick` finds in what was discovered last, or in what is discovered now when that is 30 seconds old. */
  find(pick: (discovery: Discovery) => DiscoveredResource | undefined): Promise<DiscoveredResource | undefined>
}

export function createKnownKinds({ clock }: Pick<Runtime, 'clock'>, client: Pick<Client, 'discover'>): KnownKinds {
  let last: { readonly found: Discovery; readonly at: number } | undefined
  return {
    async find(pick) {
      const now = clock.monotonic()
      const known = last === undefined ? undefined : pick(last.found)
      if (known !== undefined || (last !== undefined && now - last.at < DISCOVERY_MS)) return known
      last = { found: await client.discover(), at: now }
      return pick(last.found)
    },
  }
}

export function scalePath(
  { group, version, resource, namespaced }: DiscoveredResource,
  namespace: string,
  name: string,
): string {
  const base = `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`
  return `${base}${namespaced ? `/namespaces/${namespace}` : ''}/${resource}/${name}/scale`
}
