/** Sizes of a Deployment's ReplicaSets: one at a time, or in proportion when the Deployment is scaled in the middle of a rollout. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { compareCreation, isActiveSet, isRolling, isSaturated, replicasOf } from './max-surge-max-unavailable.ts'
import { proportionalSizes } from './proportional-scaling.ts'
import { replicaAnnotations } from './revision-history.ts'
import { type DeploymentSync, everySet } from './sync.ts'

/** The updated set, or undefined when it had that size already. */
export async function scaleTo(sync: DeploymentSync, set: ReplicaSet, size: number): Promise<ReplicaSet | undefined> {
  return replicasOf(set) === size ? undefined : resize(sync, set, size)
}

async function resize(sync: DeploymentSync, set: ReplicaSet, size: number): Promise<ReplicaSet | undefined> {
  const wanted = replicaAnnotations(sync.deployment)
  const before = replicasOf(set)
  const annotations = { ...set.metadata.annotations, ...wanted }
  if (before === size && sameJson(annotations, set.metadata.annotations)) return undefined
  const updated = await sync.setClient.update({
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec!, replicas: size },
  })
  if (before === size) return updated
  const way = before < size ? 'up' : 'down'
  const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${size}`
  sync.parts.recorder.event(sync.deployment, 'Normal', 'ScalingReplicaSet', message)
  return updated
}

/** Sizes for a deployment whose replicas changed, or that is paused. */
export async function scale(
  sync: DeploymentSync,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Promise<void> {
  const single = activeOrLatest(newSet, old)
  if (single !== undefined) {
    await scaleTo(sync, single, replicasOf(sync.deployment))
  } else if (isSaturated(sync.deployment, newSet)) {
    for (const set of old.filter(isActiveSet)) await scaleTo(sync, set, 0)
  } else if (isRolling(sync.deployment)) {
    const active = everySet(newSet, old).filter(isActiveSet)
    for (const [set, size] of proportionalSizes(sync.deployment, active)) await resize(sync, set, size)
  }
}

/** The one set to scale when there is no rollout under way: the only active one, or the newest when none is. */
function activeOrLatest(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): ReplicaSet | undefined {
  const newestFirst = [...old].sort((a, b) => compareCreation(b, a))
  const active = everySet(newSet, newestFirst).filter(isActiveSet)
  if (active.length === 0) return newSet ?? newestFirst[0]
  return active.length === 1 ? active[0] : undefined
}
