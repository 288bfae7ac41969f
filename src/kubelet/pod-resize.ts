/**
 * In-place resize (KEP-1287): a pod is given the CPU and memory it asks for when it begins; when its spec asks for other amounts later it
 * is given those as soon as the node has them, and its containers are then held to them: running ones by the runtime, or by a restart
 * where their resize policy wants one. The kubelet works on the pod as it was given resources, not as its spec asks.
 */
import type { PodCondition, ResourceRequirements } from '../api/generated/types.ts'
import { qosClass } from '../api/objects/qos.ts'
import { sameJson } from '../api/same.ts'
import { compareQuantities } from '../api/values/quantity.ts'
import { type Container, initContainersOf, isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import { type AdmissionRefusal, type Allocations, resizeRefusal } from './pod-admission.ts'
import { latestContainer, type RuntimePodStatus } from './pod-cache.ts'
import type { ResizeTold } from './pod-resize-events.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'
import type { StaticPolicies } from './topology-manager/resource-managers.ts'

/** On a container: the resources it began with, as JSON. */
export const RESOURCES_LABEL = 'skiff.dev/container-resources'

export interface PodResizes {
  /** The pod with what it is given of what it asks for. To be called with each new form of the object, and when the node has more. */
  accept(pod: Pod): Pod
  /** Those that wait for the node to have more. */
  waiting(): readonly string[]
  /** What the container is held to. */
  resources(container: Container, status: RuntimeContainerStatus): ResourceRequirements
  /** What has to be done for a running container to be held to what it is given. */
  due(container: Container, status: RuntimeContainerStatus): 'update' | 'restart' | undefined
  /** What the pod as a whole is held to, where that is not what it is given now. */
  podDue(pod: Pod): { readonly held: ResourceRequirements } | undefined
  podDone(pod: Pod): void
  /** The pod as its containers, and itself as a whole, are held to resources. */
  held(pod: Pod, status: RuntimePodStatus): Pod
  /** It cannot be done now, for this reason. */
  failed(pod: Pod, problem: string): void
  done(uid: string, containerId: string, resources: ResourceRequirements): void
  /** Tells once that all containers are held to what the pod was given last. */
  tellCompleted(pod: Pod, status: RuntimePodStatus): void
  conditions(pod: Pod, status: RuntimePodStatus): readonly PodCondition[]
  forget(uid: string): void
}

/** A container is to have another amount than before: `resource` cpu or memory, of its `requirement` limits or requests. */
export type ResizeRequested = (
  resource: string,
  requirement: 'limits' | 'requests',
  operation: 'add' | 'remove' | 'increase' | 'decrease',
) => void

interface Given {
  readonly containers: ReadonlyMap<string, ResourceRequirements>
  readonly pod: ResourceRequirements | undefined
}

interface Entry {
  /** By the object that was seen last. */
  asked: Given
  given: Given
  /** What the pod as a whole is held to. */
  heldPod: ResourceRequirements
  refusal: AdmissionRefusal | undefined
  /** That a resize has begun was told, and not yet that it is done. */
  told: boolean
  /** Why it could not be done when that was tried last. */
  problem?: string | undefined
  /** Ids of containers whose resources were changed while they ran. */
  readonly changed: Set<string>
}

const NOTHING: ResourceRequirements = {}

export function createPodResizes(
  allocations: Allocations,
  allocatable: Readonly<Record<string, string>>,
  tell?: ResizeTold,
  policies?: StaticPolicies,
  requested: ResizeRequested = () => {},
): PodResizes {
  const entries = new Map<string, Entry>()
  /** Those whose resize is deferred: asked for with each pod that ends, of which a node may have very many. */
  const deferred = new Set<string>()
  /** By container id. */
  const changed = new Map<string, ResourceRequirements>()

  /** What an earlier process had given, where the spec asks for more by now. */
  function begin(pod: Pod): Entry {
    const isWaiting = pod.status?.conditions?.some(({ type }) => type === 'PodResizePending') === true
    const asked = askedOf(pod)
    const entry: Entry = {
      asked,
      given: isWaiting ? toldOf(pod) : asked,
      heldPod: toldOfPod(pod),
      refusal: undefined,
      told: false,
      changed: new Set(),
    }
    entries.set(uidOf(pod), entry)
    return entry
  }

  function refuse(uid: string, entry: Entry, refusal: AdmissionRefusal | undefined): void {
    entry.refusal = refusal
    if (refusal?.reason === 'Deferred') deferred.add(uid)
    else deferred.delete(uid)
  }

  function resources(container: Container, status: RuntimeContainerStatus): ResourceRequirements {
    const known = changed.get(status.id)
    if (known !== undefined) return known
    const label = status.labels[RESOURCES_LABEL]
    return label === undefined ? (container.resources ?? NOTHING) : (JSON.parse(label) as ResourceRequirements)
  }

  function due(container: Container, status: RuntimeContainerStatus): 'update' | 'restart' | undefined {
    if (status.state !== 'running') return undefined
    const has = resources(container, status)
    const differing = ['cpu', 'memory'].filter((name) => !sameAmounts(has, container.resources ?? NOTHING, name))
    if (differing.length === 0) return undefined
    const restarts = (container.resizePolicy ?? []).some(
      ({ resourceName, restartPolicy }) => restartPolicy === 'RestartContainer' && differing.includes(resourceName),
    )
    return restarts ? 'restart' : 'update'
  }

  function podDue(pod: Pod): { readonly held: ResourceRequirements } | undefined {
    const held = entries.get(uidOf(pod))?.heldPod
    return held === undefined || sameJson(held, specOf(pod).resources ?? NOTHING) ? undefined : { held }
  }

  const isUnderWay = (pod: Pod, status: RuntimePodStatus): boolean =>
    podDue(pod) !== undefined ||
    resizable(pod).some((container) => {
      const latest = latestContainer(status, container.name)
      return latest !== undefined && due(container, latest) !== undefined
    })

  return {
    accept(pod) {
      const uid = uidOf(pod)
      const entry = entries.get(uid) ?? begin(pod)
      const asked = askedOf(pod)
      if (!sameGiven(entry.asked, asked)) tellRequested(entry.asked, asked, requested)
      entry.asked = asked
      if (sameGiven(entry.given, asked)) {
        refuse(uid, entry, undefined)
        return pod
      }
      const counted = allocations.has(uid)
      if (counted) allocations.remove(uid)
      const before = entry.refusal
      const refusal = isTerminalPhase(pod.status?.phase)
        ? undefined
        : (pinnedRefusal(pod, entry.given, policies) ?? resizeRefusal(pod, allocatable, allocations))
      refuse(uid, entry, refusal)
      if (entry.refusal === undefined) {
        entry.given = asked
        entry.told = true
        entry.problem = undefined
        tell?.started(pod)
      } else if (before === undefined) tell?.waits(pod, entry.refusal)
      const given = entry.refusal === undefined ? pod : withGiven(pod, entry.given)
      if (counted) allocations.add(given)
      return given
    },
    waiting: () => [...deferred],
    resources,
    due,
    podDue,
    podDone(pod) {
      const entry = entries.get(uidOf(pod))
      if (entry === undefined) return
      entry.problem = undefined
      entry.heldPod = specOf(pod).resources ?? NOTHING
    },
    held(pod, status) {
      const { heldPod } = entries.get(uidOf(pod)) ?? {}
      const containers = new Map<string, ResourceRequirements>()
      for (const container of resizable(pod)) {
        const latest = latestContainer(status, container.name)
        if (latest?.state === 'running') containers.set(container.name, resources(container, latest))
      }
      return withGiven(pod, { containers, pod: heldPod })
    },
    failed(pod, problem) {
      const entry = entries.get(uidOf(pod)) ?? begin(pod)
      entry.problem = problem
      tell?.failed(pod, problem)
    },
    done(uid, containerId, amounts) {
      const entry = entries.get(uid)
      if (entry !== undefined) entry.problem = undefined
      entry?.changed.add(containerId)
      changed.set(containerId, amounts)
    },
    tellCompleted(pod, status) {
      const entry = entries.get(uidOf(pod))
      if (entry?.told !== true || isUnderWay(pod, status)) return
      entry.told = false
      tell?.completed(pod)
    },
    conditions(pod, status) {
      const { generation } = pod.metadata
      const base = { ...(generation === undefined ? {} : { observedGeneration: generation }), status: 'True' }
      const { refusal, problem } = entries.get(uidOf(pod)) ?? {}
      const why = problem === undefined ? {} : { reason: 'Error', message: problem }
      return [
        ...(refusal === undefined
          ? []
          : [{ ...base, type: 'PodResizePending', reason: refusal.reason, message: refusal.message }]),
        ...(isUnderWay(pod, status) ? [{ ...base, type: 'PodResizeInProgress', ...why }] : []),
      ]
    },
    forget(uid) {
      for (const id of entries.get(uid)?.changed ?? []) changed.delete(id)
      entries.delete(uid)
      deferred.delete(uid)
    },
  }
}

/** Containers whose resources may change while they run. */
export const resizable = (pod: Pod): readonly Container[] => [...initContainersOf(pod), ...specOf(pod).containers]

const askedOf = (pod: Pod): Given => ({
  containers: new Map(resizable(pod).map(({ name, resources }) => [name, resources ?? NOTHING])),
  pod: specOf(pod).resources,
})

/** What a manager with a static policy has given to a Guaranteed pod stays as it is. */
function pinnedRefusal(pod: Pod, given: Given, policies: StaticPolicies | undefined): AdmissionRefusal | undefined {
  if (policies === undefined || qosClass(specOf(pod)) !== 'Guaranteed') return undefined
  const isOther = (name: string) =>
    resizable(pod).some((container) => {
      const had = given.containers.get(container.name)?.requests?.[name] ?? '0'
      return compareQuantities(had, container.resources?.requests?.[name] ?? '0') !== 0
    })
  const refused = (manager: string, policy: string): AdmissionRefusal => ({
    reason: 'Infeasible',
    message: `Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "${policy}"`,
  })
  if (policies.cpu === 'static' && isOther('cpu')) return refused('CPU', policies.cpu)
  if (policies.memory === 'Static' && isOther('memory')) return refused('Memory', policies.memory)
  return undefined
}

/** As the status tells what the containers have. */
function toldOf(pod: Pod): Given {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const told = new Map([...initContainerStatuses, ...containerStatuses].map(({ name, resources }) => [name, resources]))
  const asked = askedOf(pod)
  return {
    ...asked,
    containers: new Map([...asked.containers].map(([name, resources]) => [name, told.get(name) ?? resources])),
  }
}

/** What an earlier process held the pod as a whole to, by what its status tells. */
function toldOfPod(pod: Pod): ResourceRequirements {
  const asked = specOf(pod).resources ?? NOTHING
  const told = pod.status?.resources
  const of = (side: 'limits' | 'requests') => {
    const own = asked[side]
    if (own === undefined) return {}
    return { [side]: Object.fromEntries(Object.entries(own).map(([name, one]) => [name, told?.[side]?.[name] ?? one])) }
  }
  return { ...asked, ...of('limits'), ...of('requests') }
}

function withGiven(pod: Pod, { containers, pod: own }: Given): Pod {
  const spec = specOf(pod)
  const given = <T extends Container>(container: T): T => {
    const resources = containers.get(container.name)
    return resources === undefined ? container : { ...container, resources }
  }
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(given),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(given) }),
      ...(own === undefined ? {} : { resources: own }),
    },
  }
}

function sameGiven(one: Given, other: Given): boolean {
  if (one.pod !== other.pod && !sameJson(one.pod ?? null, other.pod ?? null)) return false
  for (const [name, resources] of other.containers) {
    const known = one.containers.get(name) ?? NOTHING
    if (known !== resources && !sameJson(known, resources)) return false
  }
  return true
}

function tellRequested(before: Given, now: Given, tell: ResizeRequested): void {
  for (const [name, resources] of now.containers)
    for (const requirement of ['limits', 'requests'] as const)
      for (const resource of ['cpu', 'memory']) {
        const had = before.containers.get(name)?.[requirement]?.[resource]
        const wants = resources[requirement]?.[resource]
        if (had === undefined && wants === undefined) continue
        if (had === undefined) tell(resource, requirement, 'add')
        else if (wants === undefined) tell(resource, requirement, 'remove')
        else {
          const difference = compareQuantities(wants, had)
          if (difference !== 0) tell(resource, requirement, difference > 0 ? 'increase' : 'decrease')
        }
      }
}

const sameAmounts = (one: ResourceRequirements, other: ResourceRequirements, name: string): boolean =>
  one.limits?.[name] === other.limits?.[name] && one.requests?.[name] === other.requests?.[name]
