/** The status of a DaemonSet, from its nodes and pods. */
import type { DaemonSetStatus, Pod } from '../../api/generated/types.ts'
import { isAvailable, minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { isReady } from '../pods/pod.ts'
import { isUpdated, placementOn } from './eligible-nodes-and-tolerations.ts'
import { type DaemonSetPlanInput, oldestFirst, podsByNode } from './pods-per-node.ts'

/** `observed`: the set's present generation has been worked on. */
export function daemonStatus(
  { set, nodes, pods, hash, nowMs }: DaemonSetPlanInput,
  observed: boolean,
): DaemonSetStatus {
  const byNode = podsByNode(pods)
  const old = set.status
  let desired = 0
  let misscheduled = 0
  const counted: Pod[] = []
  for (const node of nodes) {
    const own = byNode.get(node.metadata.name ?? '') ?? []
    if (placementOn(set, node).runs) {
      desired++
      const [oldest] = oldestFirst(own)
      if (oldest !== undefined) counted.push(oldest)
    } else if (own.length > 0) misscheduled++
  }
  const available = counted.filter((pod) => isAvailable(pod, minReadySecondsOf(set), nowMs)).length
  const updated = counted.filter((pod) => isUpdated(set, pod, hash)).length
  const { collisionCount, conditions } = old ?? {}
  const observedGeneration = observed ? (set.metadata.generation ?? 0) : old?.observedGeneration
  return {
    currentNumberScheduled: counted.length,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: counted.filter(isReady).length,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(updated > 0 ? { updatedNumberScheduled: updated } : {}),
    ...(available > 0 ? { numberAvailable: available } : {}),
    ...(desired > available ? { numberUnavailable: desired - available } : {}),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  }
}
