/**
 * CrashLoopBackOff (API concept: container restart policy): a container that has ended is started again after ten seconds, and each time
 * after twice as long, up to five minutes, and up to half as much more by chance.
 */
import { goDurationTextMs } from '../base/go-duration.ts'
import type { Runtime } from '../base/runtime.ts'
import { createBackOff } from './doubling-back-off.ts'
import { type Container, containerPath, formatPod, type Pod, uidOf } from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import type { PodEvents } from './pod-events.ts'
import { StartContainerError } from './sync-error.ts'

const FIRST_MS = 10_000
const LONGEST_MS = 300_000

export interface CrashLoopBackOff {
  /** Before a start. @throws StartContainerError while it is too soon, with how long to wait */
  check(pod: Pod, container: Container, status: RuntimePodStatus): void
  forget(uid: string): void
}

export function createCrashLoopBackOff(
  { clock, random }: Pick<Runtime, 'clock' | 'random'>,
  events: PodEvents,
  longestMs = LONGEST_MS,
): CrashLoopBackOff {
  const backOff = createBackOff(clock, Math.min(FIRST_MS, longestMs), longestMs)
  return {
    check(pod, container, status) {
      const { name } = container
      const last = status.containers.find(({ metadata, state }) => metadata.name === name && state === 'exited')
      if (last === undefined) return
      // Another image is another container: it begins anew.
      const key = `${uidOf(pod)}_${name}_${container.image ?? ''}`
      const left = backOff.remaining(key, last.finishedAt)
      if (left > 0) {
        const told = `Back-off restarting failed container ${name} in pod ${formatPod(pod)}`
        events.warning(pod, 'BackOff', told, containerPath(pod, name))
        const wait = goDurationTextMs(1000 * Math.round(backOff.current(key) / 1000))
        const message = `back-off ${wait} restarting failed container=${name} pod=${formatPod(pod)}`
        throw new StartContainerError('CrashLoopBackOff', message, left * (1 + random.float() / 2))
      }
      backOff.next(key, last.finishedAt)
    },
    forget: (uid) => backOff.delete(`${uid}_`),
  }
}
