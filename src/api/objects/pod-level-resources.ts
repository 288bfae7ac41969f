/** Requests and limits of a pod as a whole (KEP-2837). */
import type { Container, PodSpec } from '../generated/types.ts'
import { isHugePageResource } from '../names/resource-names.ts'
import { compareQuantities } from '../values/quantity.ts'
import { podLimits, podRequests, type ResourceList } from './pod-requests.ts'

const isOfPods = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePageResource(name)

/**
 * A PodSpec whose own resources are completed. Limits, of what each of its containers is limited in: what these make together, or
 * the pod's own request where that is more. Requests: the sum of its containers', or else its own limits. The same spec when the
 * pod has no resources of its own or nothing is missing.
 */
export function withPodLevelDefaults(spec: Partial<PodSpec>): Partial<PodSpec> {
  const { resources } = spec
  if (isEmpty(resources?.limits) && isEmpty(resources?.requests)) return spec
  const { resources: _, overhead: _o, ...others } = spec
  const own = resources?.requests ?? {}
  const limits = { ...missingLimits(others, own, resources?.limits ?? {}), ...resources?.limits }
  const requests: Record<string, string> = {}
  for (const [name, amount] of Object.entries({ ...limits, ...podRequests(others) }))
    if (isOfPods(name) && !Object.hasOwn(own, name))
      // Of huge pages what is asked for is what there is at most.
      requests[name] = (isHugePageResource(name) ? limits[name] : undefined) ?? amount
  const isLimited = Object.keys(limits).length > Object.keys(resources?.limits ?? {}).length
  if (Object.keys(requests).length === 0 && !isLimited) return spec
  const { limits: _l, requests: _r, ...claims } = resources ?? {}
  const sorted = (list: ResourceList) =>
    Object.fromEntries(
      Object.keys(list)
        .sort()
        .map((name) => [name, list[name]!]),
    )
  return {
    ...spec,
    resources: {
      ...(resources?.limits || isLimited ? { limits: sorted(limits) } : {}),
      requests: sorted({ ...own, ...requests }),
      ...claims,
    },
  }
}

const isEmpty = (list: ResourceList | undefined): boolean => Object.keys(list ?? {}).length === 0

function missingLimits(spec: Partial<PodSpec>, requests: ResourceList, limits: ResourceList): ResourceList {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const isLimited = (name: string) => (container: Container) => container.resources?.limits?.[name] !== undefined
  const missing: Record<string, string> = {}
  for (const [name, amount] of Object.entries(podLimits(spec)))
    if (isOfPods(name) && !Object.hasOwn(limits, name) && containers.every(isLimited(name))) {
      const asked = requests[name]
      missing[name] = asked !== undefined && compareQuantities(asked, amount) > 0 ? asked : amount
    }
  return missing
}
