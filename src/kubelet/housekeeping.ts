/** What a kubelet does again and again on its node: what is left of pods that are gone goes, and pods that are there are looked at anew. */
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { collectContainers } from './container-gc.ts'
import type { Machine } from './machine/machine.ts'
import { createRemains, endOrphanedPods } from './orphaned-pods.ts'
import { isTerminalPhase, uidOf } from './pod.ts'
import type { PodCache } from './pod-cache.ts'
import type { PodManager } from './pod-manager.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'
import type { WorkMetrics } from './work-metrics.ts'

/** What of pods that are gone could not be removed is tried again after this, as often as a kubelet keeps house. */
const RETRY_MS = 2000
/** Pods of a real node are looked at again after this. */
const FRESH_PERIOD_MS = 60_000

export interface HousekeepingOptions {
  readonly runtime: Runtime
  readonly signal: AbortSignal
  readonly containerRuntime: ContainerRuntime
  readonly machine: Machine | undefined
  readonly pods: Pick<PodManager, 'list'>
  readonly cache: Pick<PodCache, 'get'>
  /** Whether what runs is of a pod that the node has, or may have. */
  readonly isKnown: (uid: string) => boolean
  /** Claims of devices that were prepared for pods which are gone. */
  readonly unprepareUnknown: (isKnown: (uid: string) => boolean) => Promise<void>
  /** Looks at the pod again, if it does not wait for its next try. */
  readonly look: (uid: string) => void
  readonly counts?: Pick<WorkMetrics, 'orphanEnded' | 'orphansCleaned'> | undefined
}

export interface Housekeeping {
  /** Removes what is left of pods that are gone, and tries again where that fails. */
  endOrphans(): void
  /** Removes what a pod that has ended here leaves. Resolves when that was tried: what fails is tried again with the orphans. */
  removeRemainsOf(uid: string): Promise<void>
  /** Removes containers that have ended. `keepsNone`: of such pods all of them. @throws the runtime's error */
  removeDead(keepsNone?: (uid: string) => boolean): Promise<void>
  /** From now on volumes made of objects follow them, and what an end left over is looked for. */
  begin(): void
}

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { runtime, signal, containerRuntime, machine, pods, cache, isKnown, unprepareUnknown, look } = options
  const { clock, log } = runtime

  const remains = createRemains(containerRuntime, machine, options.counts)
  let isEnding = false
  let isAgain = false
  const failed = (error: unknown) => {
    log.error('Removing pods that are gone failed', error)
    endOrphansLater()
  }
  /** Once at a time: what has begun to end while one is under way is seen by the next, and not asked for by each. */
  const endOrphans = () => {
    isAgain = isEnding
    if (isEnding) return
    isEnding = true
    void endOrphanedPods(containerRuntime, isKnown, options.counts)
      .then(() => {
        // Not waited for: removals from the machine have no end in time.
        void remains.remove(isKnown).catch(failed)
        return unprepareUnknown(isKnown)
      })
      .catch(failed)
      .finally(() => {
        isEnding = false
        if (isAgain && !signal.aborted) endOrphans()
      })
  }
  let due: Timer | undefined
  const endOrphansLater = () => {
    if (due !== undefined || signal.aborted) return
    due = clock.setTimer(RETRY_MS, 'orphans are collected', () => {
      due = undefined
      if (!signal.aborted) endOrphans()
    })
  }

  const removeRemainsOf = (uid: string) =>
    remains
      .removeOf(
        uid,
        cache.get(uid).sandboxes.map(({ id }) => id),
      )
      .catch((error) => {
        log.error('Removing what a pod has left failed', error)
        endOrphansLater()
      })

  const removeDead = (keepsNone?: (uid: string) => boolean) =>
    collectContainers(
      containerRuntime,
      [...pods.list()].map((pod) => cache.get(uidOf(pod))),
      keepsNone,
    )

  const begin = () => {
    clock.setTimer(FRESH_PERIOD_MS, 'pods are looked at again', () => {
      if (signal.aborted) return
      for (const pod of pods.list()) if (!isTerminalPhase(pod.status?.phase)) look(uidOf(pod))
      endOrphans()
      void removeDead().catch((error) => log.error('Removing containers that have ended failed', error))
      begin()
    })
  }
  return { endOrphans, removeRemainsOf, removeDead, begin }
}
