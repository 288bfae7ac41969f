/**
 * The status a pod deserves, from its spec, what the runtime says, what probes found and why starts failed: container
 * statuses, phase, conditions. Pure functions; times come in as text.
 */
import type { ContainerStatus, PodCondition, PodStatus, ResourceRequirements } from '../api/generated/types.ts'
import { podLimits, podRequests, type ResourceList } from '../api/objects/pod-requests.ts'
import { qosClass } from '../api/objects/qos.ts'
import { formatTime } from '../base/clock.ts'
import {
  type Container,
  couldRestartAll,
  ephemeralContainersOf,
  initContainersOf,
  initRestartsAfter,
  isSidecar,
  type Pod,
  restartsAfter,
  runtimeIdOf,
  specOf,
  uidOf,
} from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import {
  allContainersRestarting,
  containersReady,
  disrupted,
  initialized,
  podReady,
  readyToStart,
  scheduled,
} from './pod-conditions.ts'
import { containerPhase } from './pod-phase.ts'
import { BEGINNING_ANEW, isRestartingAll } from './restart-all.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'

/** Why a container could not be started, as its waiting state tells it. */
export interface StartFailure {
  readonly reason: string
  readonly message: string
}

export interface StatusSources {
  /** `containerd`, `simulated`: the scheme of container ids. */
  readonly runtimeName: string
  /** The node's own, the first of which is where it is reached. */
  readonly hostIPs: readonly string[]
  /** Mounts can be read-only with all that is mounted below them. */
  mountsRecursivelyReadOnly(pod: Pod): boolean
  /** Pods have control groups of their own. */
  readonly limitsPods?: boolean
  /** Of a container that is not running because of it. */
  startFailure(uid: string, container: string): StartFailure | undefined
  /** The pod with the resources that it and its containers are held to. Default: those of its spec. */
  held?(pod: Pod, status: RuntimePodStatus): Pod
  /** What the readiness probe last found; true without one. */
  ready(containerId: string, container: Container): boolean
  /** What the startup probe last found; true without one. */
  started(containerId: string, container: Container): boolean
  /** What a container is held to. */
  resources(container: Container, status: RuntimeContainerStatus): ResourceRequirements
  /** Of devices that plugins gave the container. Undefined: it has none. */
  readonly deviceHealth?: (uid: string, container: string) => ContainerStatus['allocatedResourcesStatus']
  /** The pod's containers were just taken away to begin anew. */
  readonly isBeginningAnew?: (uid: string) => boolean
  /** Of a resize that waits or is under way. */
  resizeConditions(pod: Pod, runtime: RuntimePodStatus): readonly PodCondition[]
}

export interface Failure {
  readonly reason: string
  readonly message: string
  /** What its condition DisruptionTarget says, where the kubelet ended it for the node's sake (KEP-3329). */
  readonly disruption?: string
}

export interface StatusSituation {
  readonly now: number
  /** The pod has ended and is not started again, whatever its restart policy. */
  readonly terminal: boolean
  /** The last status told, or the object's. */
  readonly old: PodStatus
  /** Its deadline has passed: it has failed, whatever its containers did. */
  readonly late?: Failure | undefined
  /** The node has ended it: it has failed, unless its containers have all ended well. */
  readonly evicted?: Failure | undefined
}

const CREATING = 'ContainerCreating'
export const INITIALIZING = 'PodInitializing'

