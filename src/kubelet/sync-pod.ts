/** syncPod: brings one pod nearer to what its spec asks. Called by its pod worker, again and again, until the pod has to end. */

import type { PodStatus, ResourceRequirements } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ActiveDeadlines } from './active-deadline.ts'
import type { References } from './configmaps-and-secrets.ts'
import type { DeviceClaims } from './dra/device-claims.ts'
import type { EvictedPods } from './eviction/evicted-pods.ts'
import type { PullSecrets } from './images/pull-secrets.ts'
import { computePodActions, type PodActions } from './init-containers-sidecars-and-restarts.ts'
import type { Killer } from './kill-pod.ts'
import type { Machine } from './machine/machine.ts'
import type { PodStartMetrics } from './metrics/pod-start-metrics.ts'
import type { VolumeWorkMetrics } from './metrics/volume-work-metrics.ts'
import type { Volumes } from './mount-volumes.ts'
import type { Pleg } from './pleg.ts'
import { type Container, isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import { latestContainer, type PodCache, type RuntimePodStatus } from './pod-cache.ts'
import type { PodEvents } from './pod-events.ts'
import { type PodResizes, resizable } from './pod-resize.ts'
import { podStatusOf, type StatusSources } from './pod-status.ts'
import type { ProbeManager } from './probes/probe-manager.ts'
import { isRestartingAll, removeAllContainers } from './restart-all.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import { sandboxConfigOf } from './sandbox-config.ts'
import { type ShrinkingContainer, shrinkProblem, shrinks } from './shrinking-memory.ts'
import type { ContainerStarter } from './start-container.ts'
import type { StatusManager } from './status-manager.ts'
import { SyncError } from './sync-error.ts'
import { untilAborted, untilLate } from './until-aborted.ts'
import type { WorkMetrics } from './work-metrics.ts'

export interface SyncParts {
  readonly runtime: Runtime
  readonly containerRuntime: ContainerRuntime
  readonly cache: PodCache
  readonly pleg: Pleg
  readonly statuses: StatusManager
  readonly sources: StatusSources
  readonly events: PodEvents
  readonly probes: ProbeManager
  readonly volumes: Volumes
  readonly deviceClaims: DeviceClaims
  readonly killer: Killer
  readonly starter: ContainerStarter
  readonly deadlines: ActiveDeadlines
  readonly evicted: EvictedPods
  readonly references: Pick<References, 'ended'>
  readonly resizes: PodResizes
  /** Pods whose containers were just taken away to begin anew. */
  readonly beginningAnew: Set<string>
  readonly pullSecrets: PullSecrets
  readonly podStarts?: PodStartMetrics | undefined
  readonly volumeWork?: VolumeWorkMetrics | undefined
  readonly counts?: Pick<WorkMetrics, 'resized'> | undefined
  readonly isStatic: (uid: string) => boolean
  /** Of a static pod: sees to its mirror pod. */
  readonly reconcileMirror: (pod: Pod) => void
  /** Of a real node. */
  readonly machine?: Machine
}

/** The status the pod deserves now; of a deadline that has passed it is told. `terminal`: it has ended for good. */
export function makeStatus(parts: SyncParts, pod: Pod, terminal: boolean): PodStatus {
  const { runtime, cache, statuses, sources, deadlines, evicted } = parts
  const uid = uidOf(pod)
  const old = statuses.get(uid) ?? pod.status ?? {}
  deadlines.tellPassed(pod, old)
  // That it was evicted is told when it has ended; of a static pod at once, as what becomes of it.
  const why = terminal || parts.isStatic(uid) ? evicted.failure(uid) : undefined
  const situation = { now: runtime.clock.now(), terminal, old, late: deadlines.failure(pod, old), evicted: why }
  return podStatusOf(pod, cache.get(uid), sources, situation)
}

/** Resolves to true when the pod has ended by itself or has to. @throws SyncError when it should be tried again */
export async function syncPod(parts: SyncParts, pod: Pod, signal: AbortSignal): Promise<boolean> {
  const { cache, pleg, statuses, probes, volumes, deadlines } = parts
  const uid = uidOf(pod)
  const before = statuses.get(uid)
  if (before === undefined) parts.podStarts?.begun(pod)
  await pleg.settle(uid)
  const status = makeStatus(parts, pod, false)
  statuses.set(pod, status)
  parts.podStarts?.found(pod, before?.phase, status.phase)
  if (isTerminalPhase(status.phase)) return true
  parts.resizes.tellCompleted(pod, cache.get(uid))
  parts.reconcileMirror(pod)
  deadlines.watch(pod, status)
  probes.add(pod, cache.get(uid))
  try {
    await volumes.mount(pod, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (signal.aborted) return false
  if (specOf(pod).imagePullSecrets !== undefined)
    await untilLate(parts.runtime.clock, [parts.pullSecrets.check(pod)], signal)
  const runtimeStatus = cache.get(uid)
  if (isRestartingAll(pod, runtimeStatus)) {
    await beginAnew(parts, pod, runtimeStatus)
    return false
  }
  const actions = computePodActions(pod, runtimeStatus, probes, parts.resizes)
  try {
    await perform(parts, pod, runtimeStatus, actions, signal)
  } finally {
    const { killPod, kill, start } = actions
    if (killPod || actions.createSandbox || kill.length > 0 || start.length > 0) pleg.changed(uid)
  }
  return false
}

/** What the containers were is told from their last statuses, since the runtime forgets them. */
async function beginAnew(parts: SyncParts, pod: Pod, status: RuntimePodStatus): Promise<void> {
  const { killer, containerRuntime, pleg, statuses, beginningAnew } = parts
  const uid = uidOf(pod)
  try {
    await removeAllContainers(pod, status, killer, containerRuntime)
    await pleg.relistPod(uid)
    beginningAnew.add(uid)
    statuses.set(pod, makeStatus(parts, pod, false))
  } finally {
    beginningAnew.delete(uid)
    pleg.changed(uid)
  }
}

async function perform(
  parts: SyncParts,
  pod: Pod,
  status: RuntimePodStatus,
  actions: PodActions,
  signal: AbortSignal,
): Promise<void> {
  const { killer, events, containerRuntime } = parts
  let current = status
  if (actions.killPod) {
    if (actions.createSandbox)
      events.normal(pod, 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.')
    await killer.killPod(pod, status)
    if (!actions.createSandbox) return
    // What ran in the old sandbox before the containers does not count for the new one.
    const inits = new Set((specOf(pod).initContainers ?? []).map(({ name }) => name))
    const purged = status.containers.filter(({ metadata }) => inits.has(metadata.name))
    await Promise.all(purged.map(({ id }) => containerRuntime.removeContainer(id)))
    current = { ...status, containers: status.containers.filter((one) => !purged.includes(one)) }
  }
  if (actions.kill.length > 0)
    await Promise.all(
      actions.kill.map(({ status: one, reason, message }) => killer.killContainer(pod, one, reason, message)),
    )
  if (signal.aborted) return
  await resize(parts, pod, current)
  if (actions.createSandbox && parts.deviceClaims.has(pod)) {
    try {
      await untilAborted(parts.deviceClaims.prepare(pod), signal)
    } catch (error) {
      if (signal.aborted) return
      const why = `Failed to prepare dynamic resources: prepare dynamic resources: ${messageOf(error)}`
      events.warning(pod, 'FailedPrepareDynamicResources', why)
      return
    }
  }
  const sandboxId = actions.createSandbox ? await createSandbox(parts, pod, actions.attempt, signal) : actions.sandboxId
  if (sandboxId === undefined) return
  // Containers are told the addresses that the new sandbox has.
  if (actions.createSandbox && parts.machine !== undefined)
    current = { ...current, ips: (await parts.pleg.relistPod(uidOf(pod))).ips }
  await startAll(parts, pod, actions.start, sandboxId, current, signal)
  await prune(containerRuntime, current)
}

/** Holds the pod, and containers that run on, to what the pod is given now. */
async function resize(parts: SyncParts, pod: Pod, status: RuntimePodStatus): Promise<void> {
  const { resizes } = parts
  const whole = resizes.podDue(pod)
  const ofPod = specOf(pod).resources?.limits?.['memory']
  const due = resizable(pod).flatMap((container) => {
    const latest = latestContainer(status, container.name)
    if (latest === undefined) return []
    const own = resizes.due(container, latest)
    // What limits the pod limits its containers that have no limit of their own.
    if (own === 'restart' || (own === undefined && whole === undefined)) return []
    const limit = resizes.resources(container, latest).limits?.['memory'] ?? whole?.held.limits?.['memory'] ?? ofPod
    const wanted = container.resources?.limits?.['memory'] ?? ofPod
    return [{ container, id: latest.id, isRunning: latest.state === 'running', limit, wanted }]
  })
  if (due.length === 0 && whole === undefined) return
  const work = () => resizeNow(parts, pod, status, due, whole?.held)
  await (parts.counts === undefined ? work() : parts.counts.resized(work))
}

interface DueContainer extends ShrinkingContainer {
  readonly container: Container
  readonly id: string
  readonly isRunning: boolean
}

/** `held`: what the pod as a whole is held to until now, where it is to be another. */
async function resizeNow(
  parts: SyncParts,
  pod: Pod,
  status: RuntimePodStatus,
  due: readonly DueContainer[],
  held: ResourceRequirements | undefined,
): Promise<void> {
  const { resizes, containerRuntime, machine, statuses, pleg } = parts
  const less = due.filter(shrinks)
  const wanted = specOf(pod).resources?.limits?.['memory']
  const podShrinks = held !== undefined && shrinks({ wanted, limit: held.limits?.['memory'] })
  const problem =
    less.length > 0 || podShrinks ? shrinkProblem(pod, less, await containerRuntime.real?.usage()) : undefined
  if (problem !== undefined) {
    resizes.failed(pod, problem)
    statuses.set(pod, makeStatus(parts, pod, false))
    throw new Error(problem)
  }
  // A group may not hold less than those below it: it grows before them, and shrinks after them.
  machine?.resizePod(pod)
  for (const { container, id, isRunning } of due) {
    if (!isRunning) continue
    if (machine !== undefined) await containerRuntime.real?.updateResources(id, machine.resources(pod, container))
    resizes.done(uidOf(pod), id, container.resources ?? {})
  }
  machine?.resizePod(pod)
  resizes.podDone(pod)
  pleg.changed(uidOf(pod))
  statuses.set(pod, makeStatus(parts, pod, false))
  resizes.tellCompleted(pod, status)
}

async function createSandbox(parts: SyncParts, pod: Pod, attempt: number, signal: AbortSignal): Promise<string> {
  const { containerRuntime, events, statuses, machine } = parts
  const base = sandboxConfigOf(pod, attempt)
  const warn = (reason: string, message: string) => events.warning(pod, reason, message)
  try {
    const config = machine === undefined ? base : await machine.sandbox(pod, base, warn)
    const id = await containerRuntime.runPodSandbox(config, signal)
    statuses.update(pod, withReadySandbox)
    return id
  } catch (error) {
    if (signal.aborted) throw error
    const message = messageOf(error)
    events.warning(pod, 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`)
    throw new SyncError(message, undefined, { cause: error })
  }
}

function withReadySandbox(status: PodStatus): PodStatus {
  const conditions = (status.conditions ?? []).map((condition) => {
    if (condition.type !== 'PodReadyToStartContainers') return condition
    const { reason: _reason, message: _message, ...rest } = condition
    return { ...rest, status: 'True' }
  })
  return { ...status, conditions }
}

/** Starts them one after the other; one that cannot be started keeps none of the others back. */
async function startAll(
  parts: SyncParts,
  pod: Pod,
  containers: readonly Container[],
  sandboxId: string,
  status: RuntimePodStatus,
  signal: AbortSignal,
): Promise<void> {
  if (containers.length === 0) return
  let problem: SyncError | undefined
  const imageVolumes = await parts.starter.imageVolumes(pod, signal)
  for (const container of containers) {
    if (signal.aborted) return
    try {
      const told = parts.statuses.get(uidOf(pod))
      await parts.starter.start({ pod, container, sandboxId, status, told, imageVolumes }, signal)
    } catch (error) {
      if (!(error instanceof SyncError)) throw error
      const sooner = problem?.retryMs === undefined || (error.retryMs !== undefined && error.retryMs < problem.retryMs)
      if (sooner) problem = error
    }
  }
  if (problem !== undefined) throw problem
}

/** Of the containers that ended, the newest of each name is kept: the last state is shown from it. */
async function prune(containerRuntime: ContainerRuntime, status: RuntimePodStatus): Promise<void> {
  const seen = new Set<string>()
  for (const { id, state, metadata } of status.containers) {
    if (state !== 'exited') continue
    if (seen.has(metadata.name)) await containerRuntime.removeContainer(id)
    seen.add(metadata.name)
  }
}
