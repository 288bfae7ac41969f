/** Quality of service: which pods go first when a node runs short. */
import type { Fields } from '../object.ts'
import { compareQuantities, nanosOf } from './quantity.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

/**
 * Guaranteed when every container (or the pod as a whole, when it says so itself) has cpu and memory limits that equal
 * its requests; BestEffort when nothing is requested or limited; Burstable otherwise. Takes a PodSpec.
 */
export function qosClass(spec: Fields): QosClass {
  const whole: Fields | undefined = spec['resources']
  if (whole && (hasAny(whole['requests']) || hasAny(whole['limits']))) return classOf([whole])
  return classOf(
    [...(spec['containers'] ?? []), ...(spec['initContainers'] ?? [])].map((c: Fields) => c['resources'] ?? {}),
  )
}

const hasAny = (list: Fields | undefined): boolean =>
  list !== undefined && list !== null && Object.keys(list).length > 0

function classOf(all: readonly Fields[]): QosClass {
  let bestEffort = true
  let guaranteed = all.length > 0
  for (const { requests = {}, limits = {} } of all) {
    for (const name of ['cpu', 'memory']) {
      const request = positive(requests?.[name])
      const limit = positive(limits?.[name])
      if (request !== undefined || limit !== undefined) bestEffort = false
      if (limit === undefined || (request !== undefined && compareQuantities(request, limit) !== 0)) guaranteed = false
    }
  }
  return bestEffort ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable'
}

function positive(amount: string | undefined): string | undefined {
  return amount !== undefined && nanosOf(amount) > 0n ? amount : undefined
}
