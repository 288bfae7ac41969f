/** activeDeadlineSeconds: a pod that is active for longer has failed. One timer per pod that has a deadline. */
import type { PodStatus } from '../api/generated/types.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'

const REASON = 'DeadlineExceeded'
const MESSAGE = 'Pod was active on the node longer than the specified deadline'

export interface ActiveDeadlines {
  /** Has the pod synced when its deadline comes. */
  watch(pod: Pod, status: PodStatus): void
  /** Why the pod has failed, once its deadline has passed. */
  failure(pod: Pod, status: PodStatus): { readonly reason: string; readonly message: string } | undefined
  /** Of a deadline that has passed an Event tells, and it stays so: for each status that is made, as by a kubelet. */
  tellPassed(pod: Pod, status: PodStatus): void
  forget(uid: string): void
}

export function createActiveDeadlines(clock: Clock, events: PodEvents, sync: (uid: string) => void): ActiveDeadlines {
  const timers = new Map<string, { readonly at: number; readonly timer: Timer }>()
  const exceeded = new Set<string>()

  function setTimer(uid: string, at: number): void {
    const timer = clock.setTimer(at - clock.now(), 'active deadline', () => {
      timers.delete(uid)
      // A timer keeps other time than the clock, and may come before it.
      if (clock.now() < at) setTimer(uid, at)
      else sync(uid)
    })
    timers.set(uid, { at, timer })
  }

  function hasPassed(pod: Pod, status: PodStatus): boolean {
    if (exceeded.has(uidOf(pod))) return true
    const deadline = isTerminalPhase(status.phase) ? undefined : deadlineOf(pod, status)
    return deadline !== undefined && clock.now() >= deadline
  }

  return {
    watch(pod, status) {
      const uid = uidOf(pod)
      const deadline = exceeded.has(uid) || isTerminalPhase(status.phase) ? undefined : deadlineOf(pod, status)
      const known = timers.get(uid)
      if (known?.at === deadline) return
      known?.timer.cancel()
      timers.delete(uid)
      if (deadline !== undefined) setTimer(uid, deadline)
    },
    failure: (pod, status) => (hasPassed(pod, status) ? { reason: REASON, message: MESSAGE } : undefined),
    tellPassed(pod, status) {
      if (!hasPassed(pod, status)) return
      exceeded.add(uidOf(pod))
      events.normal(pod, REASON, MESSAGE)
    },
    forget(uid) {
      exceeded.delete(uid)
      timers.get(uid)?.timer.cancel()
      timers.delete(uid)
    },
  }
}

function deadlineOf(pod: Pod, { startTime }: PodStatus): number | undefined {
  const { activeDeadlineSeconds } = specOf(pod)
  if (activeDeadlineSeconds === undefined || startTime === undefined) return undefined
  return Date.parse(startTime) + activeDeadlineSeconds * 1000
}