/** The API's form of a pod's status; conditions have no transition times yet (the status manager knows them). */
export function podStatusOf(
  pod: Pod,
  runtime: RuntimePodStatus,
  sources: StatusSources,
  { now, terminal, old, late, evicted }: StatusSituation,
): PodStatus {
  const spec = specOf(pod)
  const inits = initContainersOf(pod)
  const ephemerals = ephemeralContainersOf(pod)
  const most = Math.floor(MOST_MESSAGE_BYTES / (spec.containers.length + inits.length + ephemerals.length))
  const containerStatuses = spec.containers.map((container) => ({
    ...withShortMessages(containerStatusOf(pod, container, runtime, sources, false, old.containerStatuses), most),
    ...devicesOf(pod, container, sources, old.containerStatuses),
  }))
  const initContainerStatuses = inits.map((container) =>
    withShortMessages(containerStatusOf(pod, container, runtime, sources, true, old.initContainerStatuses), most),
  )
  const ephemeralContainerStatuses = ephemerals.map((container) => {
    const status = containerStatusOf(pod, container, runtime, sources, false, old.ephemeralContainerStatuses)
    const { started: _, ...rest } = withShortMessages(status, most)
    // Nothing waits for it.
    return { ...rest, ready: false }
  })
  const own = keptPhase(containerPhase(pod, containerStatuses, initContainerStatuses, terminal), old, pod)
  const failure = late ?? (own === 'Succeeded' ? undefined : evicted)
  const phase = failure === undefined ? own : 'Failed'
  const { reason, message } =
    failure ?? (isEnded(phase) ? (old.phase === phase ? old : (pod.status ?? old)) : noOutcome)
  const generation = pod.metadata.generation
  const all: ConditionInput = { pod, phase, containerStatuses, initContainerStatuses, generation, old }
  const ready = containersReady(all)
  const ips = runtime.ips.length > 0 ? runtime.ips : (old.podIPs ?? []).map(({ ip }) => ip)
  const podIPs = spec.hostNetwork === true && runtime.sandboxes.length > 0 ? sources.hostIPs : ips
  const requests = allocated(podRequests(spec))
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions: [
      ...(evicted?.disruption === undefined ? [] : [disrupted(all, evicted.disruption)]),
      ...sources.resizeConditions(pod, runtime),
      readyToStart(all, runtime),
      initialized(all),
      podReady(all, ready),
      ready,
      scheduled(all),
      ...(couldRestartAll(pod) ? [allContainersRestarting(all, isRestartingAll(pod, runtime))] : []),
    ],
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    hostIP: sources.hostIPs[0] ?? '',
    hostIPs: sources.hostIPs.map((ip) => ({ ip })),
    ...(podIPs.length === 0 ? {} : { podIP: podIPs[0]!, podIPs: podIPs.map((ip) => ({ ip })) }),
    startTime: old.startTime ?? formatTime(now),
    ...(inits.length === 0 ? {} : { initContainerStatuses }),
    containerStatuses: inOrderOfNames(containerStatuses),
    ...(ephemeralContainerStatuses.length === 0
      ? {}
      : { ephemeralContainerStatuses: inOrderOfNames(ephemeralContainerStatuses) }),
    qosClass: old.qosClass ?? qosClass(spec),
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    resources: sources.limitsPods === true ? podResources(sources.held?.(pod, runtime) ?? pod) : (spec.resources ?? {}),
  }
}

/** Of the messages that all of a pod's containers left when they ended; each may have an equal part. */
const MOST_MESSAGE_BYTES = 12 * 1024

function withShortMessages(status: ContainerStatus, mostBytes: number): ContainerStatus {
  const shortened = (state: ContainerStatus['state']): ContainerStatus['state'] => {
    const { terminated } = state ?? {}
    if (terminated?.message === undefined || Buffer.byteLength(terminated.message) <= mostBytes) return state
    return { terminated: { ...terminated, message: Buffer.from(terminated.message).toString('utf8', 0, mostBytes) } }
  }
  const [state, lastState] = [shortened(status.state), shortened(status.lastState)]
  if (state === status.state && lastState === status.lastState) return status
  return { ...status, ...(state && { state }), ...(lastState && { lastState }) }
}

const inOrderOfNames = (statuses: readonly ContainerStatus[]): ContainerStatus[] =>
  [...statuses].sort((one, other) => (one.name < other.name ? -1 : 1))

