/** The phase of a pod, from its containers' statuses (API concept: pod lifecycle). */
import type { ContainerStatus } from '../api/generated/types.ts'
import { initContainersOf, initRestartsAfter, isSidecar, type Pod, restartsAfter, specOf } from './pod.ts'
import { BEGINNING_ANEW } from './restart-all.ts'

export function containerPhase(
  pod: Pod,
  containers: readonly ContainerStatus[],
  inits: readonly ContainerStatus[],
  terminal: boolean,
): string {
  let pendingInit = 0
  let failedInit = 0
  let failedForGood = 0
  let waiting = 0
  let running = 0
  const started = containers.some(hasStarted)
  initContainersOf(pod).forEach((container, at) => {
    const { state = {}, lastState = {}, started: isStarted } = inits[at] ?? {}
    if (isSidecar(container)) {
      // An ended sidecar says nothing about the pod.
      if (state.running !== undefined) {
        if (isStarted !== true) pendingInit++
        running++
      } else if (state.terminated === undefined && lastState.terminated === undefined) {
        pendingInit++
        waiting++
      }
      return
    }
    const { terminated: before } = lastState
    const failedBefore = state.waiting !== undefined && before?.reason !== BEGINNING_ANEW.reason ? before : undefined
    const ended = state.terminated ?? failedBefore
    if (ended === undefined) pendingInit++
    else if (ended.exitCode !== 0) {
      failedInit++
      if (!initRestartsAfter(container, pod, ended.exitCode)) failedForGood++
    }
  })

  let stopped = 0
  let succeeded = 0
  let restarting = 0
  specOf(pod).containers.forEach((container, at) => {
    const { state = {}, lastState = {} } = containers[at] ?? {}
    if (state.running !== undefined) running++
    else if (state.terminated !== undefined) {
      stopped++
      if (state.terminated.exitCode === 0) succeeded++
      if (restartsAfter(container, pod, state.terminated.exitCode)) restarting++
    } else if (lastState.terminated !== undefined) {
      stopped++
      restarting++
    } else waiting++
  })

  if (failedForGood > 0) return 'Failed'
  if (failedInit > 0 && !started && !terminal) return 'Pending'
  if (pendingInit > 0 && !started) return 'Pending'
  if (waiting > 0) return 'Pending'
  if (running > 0) return 'Running'
  if (stopped === 0) return 'Pending'
  if (!terminal && restarting > 0) return 'Running'
  return stopped === succeeded ? 'Succeeded' : 'Failed'
}

function hasStarted({ started, state, lastState }: ContainerStatus): boolean {
  return (
    started === true ||
    state?.running !== undefined ||
    state?.terminated !== undefined ||
    lastState?.terminated !== undefined
  )
}
