/**
 * StatusManager: holds the newest status of every pod, brings it to the API server by patches against what is known to be
 * there, and deletes a pod for good (grace period 0, its uid as precondition) once everything of it has ended.
 */
import type { ContainerStatus, PodCondition, PodStatus } from '../api/generated/types.ts'
import { sameJson } from '../api/same.ts'
import { isNotFound } from '../api/status.ts'
import { formatTime, type Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { isOlderVersion } from '../client/own-writes.ts'
import { initContainersOf, isSidecar, isTerminalPhase, nameOf, namespaceOf, type Pod, uidOf } from './pod.ts'
import { DISRUPTION, isOwnDisruption, KUBELET_CONDITIONS } from './pod-conditions.ts'
import { statusPatch } from './status-patch.ts'
import type { WorkMetrics } from './work-metrics.ts'

export interface StatusManager {
  /** The newest status told, if any. */
  get(uid: string): PodStatus | undefined
  set(pod: Pod, status: PodStatus): void
  /** Changes a status already told. */
  update(pod: Pod, change: (status: PodStatus) => PodStatus): void
  /** The pod has ended: what never started is marked so, the phase is final, and the object may be deleted. */
  terminate(pod: Pod): void
  /** The API server's object changed: what it says that we did not is put right. `uid`: of the static pod that a mirror pod shows. */
  observed(pod: Pod, uid?: string): void
  forget(uid: string): void
  /** Everything told so far is written or given up. For tests. */
  readonly idle: boolean
}

export interface StatusManagerOptions {
  readonly runtime: Runtime
  readonly client: Client
  /** The pod, or the mirror pod of a static one, as the API server last had it; undefined when it is gone. */
  readonly pod: (uid: string) => Pod | undefined
  /** Containers may still run, so a final phase must not be told yet. */
  readonly couldHaveRunningContainers: (uid: string) => boolean
  /** The pod's status may be another. */
  readonly changed?: (uid: string) => void
  readonly counts?: Pick<WorkMetrics, 'statusChanged' | 'statusTold'> | undefined
}

const PODS = { group: '', version: 'v1', resource: 'pods' }
/** Writes under way at once. */
const WRITES = 64
const RETRY_MS = 10_000
/** How long the removal of a pod that was deleted without grace is waited for. */
const REMOVAL_MS = 10_000
/** Parts of a pod's status that others write. */
const FOREIGN = ['nominatedNodeName', 'resourceClaimStatuses', 'extendedResourceClaimStatus', 'resize'] as const

interface Entry {
  readonly uid: string
  pod: Pod
  status: PodStatus
  /** What the API server is known to have. */
  base: PodStatus
  baseVersion: string | undefined
  queued: boolean
  writing: boolean
  /** The pod worker has nothing left to do for the pod. */
  ended: boolean
  deleted: boolean
  /** An answer was compared with what was meant since that was last given: once is enough. */
  answered: boolean
  /** When what is not told yet changed first. */
  untoldSince: number | undefined
  /** Of a pod whose removal is under way: runs until it has taken too long. */
  removal: Timer | 'overdue' | undefined
  /** Of a static pod whose mirror pod was just made: runs until that is told what was there before it. */
  newMirror: { readonly uid: string; readonly timer: Timer } | undefined
}

export function createStatusManager(options: StatusManagerOptions): StatusManager {
  const { runtime, client } = options
  const { clock, scheduler, log } = runtime
  const pods = client.resource<Pod>(PODS)
  const entries = new Map<string, Entry>()
  let queue: Entry[] = []
  let writes = 0
  let scheduled = false

  function enqueue(entry: Entry): void {
    if (entry.queued) return
    entry.queued = true
    if (entry.writing) return
    queue.push(entry)
    schedule()
  }

  // Behind what is ready now: what happens to the pod in this turn goes into the same patch.
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    scheduler.later('status manager', () => {
      scheduled = false
      let at = 0
      while (at < queue.length && writes < WRITES) void sync(queue[at++]!)
      queue = queue.slice(at)
    })
  }

  async function sync(entry: Entry): Promise<void> {
    entry.queued = false
    if (entries.get(entry.uid) !== entry) return
    entry.writing = true
    writes++
    let again = false
    try {
      await write(entry)
    } catch (error) {
      again = !isNotFound(error)
      log.info(2, 'Failed to update status for pod', { pod: nameOf(entry.pod), err: String(error) })
    } finally {
      entry.writing = false
      writes--
      if (entries.get(entry.uid) === entry) {
        if (entry.queued) {
          queue.push(entry)
          schedule()
        } else if (again) clock.setTimer(RETRY_MS, 'status retry', () => enqueue(entry))
      }
      if (queue.length > 0) schedule()
    }
  }

  async function write(entry: Entry): Promise<void> {
    const pod = options.pod(entry.uid)
    if (pod === undefined || awaitsRemoval(entry, pod)) return
    const ofNamespace = pods.namespace(namespaceOf(pod))
    const uid = uidOf(pod)
    const patch = statusPatch(uid, entry.base, entry.status)
    if (patch !== undefined) {
      const told = entry.status
      const since = entry.untoldSince
      entry.untoldSince = undefined
      const answer = await ofNamespace.patch(nameOf(pod), 'strategic', patch, { subresource: 'status' })
      if (since !== undefined) options.counts?.statusTold(clock.monotonic() - since)
      if (uidOf(answer) === uid) {
        const base = answer.status ?? told
        entry.baseVersion = answer.metadata.resourceVersion
        entry.status = withForeign(entry.status, base)
        // What is alike is the same from here on: neither what is left, nor what the watch shows of this, is compared value by value again.
        share(entry, base)
        // Another writer's change that no watch has shown yet (a node controller's Ready False) is in the answer, too. What
        // was just sent, and is not in it, the server does not take.
        const left = statusPatch(uid, entry.base, entry.status)
        if (left !== undefined && !entry.answered && !sameJson(left, patch)) enqueue(entry)
        entry.answered = true
      }
    }
    if (entry.queued || !mayDelete(entry)) return
    entry.deleted = true
    try {
      await ofNamespace.delete(nameOf(pod), { gracePeriodSeconds: 0, preconditions: { uid: entry.uid } })
    } catch (error) {
      if (!isNotFound(error)) {
        entry.deleted = false
        throw error
      }
    }
  }

  /**
   * A pod marked without grace, which nothing holds, goes as soon as it was marked: no client would read what is written about
   * it. Should the component that marked it not have removed it, it is ended here like any other.
   */
  function awaitsRemoval(entry: Entry, { metadata }: Pod): boolean {
    if (metadata.deletionGracePeriodSeconds !== 0 || (metadata.finalizers ?? []).length > 0) return false
    entry.removal ??= clock.setTimer(REMOVAL_MS, 'removal overdue', () => {
      entry.removal = 'overdue'
      enqueue(entry)
    })
    return entry.removal !== 'overdue'
  }

  /** A mirror pod that was just made is told the next status of its pod, and after a while the one that was there before it. */
  function tellNewMirror(entry: Entry, uid: string): void {
    if (entry.newMirror?.uid === uid) return
    entry.newMirror?.timer.cancel()
    const timer = clock.setTimer(RETRY_MS, 'status of a new mirror pod', () => {
      entry.newMirror = undefined
      enqueue(entry)
    })
    entry.newMirror = { uid, timer }
  }

  function mayDelete(entry: Entry): boolean {
    const pod = options.pod(entry.uid)
    return (
      !entry.deleted &&
      // Mirror pods go with their static pods, and by themselves when they were deleted.
      uidOf(pod ?? entry.pod) === entry.uid &&
      pod?.metadata.deletionTimestamp !== undefined &&
      entry.ended &&
      isTerminalPhase(entry.status.phase)
    )
  }

  function entryOf(pod: Pod): Entry {
    const uid = uidOf(pod)
    let entry = entries.get(uid)
    if (entry === undefined) {
      const known = options.pod(uid) ?? pod
      const base = known.status ?? {}
      entry = {
        uid,
        pod,
        status: base,
        base,
        baseVersion: known.metadata.resourceVersion,
        queued: false,
        writing: false,
        ended: false,
        deleted: false,
        answered: false,
        untoldSince: undefined,
        removal: undefined,
        newMirror: undefined,
      }
      entries.set(uid, entry)
    }
    return entry
  }

  function set(pod: Pod, given: PodStatus): void {
    const entry = entryOf(pod)
    entry.pod = pod
    entry.answered = false
    entry.untoldSince ??= clock.monotonic()
    const before = entry.status
    entry.status = merged(
      given,
      entry.status,
      entry.base,
      formatTime(clock.now()),
      options.couldHaveRunningContainers(entry.uid),
    )
    options.counts?.statusChanged(before, entry.status)
    enqueue(entry)
    options.changed?.(entry.uid)
  }

  return {
    get: (uid) => entries.get(uid)?.status,
    set,
    update(pod, change) {
      const entry = entries.get(uidOf(pod))
      if (entry !== undefined) set(pod, change(entry.status))
    },
    terminate(pod) {
      const entry = entryOf(pod)
      entry.ended = true
      set(pod, terminated(pod, entry.status))
    },
    observed(pod, uid = uidOf(pod)) {
      const entry = entries.get(uid)
      if (entry === undefined) return
      const version = pod.metadata.resourceVersion
      if (version === entry.baseVersion || isOlderVersion(version, entry.baseVersion)) {
        // Known from the answer to a write, all but that the pod is to go.
        if (mayDelete(entry)) enqueue(entry)
        else if (version === entry.baseVersion) share(entry, pod.status ?? {})
        return
      }
      entry.answered = false
      entry.base = pod.status ?? {}
      entry.baseVersion = version
      entry.status = withForeign(entry.status, entry.base)
      if (uid === uidOf(pod)) entry.pod = pod
      // A static pod has begun when an earlier life of this kubelet said so.
      else if (entry.base.startTime !== undefined) entry.status = { ...entry.status, startTime: entry.base.startTime }
      options.changed?.(uid)
      if (awaitsRemoval(entry, pod)) return
      if (uid !== uidOf(pod) && entry.base.startTime === undefined) tellNewMirror(entry, uidOf(pod))
      else if (mayDelete(entry) || statusPatch(entry.uid, entry.base, entry.status) !== undefined) enqueue(entry)
      else share(entry, entry.base)
    },
    forget(uid) {
      const { removal, newMirror } = entries.get(uid) ?? {}
      if (typeof removal === 'object') removal.cancel()
      newMirror?.timer.cancel()
      entries.delete(uid)
    },
    get idle() {
      return writes === 0 && queue.length === 0
    },
  }
}