/** What a container had stays in the status of a pod that has ended. */
function devicesOf(
  pod: Pod,
  { name }: Container,
  sources: StatusSources,
  old: readonly ContainerStatus[] = [],
): Pick<ContainerStatus, 'allocatedResourcesStatus'> {
  const before = old.find((status) => status.name === name)?.allocatedResourcesStatus
  const allocatedResourcesStatus = sources.deviceHealth?.(uidOf(pod), name) ?? before
  return allocatedResourcesStatus === undefined ? {} : { allocatedResourcesStatus }
}

/** What the pod as a whole is held to, by the resources that it and its containers have; told even where one of these has no limit. */
function podResources(pod: Pod): NonNullable<PodStatus['resources']> {
  const [requests, limits] = [podRequests(specOf(pod)), podLimits(specOf(pod))]
  const isSome = (list: ResourceList | undefined): list is ResourceList => Object.keys(list ?? {}).length > 0
  return { ...(isSome(limits) ? { limits } : {}), ...(isSome(requests) ? { requests } : {}) }
}

export interface ConditionInput {
  readonly pod: Pod
  readonly phase: string
  readonly containerStatuses: readonly ContainerStatus[]
  readonly initContainerStatuses: readonly ContainerStatus[]
  readonly generation: number | undefined
  readonly old: PodStatus
}

export type Condition = PodCondition

const noOutcome: { readonly reason?: string; readonly message?: string } = {}
const isEnded = (phase: string | undefined) => phase === 'Succeeded' || phase === 'Failed'

/** An ended pod stays ended. */
function keptPhase(phase: string, old: PodStatus, pod: Pod): string {
  if (isEnded(phase)) return phase
  for (const earlier of [old.phase, pod.status?.phase]) if (earlier !== undefined && isEnded(earlier)) return earlier
  return phase
}

function allocated(requests: ResourceList): ResourceList | undefined {
  return Object.keys(requests).length === 0 ? undefined : requests
}

function containerStatusOf(
  pod: Pod,
  container: Container,
  runtime: RuntimePodStatus,
  sources: StatusSources,
  isInit: boolean,
  oldStatuses: readonly ContainerStatus[] | undefined,
): ContainerStatus {
  const own = runtime.containers.filter((status) => status.metadata.name === container.name)
  const latest = own[0]
  const old = oldStatuses?.find((status) => status.name === container.name)
  if (latest === undefined) return neverSeen(pod, container, old, sources)

  const previous = own.slice(1).find((status) => status.state === 'exited')
  let state = stateOf(latest, sources)
  // What was before it stays in the status when the runtime has it no longer.
  const beganAnew =
    old?.lastState?.terminated?.reason === BEGINNING_ANEW.reason && old.restartCount === latest.metadata.attempt
  const isTold = beganAnew || (old !== undefined && runtimeIdOf(old.containerID) === latest.id)
  const told = isTold ? old?.lastState : lastBefore(old)
  let lastState: ContainerStatus['lastState'] = previous === undefined ? (told ?? {}) : stateOf(previous, sources)
  if (latest.state === 'exited' && restarts(pod, container, latest, isInit)) {
    const failure = sources.startFailure(uidOf(pod), container.name)
    if (failure !== undefined) {
      lastState = state
      state = { waiting: failure }
    }
  }
  const running = latest.state === 'running'
  const started = running && sources.started(latest.id, container)
  const ready =
    isInit && !isSidecar(container)
      ? latest.state === 'exited' && latest.exitCode === 0
      : running && started && latest.ready !== false && sources.ready(latest.id, container)
  return {
    name: container.name,
    state,
    lastState,
    ready,
    restartCount: latest.metadata.attempt,
    image: latest.image,
    imageID: latest.imageId,
    containerID: `${sources.runtimeName}://${latest.id}`,
    started,
    ...resourcesOf(pod, container, running ? sources.resources(container, latest) : undefined),
    ...mountsOf(pod, container, sources),
    ...userOf(latest),
  }
}

/** What was told of another container that was there before: how it ended, or, where it was not begun any more, what was before it. */
function lastBefore(old: ContainerStatus | undefined): ContainerStatus['lastState'] {
  if (old?.state?.terminated !== undefined) return { terminated: old.state.terminated }
  return old?.state?.waiting === undefined ? undefined : old.lastState
}

