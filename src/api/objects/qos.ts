/** Quality of service: which pods go first when a node runs short. */
import type { PodSpec, ResourceRequirements } from '../generated/types.ts'
import { compareQuantities, nanosOf } from '../values/quantity.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

/**
 * Guaranteed when every container (or the pod as a whole, when it says so itself) has cpu and memory limits that equal
 * its requests; BestEffort when nothing is requested or limited; Burstable otherwise. Takes a PodSpec.
 */
export function qosClass({ resources: whole, containers, initContainers }: Partial<PodSpec>): QosClass {
  if (whole && (hasAny(whole.requests) || hasAny(whole.limits))) return classOf([whole])
  // Not validated yet: a list that Go writes as null is null.
  return classOf([...(containers ?? []), ...(initContainers ?? [])].map(({ resources }) => resources ?? {}))
}

const hasAny = (list: ResourceRequirements['requests']): boolean =>
  list !== undefined && list !== null && Object.keys(list).length > 0

function classOf(all: readonly ResourceRequirements[]): QosClass {
  let bestEffort = true
  let guaranteed = all.length > 0
  for (const { requests = {}, limits = {} } of all) {
    for (const name of ['cpu', 'memory']) {
      const request = positive(requests?.[name])
      const limit = positive(limits?.[name])
      if (request !== undefined || limit !== undefined) bestEffort = false
      if (limit === undefined || (request !== undefined && compareQuantities(request, limit) !== 0)) guaranteed = false
      // A request of nothing is one, though it counts for nothing.
      if (request === undefined && requests?.[name] !== undefined) guaranteed = false
    }
  }
  return bestEffort ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable'
}

function positive(amount: string | undefined): string | undefined {
  return amount !== undefined && nanosOf(amount) > 0n ? amount : undefined
}
