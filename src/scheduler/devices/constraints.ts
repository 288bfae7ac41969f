/** What a claim demands of its devices together: one value of an attribute for all, or another for each. */
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'
import type { PoolDevice } from './pools.ts'

export interface Constraints {
  /** Whether the device may join what has been chosen so far for these requests; then it has. */
  add(request: string, device: PoolDevice): boolean
  remove(request: string, device: PoolDevice): void
}

export function createConstraints(claim: ResourceClaim): Constraints {
  const list = (claim.spec?.devices?.constraints ?? []).map((constraint) => ({
    requests: constraint.requests ?? [],
    name: constraint.matchAttribute ?? constraint.distinctAttribute ?? '',
    isDistinct: constraint.matchAttribute === undefined,
    seen: [] as string[],
  }))
  const isAbout = ({ requests }: { readonly requests: readonly string[] }, request: string) =>
    requests.length === 0 || requests.includes(request) || requests.includes(request.split('/')[0] ?? '')
  return {
    add(request, device) {
      const about = list.filter((constraint) => isAbout(constraint, request))
      const values = about.map(({ name }) => attributeOf(device, name))
      const allowed = about.every(({ isDistinct, seen }, at) => {
        const value = values[at]
        if (value === undefined) return false
        return isDistinct ? !seen.includes(value) : seen.every((other) => other === value)
      })
      if (allowed) for (const [at, { seen }] of about.entries()) seen.push(values[at] as string)
      return allowed
    },
    remove(request) {
      for (const constraint of list) if (isAbout(constraint, request)) constraint.seen.pop()
    },
  }
}

/** With its type, as text; a name without a domain is in the driver's. */
function attributeOf({ driver, device }: PoolDevice, name: string): string | undefined {
  const attributes = device.attributes ?? {}
  const [domain, bare = ''] = name.split('/')
  const attribute = attributes[name] ?? (domain === driver ? attributes[bare] : undefined)
  return attribute === undefined ? undefined : JSON.stringify(attribute)
}
