/** What a pod as a whole asks for and is limited to: init containers before, sidecars beside, overhead on top. */
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '../generated/types.ts'
import { isHugePageResource } from '../names/resource-names.ts'
import { sameJson } from '../same.ts'
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

type Side = 'requests' | 'limits'
type ListOf = (container: Container) => ResourceList | undefined

const ofSpec =
  (side: Side): ListOf =>
  ({ resources }) =>
    resources?.[side]

/**
 * The pod's need by one side of its containers' resources: the sum of the containers and sidecars, or what the greediest
 * init container needs together with the sidecars started before it, whichever is more. (KEP-753)
 */
function aggregate(spec: Partial<PodSpec>, listOf: ListOf): Sums {
  const total: Sums = new Map()
  for (const container of spec.containers ?? []) add(total, listOf(container))
  const sidecars: Sums = new Map()
  const starting: Sums = new Map()
  for (const container of spec.initContainers ?? []) {
    const list = listOf(container)
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

function ofPod(
  spec: Partial<PodSpec>,
  side: Side,
  total: Sums = aggregate(spec, ofSpec(side)),
  own: ResourceList = spec.resources?.[side] ?? {},
): ResourceList {
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

/**
 * What a pod takes of its node while its resources are being changed in place (KEP-1287, and KEP-5419 for those of the pod as a whole), by
 * resource name: the most of what it asks for, what its node has set aside for it and what its containers run with, each summed over the
 * whole pod. What its node cannot give it is not counted.
 */
export const takenRequests = ({ spec, status }: Pod): ResourceList =>
  taken(spec ?? {}, status, 'requests', tellingsOfRequests, ownTaken(spec ?? {}, status))

/** What a quota is charged: as what is taken, but that the pod as a whole has what its specification says. */
export const chargedRequests = ({ spec, status }: Pod): ResourceList =>
  taken(spec ?? {}, status, 'requests', tellingsOfRequests)

export const chargedLimits = ({ spec, status }: Pod): ResourceList =>
  taken(spec ?? {}, status, 'limits', [running('limits')])

/** Undefined: what the specification says. The node's word counts once it has told what the pod as a whole runs with. */
function ownTaken({ resources }: Partial<PodSpec>, status: PodStatus | undefined): ResourceList | undefined {
  const running = status?.resources
  if (running === undefined) return undefined
  const isInfeasible = isResizeInfeasible(status)
  if (!isInfeasible && (nonEmpty(resources?.requests) ?? nonEmpty(resources?.limits)) === undefined) return undefined
  const most: Sums = new Map()
  for (const list of [isInfeasible ? undefined : resources?.requests, status?.allocatedResources, running.requests])
    atLeast(most, new Map(Object.entries(list ?? {})))
  return Object.fromEntries(most)
}

/** All in a status by which a pod may take other amounts than its specification says; empty where it tells of none. */
export function toldOfTaken(status: PodStatus | undefined): readonly unknown[] {
  const told = toldOf(status).map(({ name, allocatedResources, resources }) => [
    name,
    allocatedResources,
    resources?.requests,
    resources?.limits,
  ])
  const whole = status?.resources
  if (whole !== undefined) told.push(['', status?.allocatedResources, whole.requests, undefined])
  return isResizeInfeasible(status) ? ['Infeasible', ...told] : told
}

/** The specifications may differ. */
export const tellSameTaken = (a: PodStatus | undefined, b: PodStatus | undefined): boolean =>
  a === b || sameJson(toldOfTaken(a), toldOfTaken(b))

type Told = (status: ContainerStatus) => ResourceList | undefined

const running =
  (side: Side): Told =>
  ({ resources }) =>
    resources?.[side]

const tellingsOfRequests: readonly Told[] = [({ allocatedResources }) => allocatedResources, running('requests')]

/** `tellings`: what of a container's status counts; the later where it says nothing means what the earlier does. `own`: the pod's as a whole, where not as specified. */
function taken(
  spec: Partial<PodSpec>,
  status: PodStatus | undefined,
  side: Side,
  tellings: readonly Told[],
  own?: ResourceList,
): ResourceList {
  const isInfeasible = isResizeInfeasible(status)
  const statuses = new Map(toldOf(status).map((one) => [one.name, one]))
  if (statuses.size === 0 && !isInfeasible) return ofPod(spec, side, undefined, own)
  let known: ListOf = isInfeasible ? () => undefined : ofSpec(side)
  const total = aggregate(spec, known)
  for (const told of tellings) {
    const otherwise = known
    known = (container) => {
      const one = statuses.get(container.name)
      return nonEmpty(one && told(one)) ?? otherwise(container)
    }
    atLeast(total, aggregate(spec, known))
  }
  return ofPod(spec, side, total, own)
}

const nonEmpty = (list: ResourceList | undefined): ResourceList | undefined =>
  list === undefined || Object.keys(list).length === 0 ? undefined : list

const toldOf = (status: PodStatus | undefined): readonly ContainerStatus[] =>
  [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].filter(
    ({ allocatedResources, resources }) =>
      nonEmpty(allocatedResources) ?? nonEmpty(resources?.requests) ?? nonEmpty(resources?.limits),
  )

const isResizeInfeasible = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true

/** All that runs in the pod is held to an amount of this resource, and so the pod is. */
export const isPodLimited = (spec: Partial<PodSpec>, name: string): boolean =>
  spec.resources?.limits?.[name] !== undefined ||
  [...(spec.containers ?? []), ...(spec.initContainers ?? [])].every(
    ({ resources }) => resources?.limits?.[name] !== undefined,
  )
