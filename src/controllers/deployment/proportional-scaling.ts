/** Proportional scaling: how a change of replicas in the midst of a rollout is divided among the ReplicaSets (API concept: Deployments). */
import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { parseInt64 } from '../../api/objects/integers.ts'
import { compareCreation, maxAnnotation, maxSurge, replicasOf, totalReplicas } from './max-surge-max-unavailable.ts'

/**
 * Sizes when a deployment is scaled in the middle of a rollout: each replica set gets its share of the change, the
 * largest one what rounding left over. In the order in which they are written: the largest first.
 */
export function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): Map<ReplicaSet, number> {
  const desired = replicasOf(deployment)
  const allowed = desired > 0 ? desired + maxSurge(deployment) : 0
  const toAdd = allowed - totalReplicas(active)
  const newerFirst = toAdd > 0
  const ordered = [...active].sort(
    (a, b) => replicasOf(b) - replicasOf(a) || (newerFirst ? -1 : 1) * compareCreation(a, b),
  )
  const sizes = new Map<ReplicaSet, number>()
  let added = 0
  for (const set of ordered) {
    const share = toAdd === 0 || toAdd === added ? 0 : shareOf(deployment, set, toAdd - added)
    added += share
    sizes.set(set, replicasOf(set) + share)
  }
  const largest = ordered[0]
  if (largest !== undefined && toAdd !== 0) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added))
  return sizes
}

function shareOf(deployment: Deployment, set: ReplicaSet, allowed: number): number {
  const size = replicasOf(set)
  if (size === 0) return 0
  const desired = replicasOf(deployment)
  let share = -size
  if (desired > 0) {
    const annotated = parseInt64(set.metadata.annotations?.[maxAnnotation], 32)
    const before = Number(annotated ?? deployment.status?.replicas ?? 0)
    const target = before > 0 ? (size * (desired + maxSurge(deployment))) / before : size
    share = Math.round(target) - size
  }
  return allowed > 0 ? Math.min(share, allowed) : Math.max(share, allowed)
}
