/** What a pod as a whole asks for and is limited to: init containers before, sidecars beside, overhead on top. */
import type { Container, PodSpec } from '../generated/types.ts'
import { isHugePageResource } from '../names/resource-names.ts'
import { addQuantities, compareQuantities } from '../values/quantity.ts'

export type ResourceList = Readonly<Record<string, string>>

type Sums = Map<string, string>

function add(into: Sums, list: ResourceList | undefined): void {
  for (const [name, amount] of Object.entries(list ?? {}))
    into.set(name, into.has(name) ? addQuantities(into.get(name)!, amount) : amount)
}

function atLeast(into: Sums, list: Sums): void {
  for (const [name, amount] of list)
    if (!into.has(name) || compareQuantities(into.get(name)!, amount) < 0) into.set(name, amount)
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

/**
 * The pod's need by one side of its containers' resources: the sum of the containers and sidecars, or what the greediest
 * init container needs together with the sidecars started before it, whichever is more. (KEP-753)
 */
function aggregate(spec: Partial<PodSpec>, side: 'requests' | 'limits'): Sums {
  const total: Sums = new Map()
  for (const container of spec.containers ?? []) add(total, container.resources?.[side])
  const sidecars: Sums = new Map()
  const starting: Sums = new Map()
  for (const container of spec.initContainers ?? []) {
    const list = container.resources?.[side]
    if (isSidecar(container)) {
      add(total, list)
      add(sidecars, list)
      atLeast(starting, sidecars)
    } else {
      const now: Sums = new Map(sidecars)
      add(now, list)
      atLeast(starting, now)
    }
  }
  atLeast(total, starting)
  return total
}

function ofPod(spec: Partial<PodSpec>, side: 'requests' | 'limits'): ResourceList {
  const total = aggregate(spec, side)
  const own: ResourceList = spec.resources?.[side] ?? {}
  for (const [name, amount] of Object.entries(own))
    if (name === 'cpu' || name === 'memory' || isHugePageResource(name)) total.set(name, amount)
  for (const [name, amount] of Object.entries(spec.overhead ?? {}))
    if (side === 'requests' || total.has(name))
      total.set(name, total.has(name) ? addQuantities(total.get(name)!, amount) : amount)
  return Object.fromEntries(total)
}

/** By resource name, as quantities. Takes a PodSpec. */
export const podRequests = (spec: Partial<PodSpec>): ResourceList => ofPod(spec, 'requests')

export const podLimits = (spec: Partial<PodSpec>): ResourceList => ofPod(spec, 'limits')

/** All that runs in the pod is held to an amount of this resource, and so the pod is. */
export const isPodLimited = (spec: Partial<PodSpec>, name: string): boolean =>
  spec.resources?.limits?.[name] !== undefined ||
  [...(spec.containers ?? []), ...(spec.initContainers ?? [])].every(
    ({ resources }) => resources?.limits?.[name] !== undefined,
  )
