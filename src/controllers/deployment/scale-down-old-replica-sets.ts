/** Old ReplicaSets of a rolling update give up pods, unhealthy ones first, as far as maxUnavailable leaves enough available. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import {
  compareCreation,
  isActiveSet,
  maxUnavailable,
  replicasOf,
  statusSum,
  totalReplicas,
} from './max-surge-max-unavailable.ts'
import { scaleTo } from './scale-replica-sets.ts'
import { type DeploymentSync, everySet } from './sync.ts'

/** The old sets after those that may go have been scaled down; undefined when nothing may. */
export async function scaleDownOld(
  sync: DeploymentSync,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<readonly ReplicaSet[] | undefined> {
  if (totalReplicas(old.filter(isActiveSet)) === 0) return undefined
  const minAvailable = replicasOf(sync.deployment) - maxUnavailable(sync.deployment)
  const unavailableNew = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0)
  const most = totalReplicas(everySet(newSet, old)) - minAvailable - unavailableNew
  if (most <= 0) return undefined
  let shrunk = false
  // Replicas of old ReplicaSets that are not available go first: without them no fewer are available.
  let current = [...old].sort(compareCreation)
  let removed = 0
  for (const set of current.filter(isActiveSet)) {
    if (removed >= most) break
    const unhealthy = replicasOf(set) - (set.status?.availableReplicas ?? 0)
    // Its status still counts pods that it has just been told to give up: by that count the last ones would go too.
    if (unhealthy < 0) return undefined
    if (unhealthy === 0) continue
    const count = Math.min(most - removed, unhealthy)
    const scaled = await scaleTo(sync, set, replicasOf(set) - count)
    removed += count
    if (scaled === undefined) continue
    shrunk = true
    current = current.map((other) => (other === set ? scaled : other))
  }
  const spare = statusSum(everySet(newSet, current), 'availableReplicas') - minAvailable
  let given = 0
  for (const set of current.filter(isActiveSet)) {
    if (given >= spare) break
    const count = Math.min(replicasOf(set), spare - given)
    const scaled = await scaleTo(sync, set, replicasOf(set) - count)
    given += count
    if (scaled === undefined) continue
    shrunk = true
    current = current.map((other) => (other === set ? scaled : other))
  }
  return shrunk ? current : undefined
}
