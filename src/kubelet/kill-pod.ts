/**
 * killPod: preStop hooks of all containers of a pod at once, then SIGTERM, wait, SIGKILL, for sidecars after all others and in reverse order
 * (KEP-753), then the sandbox. What is being killed can be given less time.
 */
import { boundedSeconds, durationMs } from '../api/objects/integers.ts'
import { sleep, type Timer } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import {
  type Container,
  containerNamed,
  containerPath,
  initContainersOf,
  isSidecar,
  type Pod,
  specOf,
  uidOf,
} from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import type { PodEvents } from './pod-events.ts'
import type { ContainerRuntime, PodSandboxStatus, ProbeAction, RuntimeContainerStatus } from './runtimes/runtime.ts'
import { SyncError } from './sync-error.ts'

export type KillReason = 'pod ends' | 'liveness' | 'startup' | 'changed' | 'postStart' | 'restart all'

export interface Killer {
  /** Resolves once the container has ended. `graceSeconds`: instead of what the pod and its probes say. */
  killContainer(
    pod: Pod,
    status: RuntimeContainerStatus,
    reason: KillReason,
    message: string,
    graceSeconds?: number,
  ): Promise<void>
  /**
   * Resolves once all containers and sandboxes of the pod have ended. What fails keeps nothing else from being stopped.
   * @throws SyncError that names all that failed
   */
  killPod(pod: Pod, status: RuntimePodStatus, graceSeconds?: number): Promise<void>
  /** What is being killed of the pod has only this long left. */
  shorten(uid: string, graceSeconds: number): void
}

/** However short the grace period, SIGKILL does not follow SIGTERM sooner. */
const MINIMUM_GRACE_SECONDS = 2

interface Kill {
  readonly id: string
  deadline: number
  phase: 'waiting' | 'hook' | 'stopping'
  hook?: AbortController
  timer?: Timer
  /** It was given less time than it began with. */
  isShortened: boolean
}

