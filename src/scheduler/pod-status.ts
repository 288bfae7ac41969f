/** What the scheduler writes on a pod's status: why it has no node yet, and which node it is meant for. */
import type { Pod, PodCondition } from '../api/generated/types.ts'
import type { JsonObject } from '../api/object.ts'
import { isNotFound } from '../api/status.ts'
import { formatTime } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { PodInfo } from './pod-info.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

export interface Unscheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** `null` takes a former one away. */
  readonly nominatedNode?: string | null
}

export const unschedulable = (message: string): Unscheduled => ({ reason: 'Unschedulable', message })

export interface PodStatusWriter {
  unscheduled(info: PodInfo, why: Unscheduled): Promise<void>
  /** Rejects when it cannot be written. */
  nominate(info: PodInfo, node: string): Promise<void>
  /** Takes the nomination away. */
  withdraw(info: PodInfo): Promise<void>
}

/** `latest`: the pod as it was last seen. */
export function createPodStatusWriter(
  runtime: Runtime,
  client: Client,
  latest: (key: string) => Pod | undefined,
  signal: AbortSignal,
): PodStatusWriter {
  const patch = async ({ pod }: PodInfo, status: JsonObject) => {
    const { namespace = '', name = '' } = pod.metadata
    await client.resource(PODS).namespace(namespace).patch(name, 'strategic', { status }, { subresource: 'status' })
  }

  const tried = async (info: PodInfo, status: JsonObject, failed: string) => {
    try {
      await patch(info, status)
    } catch (error) {
      if (!signal.aborted && !isNotFound(error)) runtime.log.info(2, failed, { pod: info.key, err: String(error) })
    }
  }

  return {
    async unscheduled(info, { reason, message, nominatedNode }) {
      const current = (latest(info.key) ?? info.pod).status
      const nominated = current?.nominatedNodeName
      const conditions = conditionsPatch(info, current?.conditions ?? [], reason, message, runtime.clock.now())
      const nomination =
        nominatedNode === undefined || (nominatedNode ?? undefined) === nominated
          ? {}
          : { nominatedNodeName: nominatedNode }
      if (conditions === undefined && Object.keys(nomination).length === 0) return
      await tried(info, { ...conditions, ...nomination }, 'the condition was not written')
    },
    async nominate(info, node) {
      if (latest(info.key)?.status?.nominatedNodeName === node) return
      await patch(info, { nominatedNodeName: node })
    },
    withdraw: (info) => tried(info, { nominatedNodeName: null }, 'the nomination was not withdrawn'),
  }
}

/** What changes of the condition PodScheduled; undefined for nothing. */
function conditionsPatch(
  { pod }: PodInfo,
  old: readonly PodCondition[],
  reason: string,
  message: string,
  nowMs: number,
): JsonObject | undefined {
  const type = 'PodScheduled'
  const present = old.find((condition) => condition.type === type)
  const wanted = { message, observedGeneration: pod.metadata.generation ?? 1, reason, status: 'False' }
  if (present === undefined || present.status !== 'False') {
    const condition = { lastProbeTime: null, lastTransitionTime: formatTime(nowMs), type, ...wanted }
    return { conditions: [condition] }
  }
  const changed = Object.entries(wanted).filter(([name, value]) => present[name as keyof typeof wanted] !== value)
  // That it holds of a newer generation too is not worth a write.
  if (changed.every(([name]) => name === 'observedGeneration')) return undefined
  return {
    '$setElementOrder/conditions': old.map((condition) => ({ type: condition.type })),
    conditions: [{ ...Object.fromEntries(changed), type }],
  }
}
