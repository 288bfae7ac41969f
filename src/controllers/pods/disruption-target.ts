/** The patch that marks a pod before a controller deletes it: why it is disrupted, and that it has failed. */
import type { Pod } from '../../api/generated/types.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import { isTerminated } from './pod.ts'

export interface Disruption {
  readonly reason: string
  readonly message: string
  /** The condition tells of no generation. */
  readonly unobserved?: true
}

/**
 * A strategic merge patch for pods/status, of what changes; undefined when nothing does. `fail` sets phase Failed too, on a
 * pod that has not finished.
 */
export function disruptionPatch(
  pod: Pod,
  disruption: Disruption | undefined,
  fail: boolean,
  nowMs: number,
): JsonObject | undefined {
  const status: Record<string, Json> = {}
  const generation = pod.metadata.generation ?? 0
  if (disruption !== undefined) {
    const old = pod.status?.conditions ?? []
    const known = old.find((condition) => condition.type === 'DisruptionTarget')
    const same = known?.status === 'True' && known.reason === disruption.reason && known.message === disruption.message
    if (!same) {
      const types = old.map((condition) => condition.type as string)
      if (known === undefined) types.push('DisruptionTarget')
      status['$setElementOrder/conditions'] = types.map((type) => ({ type }))
      status['conditions'] = [
        {
          lastProbeTime: null,
          lastTransitionTime: formatTime(nowMs),
          message: disruption.message,
          ...(disruption.unobserved ? {} : { observedGeneration: generation }),
          reason: disruption.reason,
          status: 'True',
          type: 'DisruptionTarget',
        },
      ]
    }
  }
  if (fail && !isTerminated(pod)) {
    if ((pod.status?.observedGeneration ?? 0) !== generation) status['observedGeneration'] = generation
    status['phase'] = 'Failed'
  }
  if (Object.keys(status).length === 0) return undefined
  return { metadata: { uid: pod.metadata.uid ?? '' }, status: status as JsonObject }
}