/** `reach`: where a hook reaches for a port of the pod. */
export function createKiller(
  runtime: Runtime,
  containerRuntime: ContainerRuntime,
  events: PodEvents,
  reach: (pod: Pod, container: Container) => Pick<ProbeAction, 'podIP' | 'ports'> = () => ({}),
  sleepCut: () => void = () => {},
): Killer {
  const { clock, log } = runtime
  const active = new Map<string, Map<string, Kill>>()

  const left = (kill: Kill) => Math.max(0, (kill.deadline - clock.monotonic()) / 1000)
  const stop = (kill: Kill) => containerRuntime.stopContainer(kill.id, Math.max(left(kill), MINIMUM_GRACE_SECONDS))

  function begin(pod: Pod, id: string, graceSeconds: number): Kill {
    const uid = uidOf(pod)
    let kills = active.get(uid)
    if (kills === undefined) {
      kills = new Map()
      active.set(uid, kills)
    }
    const kill: Kill = { id, deadline: clock.monotonic() + graceSeconds * 1000, phase: 'waiting', isShortened: false }
    kills.set(id, kill)
    return kill
  }

  function finish(pod: Pod, kill: Kill): void {
    const kills = active.get(uidOf(pod))
    if (kills?.get(kill.id) !== kill) return
    kills.delete(kill.id)
    if (kills.size === 0) active.delete(uidOf(pod))
  }

  function armHook(kill: Kill): void {
    kill.timer?.cancel()
    kill.timer = clock.setTimer(left(kill) * 1000, 'preStop hook ends', () => kill.hook?.abort())
  }

  async function preStop(pod: Pod, container: Container, kill: Kill): Promise<void> {
    const handler = container.lifecycle?.preStop
    if (handler === undefined || left(kill) <= 0 || containerRuntime.skipsHooks === true) return
    const abort = new AbortController()
    kill.phase = 'hook'
    kill.hook = abort
    armHook(kill)
    try {
      if (handler.sleep !== undefined) await sleep(clock, durationMs(handler.sleep.seconds), abort.signal)
      else {
        const action = { kind: 'preStop', handler, timeoutSeconds: left(kill), ...reach(pod, container) } as const
        const { success, output } = await containerRuntime.probe(kill.id, action, abort.signal)
        if (!success) throw new Error(output)
      }
    } catch (error) {
      // One that its time ran out for has not failed, one that was given less time has.
      if (handler.sleep !== undefined && abort.signal.aborted) {
        if (!kill.isShortened) return
        sleepCut()
      }
      log.info(3, 'PreStop hook failed', { containerName: container.name, err: String(error) })
      events.warning(pod, 'FailedPreStopHook', 'PreStopHook failed', containerPath(pod, container.name))
    } finally {
      kill.timer?.cancel()
    }
  }

  async function killOne(
    pod: Pod,
    status: RuntimeContainerStatus,
    message: string,
    graceSeconds: number,
    turn?: Promise<unknown>,
    withHooks = true,
  ): Promise<void> {
    const { name } = status.metadata
    const container = containerNamed(pod, name)
    const kill = begin(pod, status.id, graceSeconds)
    try {
      events.normal(pod, 'Killing', message === '' ? `Stopping container ${name}` : message, containerPath(pod, name))
      if (container !== undefined && withHooks) await preStop(pod, container, kill)
      kill.phase = 'waiting'
      await turn
      kill.phase = 'stopping'
      await stop(kill)
    } finally {
      finish(pod, kill)
    }
  }

  return {
    killContainer: (pod, status, reason, message, graceSeconds) =>
      killOne(
        pod,
        status,
        message,
        graceSeconds ?? graceOfKill(pod, status.metadata.name, reason),
        undefined,
        reason !== 'restart all',
      ),

    async killPod(pod, status, graceSeconds) {
      const alive = status.containers.filter(({ state }) => state === 'running' || state === 'created')
      const sidecars = initContainersOf(pod).filter(isSidecar)
      const order = new Map(sidecars.map(({ name }, at) => [name, at]))
      const grace = (name: string) => graceSeconds ?? graceOfKill(pod, name, 'pod ends')
      const failures: string[] = []
      const kill = (one: RuntimeContainerStatus, turn?: Promise<unknown>) =>
        killOne(pod, one, '', grace(one.metadata.name), turn).catch((error) => {
          failures.push(failureText('KillContainer', one.metadata.name, error))
        })
      let before: Promise<unknown> = Promise.all(
        alive.filter(({ metadata }) => !order.has(metadata.name)).map((one) => kill(one)),
      )
      const last = alive
        .filter(({ metadata }) => order.has(metadata.name))
        .sort((a, b) => order.get(b.metadata.name)! - order.get(a.metadata.name)!)
      for (const sidecar of last) before = kill(sidecar, before)
      await before
      const stopSandbox = ({ id }: PodSandboxStatus) =>
        containerRuntime.stopPodSandbox(id).catch((error) => {
          failures.push(failureText('KillPodSandbox', uidOf(pod), error))
        })
      await Promise.all(status.sandboxes.filter(({ state }) => state === 'ready').map(stopSandbox))
      if (failures.length === 0) return
      const problem = failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`
      events.warning(pod, 'FailedKillPod', `error killing pod: ${problem}`)
      throw new SyncError(`killing the pod failed: ${problem}`)
    },

    shorten(uid, graceSeconds) {
      const deadline = clock.monotonic() + graceSeconds * 1000
      for (const kill of active.get(uid)?.values() ?? []) {
        if (deadline >= kill.deadline) continue
        kill.deadline = deadline
        kill.isShortened = true
        if (kill.phase === 'hook') armHook(kill)
        if (kill.phase === 'stopping')
          stop(kill).catch((error) => log.error('Stopping a container sooner failed', error, { containerID: kill.id }))
      }
    },
  }
}

const failureText = (step: string, of: string, error: unknown) =>
  `failed to "${step}" for "${of}" with ${step}Error: ${JSON.stringify(messageOf(error))}`

/** Seconds a container has to end by itself. */
export function graceOfKill(pod: Pod, name: string, reason: KillReason): number {
  const { deletionGracePeriodSeconds } = pod.metadata
  if (deletionGracePeriodSeconds !== undefined) return boundedSeconds(deletionGracePeriodSeconds)
  const container = containerNamed(pod, name)
  const probe =
    reason === 'liveness' ? container?.livenessProbe : reason === 'startup' ? container?.startupProbe : undefined
  return boundedSeconds(probe?.terminationGracePeriodSeconds ?? specOf(pod).terminationGracePeriodSeconds ?? 30)
}