/** No container of that name is known to the runtime: it has not been made yet, or the runtime has lost it. */
function neverSeen(
  pod: Pod,
  container: Container,
  old: ContainerStatus | undefined,
  sources: StatusSources,
): ContainerStatus {
  // A pod that is deleted does not try again.
  const failure = isDeleted(pod) ? undefined : sources.startFailure(uidOf(pod), container.name)
  const reason = initContainersOf(pod).length > 0 ? INITIALIZING : CREATING
  const base: ContainerStatus = {
    name: container.name,
    state: { waiting: failure ?? { reason } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
    started: false,
    ...mountsOf(pod, container, sources),
  }
  if (old === undefined) return base
  const hasRun = old.state?.running !== undefined || old.state?.terminated !== undefined
  if (hasRun && sources.isBeginningAnew?.(uidOf(pod)) === true)
    return {
      ...old,
      ready: false,
      started: false,
      state: { waiting: BEGINNING_ANEW },
      restartCount: old.restartCount + 1,
      lastState: { terminated: { exitCode: 137, ...BEGINNING_ANEW } },
    }
  if (old.state?.terminated !== undefined) return old
  if (old.state?.running === undefined) {
    return { ...base, restartCount: old.restartCount, lastState: old.lastState ?? {} }
  }
  return { ...base, restartCount: old.restartCount + 1, lastState: { terminated: LOST } }
}

const LOST = {
  exitCode: 137,
  message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  reason: 'ContainerStatusUnknown',
}

const isDeleted = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function restarts(pod: Pod, container: Container, status: RuntimeContainerStatus, isInit: boolean): boolean {
  if (isDeleted(pod)) return false
  // Of a sidecar that ended well it is not told either that it waits for its next start.
  return isInit ? initRestartsAfter(container, pod, status.exitCode) : restartsAfter(container, pod, status.exitCode)
}

function stateOf(status: RuntimeContainerStatus, sources: StatusSources): NonNullable<ContainerStatus['state']> {
  switch (status.state) {
    case 'running':
      return { running: { startedAt: formatTime(status.startedAt) } }
    case 'created':
      return { waiting: { reason: CREATING } }
    default:
      return {
        terminated: {
          containerID: `${sources.runtimeName}://${status.id}`,
          exitCode: status.exitCode,
          finishedAt: formatTime(status.finishedAt),
          ...(status.message === '' ? {} : { message: status.message }),
          reason: status.reason,
          startedAt: formatTime(status.startedAt),
        },
      }
  }
}

/** What it is given, and what it is held to until that has been done. */
function resourcesOf(
  pod: Pod,
  { resources = {} }: Container,
  held: ResourceRequirements = resources,
): Partial<ContainerStatus> {
  const { requests } = resources
  return {
    ...(requests === undefined || Object.keys(requests).length === 0 ? {} : { allocatedResources: requests }),
    resources: held.limits === undefined ? held : { ...held, limits: { ...limitedByPod(pod), ...held.limits } },
  }
}

/** What a container is limited to that has no such limit of its own. */
function limitedByPod(pod: Pod): ResourceList {
  const { cpu, memory } = specOf(pod).resources?.limits ?? {}
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
}

function mountsOf(pod: Pod, { volumeMounts = [] }: Container, sources: StatusSources): Partial<ContainerStatus> {
  if (volumeMounts.length === 0) return {}
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      mountPath,
      name,
      ...(readOnly === true
        ? {
            readOnly: true,
            recursiveReadOnly:
              (recursiveReadOnly ?? 'Disabled') !== 'Disabled' && sources.mountsRecursivelyReadOnly(pod)
                ? 'Enabled'
                : 'Disabled',
          }
        : {}),
    })),
  }
}

function userOf({ user }: RuntimeContainerStatus): Partial<ContainerStatus> {
  if (user === undefined) return {}
  return { user: { linux: { gid: user.gid, supplementalGroups: [...user.supplementalGroups], uid: user.uid } } }
}
