/** Requests of a pod as a whole (KEP-2837). */
import type { PodSpec } from '../generated/types.ts'
import { podRequests } from './pod-requests.ts'
import { isHugePageResource } from './resource-names.ts'

/**
 * A PodSpec whose own requests are completed: by the sum of its containers', or else by its own limits. The same spec when
 * the pod has no resources of its own or nothing is missing.
 */
export function withPodLevelRequests(spec: Partial<PodSpec>): Partial<PodSpec> {
  const { resources } = spec
  if (!resources?.limits && !resources?.requests) return spec
  const { resources: _, overhead: _o, ...others } = spec
  const requests: Record<string, string> = {}
  const own = resources.requests ?? {}
  for (const [name, amount] of Object.entries(podRequests(others)))
    if ((name === 'cpu' || name === 'memory') && !Object.hasOwn(own, name)) requests[name] = amount
  for (const [name, amount] of Object.entries(resources.limits ?? {}))
    if (
      (name === 'cpu' || name === 'memory' || isHugePageResource(name)) &&
      !Object.hasOwn(own, name) &&
      !Object.hasOwn(requests, name)
    )
      requests[name] = amount
  if (Object.keys(requests).length === 0) return spec
  return { ...spec, resources: { ...resources, requests: { ...own, ...requests } } }
}
