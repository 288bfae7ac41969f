/** Takes a victim of preemption off its node: the condition that tells why, the deletion, and the Event. */
import { isNotFound } from '../api/status.ts'
import { formatTime } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../client/events.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingQueue } from './queue.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

export interface EvictorOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly signal: AbortSignal
  readonly queue: Pick<SchedulingQueue, 'retry'>
  readonly schedulerNameOf: (info: PodInfo) => string
  readonly recorderOf: (info: PodInfo) => EventRecorder
}

/** Gives what evicts `victim` for `preemptor`; a failure lets the preemptor be tried again. */
export function createEvictor({ runtime, client, signal, queue, schedulerNameOf, recorderOf }: EvictorOptions) {
  return evict

  async function evict(victim: PodInfo, preemptor: PodInfo, node: NodeInfo): Promise<void> {
    const { namespace = '', name: podName = '' } = victim.pod.metadata
    const pods = client.resource(PODS).namespace(namespace)
    try {
      await pods.patch(
        podName,
        'strategic',
        {
          status: {
            conditions: [
              {
                type: 'DisruptionTarget',
                status: 'True',
                reason: 'PreemptionByScheduler',
                message: `${schedulerNameOf(preemptor)}: preempting to accommodate a higher priority pod`,
                lastProbeTime: null,
                lastTransitionTime: formatTime(runtime.clock.now()),
                observedGeneration: victim.pod.metadata.generation ?? 1,
              },
            ],
          },
        },
        { subresource: 'status' },
      )
      await pods.delete(podName)
      recorderOf(preemptor).event(
        victim.pod,
        'Normal',
        'Preempted',
        `Preempted by pod ${preemptor.uid} on node ${node.name}`,
        { action: 'Preempting' },
      )
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return
      runtime.log.info(2, 'preemption failed', { pod: victim.key, err: String(error) })
      // No change will come that tells of it.
      queue.retry(preemptor.key)
    }
  }
}
