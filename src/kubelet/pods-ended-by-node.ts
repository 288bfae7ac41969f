/** What ends pods for the node's sake: pressure, the machine's shutdown, critical pods that need room. */
import type { EventRecorder } from '../client/events.ts'
import type { EvictedPods } from './eviction/evicted-pods.ts'
import { createEvictionManager, type EvictionManager } from './eviction/eviction-manager.ts'
import { createNodeEvents } from './node-events.ts'
import type { NodePodsOptions } from './node-pods.ts'
import { type Pod, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'
import type { Failure } from './pod-status.ts'
import { createNodeShutdown, type NodeShutdown } from './shutdown/node-shutdown.ts'
import type { WorkMetrics } from './work-metrics.ts'

export interface PodsEndedByNodeOptions
  extends Pick<NodePodsOptions, 'runtime' | 'nodeName' | 'eviction' | 'shutdown' | 'nodeChanged'> {
  readonly recorder: EventRecorder
  readonly events: PodEvents
  readonly counts: WorkMetrics | undefined
  readonly evicted: EvictedPods
  /** Of these something may run. */
  readonly activePods: () => readonly Pod[]
  readonly isStatic: (uid: string) => boolean
  readonly hasEnded: (uid: string) => boolean
  readonly isFinished: (uid: string) => boolean
  /** Removes containers that have ended. @throws Error */
  readonly removeDead: () => Promise<void>
  /** Tells the pod's worker. Without `gracePeriodSeconds`: in the time that the pod asks for. */
  readonly kill: (pod: Pod, gracePeriodSeconds?: number) => void
}

export interface PodsEndedByNode {
  readonly eviction: EvictionManager | undefined
  readonly shutdown: NodeShutdown | undefined
  /** Makes room for a critical pod that lacks this. */
  preempt(pod: Pod, failure: Failure, lack: string): void
}

export function createPodsEndedByNode(options: PodsEndedByNodeOptions): PodsEndedByNode {
  const { runtime, nodeName, recorder, events, counts, evicted, activePods, isStatic, hasEnded, kill } = options
  const common = { runtime, nodeName, events: createNodeEvents(recorder, nodeName), changed: options.nodeChanged }
  return {
    eviction:
      options.eviction === undefined
        ? undefined
        : createEvictionManager({
            ...options.eviction,
            ...common,
            async reclaimDisk() {
              await options.removeDead()
              await options.eviction?.deleteUnusedImages()
            },
            pods: () => activePods().filter((pod) => evicted.failure(uidOf(pod)) === undefined),
            isStatic,
            hasEnded,
            evict(pod, { message, annotations, isDisruption }, gracePeriodSeconds, met) {
              counts?.evicted(met.signal, met.tookMs)
              evicted.add(uidOf(pod), { reason: 'Evicted', message, ...(isDisruption ? { disruption: message } : {}) })
              events.warning(pod, 'Evicted', message, undefined, annotations)
              kill(pod, gracePeriodSeconds)
            },
          }),
    shutdown:
      options.shutdown === undefined
        ? undefined
        : createNodeShutdown({
            ...options.shutdown,
            ...common,
            pods: activePods,
            isFinished: options.isFinished,
            end(pod, failure, gracePeriodSeconds) {
              evicted.add(uidOf(pod), failure)
              kill(pod, gracePeriodSeconds)
            },
          }),
    preempt(pod, failure, lack) {
      counts?.preempted(lack)
      evicted.add(uidOf(pod), failure)
      events.warning(pod, failure.reason, failure.message)
      kill(pod)
    },
  }
}