/** The new status with transition times, the conditions and fields of others, and no final phase before its time. */
function merged(given: PodStatus, last: PodStatus, base: PodStatus, now: string, couldRun: boolean): PodStatus {
  const early = couldRun && isTerminalPhase(given.phase) && !isTerminalPhase(last.phase)
  const { phase: _phase, reason: _reason, message: _message, ...rest } = given
  const outcome = early ? last : given
  const status: PodStatus = {
    ...rest,
    ...(outcome.phase === undefined ? {} : { phase: outcome.phase }),
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    ...(outcome.message === undefined ? {} : { message: outcome.message }),
  }
  const conditions = (given.conditions ?? []).map((condition) => timed(condition, last.conditions, now))
  return withForeign({ ...status, conditions }, base)
}

function timed(condition: PodCondition, before: readonly PodCondition[] | undefined, now: string): PodCondition {
  const old = before?.find(({ type }) => type === condition.type)
  const same = old !== undefined && old.status === condition.status && old.lastTransitionTime !== undefined
  return { lastProbeTime: null, ...condition, lastTransitionTime: same ? old.lastTransitionTime : now } as PodCondition
}

function withForeign(status: PodStatus, base: PodStatus): PodStatus {
  const foreign: Record<string, unknown> = {}
  for (const field of FOREIGN) if (base[field] !== undefined) foreign[field] = base[field]
  const isOwn = (condition: PodCondition) => KUBELET_CONDITIONS.has(condition.type) || isOwnDisruption(condition)
  const own = (status.conditions ?? []).filter(isOwn)
  const replaced = own.some(isOwnDisruption)
  const others = (base.conditions ?? []).filter(
    (condition) => !isOwn(condition) && !(replaced && condition.type === DISRUPTION),
  )
  const conditions = others.length === 0 ? own : [...others, ...own]
  const { conditions: _, ...rest } = status
  return { ...rest, ...foreign, ...(conditions.length === 0 ? {} : { conditions }) }
}

