/** How early the alternatives are that a pod's requests get on a node (KEP-4816). */
import type { DevicePlan } from './device-binder.ts'

/** A request has no more alternatives than this. */
const MOST_ALTERNATIVES = 8

/** The higher the better; 0 where no request has alternatives. */
export function preferenceOf({ entries }: DevicePlan): number {
  let sum = 0
  for (const { claim, allocation } of entries) {
    const results = (allocation ?? claim.status?.allocation)?.devices?.results ?? []
    const chosen = new Set(results.map(({ request }) => request))
    for (const { name, firstAvailable = [] } of claim.spec?.devices?.requests ?? []) {
      const at = firstAvailable.findIndex((sub) => chosen.has(`${name}/${sub.name}`))
      if (at >= 0) sum += MOST_ALTERNATIVES - at
    }
  }
  return sum
}
