/** activeDeadlineSeconds: a pod that is active for longer has failed. One timer per pod that has a deadline. */
import type { PodStatus } from '../api/generated/types.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'

const REASON = 'DeadlineExceeded'
const MESSAGE = 'Pod was active on the node longer than the specified deadline'

export interface ActiveDeadlines {
  /** Looks whether the deadline has passed; syncs the pod when it comes. */
  check(pod: Pod, status: PodStatus): void
  /** Why the pod has failed, once its deadline was found to have passed. */
  failure(uid: string): { readonly reason: string; readonly message: string } | undefined
  forget(uid: string): void
}

export function createActiveDeadlines(clock: Clock, events: PodEvents, sync: (uid: string) => void): ActiveDeadlines {
  const timers = new Map<string, { readonly at: number; readonly timer: Timer }>()
  const exceeded = new Set<string>()

  return {
    check(pod, status) {
      const uid = uidOf(pod)
      const { activeDeadlineSeconds } = specOf(pod)
      if (exceeded.has(uid) || isTerminalPhase(status.phase)) return
      const deadline =
        activeDeadlineSeconds === undefined || status.startTime === undefined
          ? undefined
          : Date.parse(status.startTime) + activeDeadlineSeconds * 1000
      if (deadline !== undefined && clock.now() >= deadline) {
        exceeded.add(uid)
        events.normal(pod, REASON, MESSAGE)
        return
      }
      const known = timers.get(uid)
      if (known?.at === deadline) return
      known?.timer.cancel()
      timers.delete(uid)
      if (deadline === undefined) return
      const timer = clock.setTimer(deadline - clock.now(), 'active deadline', () => {
        // A timer keeps other time than the clock, and may come before it: then there is another.
        timers.delete(uid)
        sync(uid)
      })
      timers.set(uid, { at: deadline, timer })
    },
    failure: (uid) => (exceeded.has(uid) ? { reason: REASON, message: MESSAGE } : undefined),
    forget(uid) {
      exceeded.delete(uid)
      timers.get(uid)?.timer.cancel()
      timers.delete(uid)
    },
  }
}