/** Of equal values of the status those of `base` are kept, which informers hold anyway. */
function share(entry: Entry, base: PodStatus): void {
  const shared: Record<string, unknown> = { ...entry.status }
  for (const [field, value] of Object.entries(base)) if (sameJson(shared[field], value)) shared[field] = value
  entry.base = base
  entry.status = shared
}

const NOT_LOCATED = 'The container could not be located when the pod was terminated'

const hasBegun = ({ state, lastState }: ContainerStatus): boolean =>
  state?.waiting === undefined || lastState?.terminated !== undefined

/** It has ended, and nothing tells how. */
function ended137(container: ContainerStatus): ContainerStatus {
  if (container.state?.terminated !== undefined) return container
  const unknown = { exitCode: 137, message: NOT_LOCATED, reason: 'ContainerStatusUnknown' }
  return { ...container, ready: false, started: false, state: { terminated: unknown } }
}

/** By the status that the object has which the pod's worker goes by. */
function hasInitialized(pod: Pod): boolean {
  const last = initContainersOf(pod).at(-1)
  if (last === undefined) return true
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  if (containerStatuses.some((one) => one.state !== undefined && hasBegun(one))) return true
  const own = initContainerStatuses.find(({ name }) => name === last.name)
  if (isSidecar(last)) return own?.started === true
  return own?.lastState?.terminated?.exitCode === 0 || own?.state?.terminated?.exitCode === 0
}

function terminated(pod: Pod, status: PodStatus): PodStatus {
  const initialized = hasInitialized(pod)
  const ended = isTerminalPhase(status.phase)
  if (!initialized && ended) return status
  const statuses = (status.containerStatuses ?? []).map((container) => (initialized ? ended137(container) : container))
  const inits = status.initContainerStatuses ?? []
  // Those that have begun, and the first in any case.
  const begun = Math.max(1, inits.findLastIndex(hasBegun) + 1)
  return {
    ...status,
    ...(inits.length === 0
      ? {}
      : { initContainerStatuses: inits.map((one, at) => (at < begun ? ended137(one) : one)) }),
    ...(status.containerStatuses === undefined ? {} : { containerStatuses: statuses }),
    phase: ended ? status.phase! : 'Failed',
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  }
}
